"""What an operator may write for another site's address."""

from __future__ import annotations

import pytest

from inference.origins import NotAnOrigin, embedding_site, origin


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://blog.example", "https://blog.example"),
        (" HTTPS://Blog.Example/ ", "https://blog.example"),
        ("https://blog.example:443", "https://blog.example"),
        ("http://localhost:5173", "http://localhost:5173"),
        ("http://[::1]:80", "http://[::1]"),
        ("http://127.0.0.1:8001", "http://127.0.0.1:8001"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ],
)
def test_an_origin_is_kept_as_browsers_send_it(written, sent):
    assert origin(written) == sent
    assert embedding_site(written) == sent


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("blog.example", "begin with http"),
        ("//blog.example", "begin with http"),
        ("ftp://blog.example", "begin with http"),
        ("javascript:alert(1)", "begin with http"),
        ("https://", "begin with http"),
        ("*", "begin with http"),
        ("null", "begin with http"),
        ("https://blog.example/page", "leave out the path"),
        ("https://blog.example?x", "leave out the path"),
        ("https://blog.example#x", "leave out the path"),
        ("https://ada:secret@blog.example", "no password"),
        ("https://blog.example:99999", "no address"),
        ("https://[::1", "no address"),
        ("https://[v1.x]", "name is not valid"),
        ("https://a b.example", "name is not valid"),
        ("https://a..example", "name is not valid"),
        ("https://-a.example", "name is not valid"),
        ("https://a.example; script-src *", "name is not valid"),
        ("https://a.example'", "name is not valid"),
        ("https://bücher.example", "ASCII"),
    ],
)
def test_anything_else_is_refused_with_the_reason(written, said):
    for check in (origin, embedding_site):
        with pytest.raises(NotAnOrigin, match=said) as refused:
            check(written)
        assert "secret" not in str(refused.value)


def test_only_an_embedding_site_may_be_a_pattern():
    assert embedding_site("https://*.School.example") == "https://*.school.example"
    assert embedding_site("https://*.school.example:8443") == "https://*.school.example:8443"
    with pytest.raises(NotAnOrigin, match="name is not valid"):
        origin("https://*.school.example")


@pytest.mark.parametrize(
    "written", ["https://*", "https://*.", "https://*.com", "https://*.10.0.0.1", "https://a.*.com"]
)
def test_a_pattern_stands_before_a_name_that_somebody_owns(written):
    with pytest.raises(NotAnOrigin):
        embedding_site(written)
