"""The live page, from a prompt to its trace: run, stop, wait, and every refusal."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import (
    await_end,
    drawn,
    fill,
    open_page,
    pane,
    run,
    run_to_the_gate,
    strip,
)
from tests.held import STEPS_BEFORE_GATE

pytestmark = pytest.mark.browser


def test_a_prompt_is_run_and_its_tokens_come_as_text(page, server):
    run(page, server, "1, 2, 3, 4, 5, 6,")
    tokens = drawn(page)
    assert len(tokens) == 4
    assert "".join(tokens).replace("␣", " ") == " 7, "
    expect(
        page.get_by_text("It ended because it had as many tokens as were asked for.")
    ).to_be_visible()


def test_the_prompt_is_counted_in_tokens_while_it_is_typed(page, server):
    open_page(page, server)
    fill(page, "Once upon a time")
    expect(page.get_by_text("4 tokens of at most 256")).to_be_visible()
    fill(page, "Once upon a time,")
    expect(page.get_by_text("5 tokens of at most 256")).to_be_visible()


def test_stop_ends_a_run_and_keeps_what_had_come(page, held_server, run_gate):
    run_to_the_gate(page, held_server)
    page.get_by_role("button", name="Stop", exact=True).click()
    run_gate.open()
    await_end(page)
    assert STEPS_BEFORE_GATE <= len(drawn(page)) < 32
    expect(page.get_by_text("You stopped it.")).to_be_visible()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_attribute(
        "aria-disabled", "true"
    )


def test_a_new_run_takes_the_place_of_one_that_is_on(page, held_server, run_gate):
    run_to_the_gate(page, held_server)
    fill(page, "1, 2, 3, 4, 5, 6,", max_new_tokens="2")
    page.get_by_role("button", name="Run", exact=True).click()
    run_gate.open()
    await_end(page)
    expect(strip(page).get_by_role("button")).to_have_text(["␣", "7"])


def test_the_same_seed_draws_the_same_again_and_both_runs_stay(page, server):
    run(page, server, "The moon is", temperature="1", seed="11")
    first = drawn(page)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(
        pane(page, "Paths from this prompt").get_by_role("button", name="Compare")
    ).to_have_count(1)
    await_end(page)
    assert drawn(page) == first


def test_an_example_is_run_with_its_own_settings_by_one_click(page, server):
    open_page(page, server)
    page.get_by_role("button", name="My favourite food is").click()
    await_end(page)
    expect(page.get_by_role("textbox", name="Temperature")).to_have_value("1.2")
    expect(page.get_by_role("textbox", name="Top-p")).to_have_value("0.5")


def test_a_slider_and_its_number_are_one_setting(page, server):
    open_page(page, server)
    page.get_by_role("slider", name="Temperature").fill("1.5")
    expect(page.get_by_role("textbox", name="Temperature")).to_have_value("1.5")
    page.get_by_role("textbox", name="Temperature").fill("0.25")
    expect(page.get_by_role("slider", name="Temperature")).to_have_value("0.25")


@pytest.mark.parametrize(
    ("label", "typed", "said"),
    [
        ("Prompt", "", "Prompt must be 1 to 1,000 characters long; this is empty."),
        ("Temperature", "3", "Temperature must be a number from 0 to 2; this is “3”."),
        ("Top-p", "0", "Top-p must be a number above 0 and at most 1; this is “0”."),
        ("Seed", "one", "Seed must be empty or a whole number from 0 to 9223372036854775807"),
    ],
)
def test_a_setting_out_of_bounds_is_refused_at_its_field(page, server, label, typed, said):
    open_page(page, server)
    fill(page, "The moon is")
    field = page.get_by_role("textbox", name=label, exact=True)
    field.fill(typed)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(field).to_be_focused()
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_role("heading", name="The trace")).to_have_count(0)


def test_a_prompt_of_too_many_tokens_is_refused_in_plain_words(page, server):
    open_page(page, server)
    fill(page, "x1 " * 300)
    page.get_by_role("button", name="Run", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The prompt is too long")
    expect(alert).to_contain_text("Shorten it")
    alert.get_by_role("link", name="To the field").click()
    expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_be_focused()
    fill(page, "The moon is", temperature="3")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Temperature must be a number from 0 to 2")).to_be_visible()
    expect(alert).to_have_count(0)  # it was about another prompt


def test_the_prompt_is_measured_where_that_is_asked_for(page, server):
    open_page(page, server)
    fill(page, "The moon is", max_new_tokens="1")
    page.get_by_role("checkbox", name="Measure the prompt too").check()
    page.get_by_role("button", name="Run", exact=True).click()
    await_end(page)
    page.get_by_text("The tokens of the prompt as a table").click()
    rows = page.get_by_role("table", name="What the model reads.").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).not_to_contain_text("%")  # nothing comes before the first token
    expect(rows.nth(2)).to_contain_text("%")
