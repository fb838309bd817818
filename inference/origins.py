"""
The addresses of other sites, as an operator writes them: one check for all places.

An origin is a scheme, a host and perhaps a port, such as `https://blog.example`. A site that may
embed our pages may also be a pattern, `https://*.school.example`: any host below that name.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

# A name's part between dots. Others are sent in punycode, which consists of these.
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
MAX_HOST = 253  # characters of a host name
ANY_BELOW = "*."


class NotAnOrigin(ValueError):
    """What was written is no origin; the message says why, in one sentence."""


def origin(text: str) -> str:
    """The origin as browsers send it: lower case, without a slash at its end.

    Raises NotAnOrigin.
    """
    shown = text[:100]
    try:
        text.encode("ascii")
        parts = urlsplit(text.strip().lower())
        port = parts.port
    except UnicodeEncodeError:
        raise NotAnOrigin(f"{shown}: write the host's name in its ASCII form (xn--…)") from None
    except ValueError:
        raise NotAnOrigin(f"{shown}: this is no address") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise NotAnOrigin(f"{shown}: begin with http:// or https:// and a host's name")
    if parts.username is not None or parts.password is not None:
        raise NotAnOrigin("an origin has no user name and no password")  # which is not repeated
    if parts.path not in {"", "/"} or "?" in text or "#" in text:
        raise NotAnOrigin(f"{shown}: an origin ends after the host; leave out the path")
    if not _is_host(parts.hostname, in_brackets="[" in parts.netloc):
        raise NotAnOrigin(f"{shown}: the host's name is not valid")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    # Browsers leave out the port that the scheme has anyway.
    is_usual = port is None or port == {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if is_usual else f":{port}")


def embedding_site(text: str) -> str:
    """A site that may show our pages in a frame: an origin, or `https://*.` and a name.

    Raises NotAnOrigin.
    """
    scheme, separator, rest = text.strip().partition("://")
    if not rest.startswith(ANY_BELOW):
        return origin(text)
    plain = origin(f"{scheme}{separator}{rest.removeprefix(ANY_BELOW)}")
    scheme, _, rest = plain.partition("://")
    if "[" in rest or "." not in rest or rest.split(":")[0].replace(".", "").isdigit():
        raise NotAnOrigin(f"{text[:100]}: `*.` stands before a name such as school.example")
    return f"{scheme}://{ANY_BELOW}{rest}"


def _is_host(name: str, *, in_brackets: bool) -> bool:
    if in_brackets:
        try:
            ipaddress.IPv6Address(name)
        except ValueError:
            return False
        return True
    return len(name) <= MAX_HOST and all(LABEL.fullmatch(label) for label in name.split("."))
