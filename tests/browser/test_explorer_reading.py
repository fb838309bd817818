"""Reading a trace on the live page: strip, inspector, choice, replay, summary."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import drawn, pane, ranked, run, strip

pytestmark = pytest.mark.browser


def test_a_token_of_the_strip_opens_its_step(page, server):
    run(page, server)
    strip(page).get_by_role("button").nth(1).click()
    expect(page.get_by_role("heading", name=re.compile("^Step 2:"))).to_be_visible()
    expect(page.get_by_text("Step 2 of 4")).to_be_visible()


def test_the_colours_follow_the_measure_and_say_it_without_colour(page, server):
    run(page, server)
    token = strip(page).get_by_role("button").first
    for measure, said in [
        ("Probability", "%"),
        ("Rank", "rank"),
        ("Surprisal", "surprisal"),
        ("Entropy", "entropy"),
    ]:
        page.get_by_role("radio", name=measure).check()
        expect(token).to_have_accessible_name(re.compile(said))
        expect(page.get_by_role("list", name=f"Colours of {measure.lower()}")).to_be_visible()
    assert token.evaluate("e => parseFloat(getComputedStyle(e, '::after').width)") > 0


def test_the_chosen_token_and_the_rest_complete_the_list(page, server):
    run(page, server, temperature="2", seed="1", top_k="3")
    rows = ranked(page).get_by_role("row")
    expect(rows).to_have_count(6)  # the head, the chosen one with three more, the rest
    expect(ranked(page).get_by_text("drawn", exact=True)).to_have_count(1)
    expect(rows.last).to_contain_text("other")


def test_bars_are_as_long_as_they_are_probable_and_the_axis_can_be_logarithmic(page, server):
    run(page, server)
    measured = """bars => bars.map(bar => [
        bar.getBoundingClientRect().width,
        bar.firstChild.getBoundingClientRect().width,
        parseFloat(bar.previousSibling.textContent) / 100,
    ])"""
    bars = ranked(page).locator("svg.bar")
    for axis, length, probability in bars.evaluate_all(measured):
        assert length == pytest.approx(axis * probability, abs=0.6)
    linear = [length for _, length, _ in bars.evaluate_all(measured)]
    ranked(page).get_by_role("radio", name="Logarithmic").check()
    expect(ranked(page).get_by_text("10⁻⁶%")).to_have_count(1)
    logarithmic = [length for _, length, _ in bars.evaluate_all(measured)]
    assert all(log > lin for log, lin in zip(logarithmic, linear, strict=True))


def box(locator):
    found = locator.bounding_box()
    assert found is not None
    return found


def test_the_random_number_falls_into_the_place_of_the_drawn_token(page, server):
    run(page, server, "Once upon a time", temperature="1", top_p="0.9", seed="5")
    choice = pane(page, "How the choice was made")
    for number in range(4):
        strip(page).get_by_role("button").nth(number).click()
        told = choice.locator(".verdict").inner_text()
        u, lower, upper = (float(each) for each in re.findall(r"\d\.\d+", told)[:3])
        assert lower <= u < upper
        axis = box(choice.locator(".stage.drawing .segments"))
        mark = box(choice.locator(".dart line"))
        place = box(choice.locator(".stage.drawing rect.chosen"))
        assert mark["x"] + mark["width"] / 2 == pytest.approx(
            axis["x"] + u * axis["width"], abs=axis["width"] / 100
        )
        slack = axis["width"] / 100
        assert place["x"] - slack <= mark["x"] <= place["x"] + place["width"] + slack
    expect(choice.get_by_text("are removed")).to_be_visible()
    expect(choice.locator(".cut")).to_have_count(1)


def test_greedy_says_so_and_shows_no_dart(page, server):
    run(page, server)
    choice = pane(page, "How the choice was made")
    expect(choice.get_by_text("nothing is left to chance")).to_be_visible()
    expect(choice.locator(".dart")).to_have_count(0)


def test_the_picture_of_the_choice_is_a_table_too(page, server):
    run(page, server, temperature="0.7", top_p="0.5", seed="2")
    choice = pane(page, "How the choice was made")
    choice.get_by_text("The same as a table").click()
    expect(choice.get_by_role("cell", name="removed by top-p").first).to_be_visible()


def test_replay_goes_step_by_step_by_itself_and_by_hand(page, server):
    run(page, server)
    page.get_by_role("radio", name="Fast").check()
    page.get_by_role("button", name="First step").click()
    expect(page.get_by_text("Step 1 of 4")).to_be_visible()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(strip(page).locator(".ahead").first).to_be_hidden()
    expect(page.get_by_text("Step 4 of 4")).to_be_visible()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.get_by_role("button", name="Step back").click()
    expect(page.get_by_text("Step 3 of 4")).to_be_visible()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_text("Step 4 of 4")).to_be_visible()


def test_the_keys_of_the_replay_and_their_sheet(page, server):
    run(page, server)
    strip(page).get_by_role("button").nth(3).click()
    for key, number in [("Home", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 4)]:
        page.keyboard.press(key)
        expect(page.get_by_text(f"Step {number} of 4")).to_be_visible()
        expect(strip(page).get_by_role("button").nth(number - 1)).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_run_in_numbers_explains_each_and_says_how_to_repeat_it(page, server):
    run(page, server, temperature="1", seed="4")
    summary = pane(page, "The run in numbers")
    hints = summary.locator(".hint")
    for place in range(hints.count()):
        hints.nth(place).locator("summary").click()
        expect(hints.nth(place).locator("p")).to_be_visible()
    expect(summary.get_by_text("not whether it is true")).to_be_visible()
    summary.get_by_text("How to repeat this run").click()
    expect(summary.get_by_text("seed 4: the same request gives the same tokens")).to_be_visible()
    expect(summary.get_by_text(re.compile("torch 2"))).to_be_visible()
    expect(summary.get_by_role("img", name=re.compile("Entropy of each step"))).to_be_visible()


def test_a_character_in_pieces_is_joined_and_its_bytes_are_shown(page, server):
    run(page, server, "नमस्ते 👩‍🚀 こんにちは", max_new_tokens="1")
    joined = strip(page).locator(".joined")
    expect(joined.first).to_be_visible()
    wholes = "".join(strip(page).locator(".joined .whole").all_inner_texts())
    assert "👩" in wholes
    assert "⟨U+200D⟩" in wholes  # the joiner, which has no shape of its own
    assert "\u200d" not in wholes
    expect(joined.first.locator(".stand-in").last).to_have_text(re.compile("⟨[0-9A-F ]+⟩"))


def test_every_token_is_isolated_and_a_prompt_from_right_to_left_reads_so(page, server):
    run(page, server, "שלום, world", max_new_tokens="2")
    expect(strip(page)).to_have_attribute("dir", "rtl")
    tokens = strip(page).locator(".tok")
    assert tokens.count() == strip(page).locator(".tok > bdi.token").count()


def test_control_tokens_and_markup_are_shown_not_obeyed(page, server):
    run(page, server, "<b>bold</b>\n\tx <|endoftext|>", max_new_tokens="1")
    shown = "".join(strip(page).locator(".tok.given").all_inner_texts())
    assert "<b>" in shown.replace("␣", " ")
    assert "↵" in shown
    assert "⇥" in shown
    assert strip(page).locator("b").count() == 0
    assert len(drawn(page)) == 1
