"""What the page makes of a trace: files, figures, a page that replays offline."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import drawn, ranked, run, strip, violations
from tests.browser.test_explorer_access import ZOOMED, sideways, tab_to

pytestmark = pytest.mark.browser

HOSTILE = "=1+1 </script><!-- \"'\u202eevil\u2066 \U0001f600 \0\x07 नि\r\nend"
BIG_SEED = 2**63 - 1
SVG = "{http://www.w3.org/2000/svg}"


def saved(page, button, folder):
    """The file that a button of the dialogue makes."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    expect(page.get_by_text(f"Saved as {path.name}.")).to_be_visible()
    return path


def test_every_file_has_a_hostile_prompt_whole_and_inert(page, context, server, tmp_path):
    run(page, server, HOSTILE, temperature="1", seed=str(BIG_SEED), top_k="2")
    # A text area has no carriage return: what the page holds, the model was asked.
    prompt = HOSTILE.replace("\r\n", "\n")
    tokens = drawn(page)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Save or cite").click()

    data = saved(page, "JSON: Data", tmp_path)
    assert re.fullmatch(r"token-trace-1-1-script-evil-नि-end-\d{4}-\d\d-\d\d\.json", data.name)
    trace = json.loads(data.read_text("utf-8"))
    assert (trace["prompt"], trace["decoding"]["seed"]) == (prompt, BIG_SEED)
    assert len(trace["steps"]) == len(tokens)

    table = saved(page, "CSV: Data", tmp_path).read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert len(rows) == len(tokens) * 4  # the drawn one, two alternatives, the rest
    assert {row["prompt"] for row in rows} == {f"'{prompt}"}
    assert {row["seed"] for row in rows} == {str(BIG_SEED)}
    chosen = [row["token"].removeprefix("'") for row in rows if row["kind"] == "drawn"]
    assert chosen == [step["selected_token"] for step in trace["steps"]]
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if re.match(r"[=+\-@\t\r]", cell)]

    for figure in ["Figure of step 4", "Figure of the run"]:
        picture = ElementTree.parse(saved(page, f"SVG: {figure}", tmp_path)).getroot()
        said = " ".join(picture.itertext())
        assert {each.tag for each in picture.iter()} <= {
            f"{SVG}{name}" for name in ["svg", "title", "desc", "rect", "line", "text"]
        }
        assert "=1+1 </script><!-- \"'⟨U+202E⟩evil⟨U+2066⟩ \U0001f600 ␀␇ नि↵end" in said
        assert f"temperature 1, top-p 1, seed {BIG_SEED}" in said
        assert "Token Trace: “=1+1" in said
        dots = saved(page, f"PNG: {figure}", tmp_path).read_bytes()
        assert dots.startswith(b"\x89PNG\r\n\x1a\n")
        size = (2 * int(picture.attrib["width"]), 2 * int(picture.attrib["height"]))
        assert struct.unpack(">II", dots[16:24]) == size
    assert not [url for url in asked if not url.startswith("data:")]  # nothing was run again

    citation = page.get_by_role("textbox", name="Citation", exact=True).input_value()
    assert trace["model"]["revision"][:12] in citation
    check_offline(page, context, saved(page, "HTML: Page that replays", tmp_path), tokens)


def check_offline(page, context, path, tokens):
    """The file replays from the disk, and asks for nothing."""
    context.set_offline(True)
    try:
        other = context.new_page()
        asked, problems = [], []
        other.on("request", lambda request: asked.append(request.url))
        other.on("websocket", lambda socket: asked.append(socket.url))
        other.on("console", lambda said: problems.append(said.text))
        other.on("pageerror", lambda error: problems.append(str(error)))
        other.on("dialog", lambda dialog: problems.append(dialog.message))
        other.goto(path.as_uri())
        expect(other.get_by_role("heading", name="The run in numbers")).to_be_visible()
        assert drawn(other) == tokens
        other.get_by_role("button", name="Step forward").click()
        expect(other.get_by_role("heading", name=re.compile("^Step 2:"))).to_be_visible()
        expect(ranked(other).get_by_role("button", name=re.compile("^Follow"))).to_have_count(0)
        other.get_by_role("radio", name="Fast").check()
        other.get_by_role("button", name="Play", exact=True).click()
        expect(other.get_by_text(f"Step {len(tokens)} of {len(tokens)}")).to_be_visible()
        other.get_by_role("button", name="Save or cite").click()
        with other.expect_download() as download:
            other.get_by_role("button", name="PNG: Figure of the run").click()
        assert download.value.suggested_filename.endswith(".png")
        assert [url for url in asked if not url.startswith(("data:", "file:", "blob:"))] == []
        assert problems == []
        assert violations(other) == []
        other.close()
    finally:
        context.set_offline(False)


def test_the_keyboard_alone_makes_links_and_files_and_comes_back(page, server):
    page.set_viewport_size(ZOOMED)
    run(page, server)
    for opener, title in [
        ("Copy link", "A link to this page"),
        ("Share this trace", "Share this trace"),
        ("Save or cite", "Save this trace"),
    ]:
        button = page.get_by_role("button", name=opener)
        tab_to(page, button, most=120)
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name=title)
        expect(dialog).to_be_visible()
        assert dialog.evaluate("e => e.contains(document.activeElement)")
        assert sideways(page) == 0
        assert dialog.evaluate("e => e.scrollWidth <= e.clientWidth")
        tab_to(page, dialog.get_by_role("button", name="Close"))
        page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
        expect(button).to_be_focused()
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Save or cite")).to_be_hidden()
    expect(strip(page)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_dialogues(page, server, scheme):
    page.emulate_media(color_scheme=scheme)
    run(page, server)
    for opener in ["Copy link", "Share this trace", "Save or cite"]:
        page.get_by_role("button", name=opener).click()
        page.get_by_role("dialog").locator("details").evaluate_all(
            "all => all.forEach(each => { each.open = true })"
        )
        assert violations(page) == []
        page.keyboard.press("Escape")
