"""What if: branches, their tree, two side by side, and the sampling lab."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import (
    PATIENCE_MS,
    await_end,
    drawn,
    pane,
    ranked,
    run,
    strip,
)

pytestmark = pytest.mark.browser

FOLLOW = re.compile("^Follow ")


def follow_second(page):
    """At step 2 of a run of four, take the most probable of the tokens that were not chosen."""
    strip(page).get_by_role("button").nth(1).click()
    ranked(page).get_by_role("button", name=FOLLOW).first.click()
    expect(pane(page, "Paths from this prompt").locator(".path")).to_have_count(2)
    await_end(page)
    expect(strip(page).get_by_role("button")).to_have_count(4, timeout=PATIENCE_MS)


def test_another_token_is_followed_from_its_step(page, server):
    run(page, server)
    before = drawn(page)
    strip(page).get_by_role("button").nth(1).click()
    other = ranked(page).get_by_role("row").nth(2).locator(".token").inner_text()
    follow_second(page)
    after = drawn(page)
    assert after[0] == before[0]
    assert after[1] == other
    assert after[1] != before[1]
    expect(page.get_by_role("heading", name=re.compile("^Step 2:"))).to_be_visible()
    choice = pane(page, "How the choice was made")
    expect(choice.get_by_text("nothing was drawn here")).to_be_visible()
    expect(choice.locator(".dart")).to_have_count(0)


def test_a_branch_says_that_its_tokens_were_given_and_what_repeats_it(page, server):
    run(page, server, temperature="1", seed="4")
    follow_second(page)
    choice = pane(page, "How the choice was made")
    expect(choice.get_by_text("the token was given, so u was not asked")).to_be_visible()
    expect(choice.get_by_text("u points at")).to_have_count(0)
    expect(page.locator(".inspector .facts")).to_contain_text("given, not timed")
    page.get_by_text("All steps as a table").click()
    expect(page.get_by_role("cell", name="given, not timed")).to_have_count(2)
    summary = pane(page, "The run in numbers")
    summary.get_by_text("How to repeat this run").click()
    expect(summary.get_by_text("the public API cannot force tokens")).to_be_visible()
    expect(summary.get_by_text("WebSocket /ws/traces")).to_be_visible()
    expect(summary.get_by_text("the same frame gives the same tokens")).to_be_visible()
    expect(summary.get_by_text("POST /v1/traces")).to_have_count(0)
    frame = json.loads(summary.locator("pre").inner_text())
    assert (frame["type"], len(frame["forced"])) == ("start", 2)


def test_a_token_given_at_the_last_step_says_why_nothing_follows(page, server):
    run(page, server, max_new_tokens="2")
    ranked(page).get_by_role("button", name=FOLLOW).first.click()
    expect(page.get_by_text("nothing was left to draw")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_label(re.compile("What if step 2")).fill("<|im_end|>")
    page.get_by_role("list", name="Tokens that begin so").get_by_role("button").first.click()
    expect(page.get_by_text("the token that you gave is one that ends a text")).to_be_visible(
        timeout=PATIENCE_MS
    )
    tree = pane(page, "Paths from this prompt")
    expect(tree.locator(".own .special")).to_have_text("<|im_end|>")
    expect(tree.locator("ul ul > li")).to_have_count(2)  # both leave the first at one step
    expect(tree.locator("ul ul ul")).to_have_count(0)


def test_a_given_token_has_the_probability_that_the_first_run_listed(page, server):
    run(page, server)
    strip(page).get_by_role("button").nth(1).click()
    listed = ranked(page).get_by_role("row").nth(2).locator(".number").inner_text()
    follow_second(page)
    expect(ranked(page).locator("tr.drawn .number")).to_have_text(listed)
    expect(ranked(page).get_by_text("given", exact=True)).to_be_visible()


def test_any_token_of_the_vocabulary_can_be_followed(page, server):
    run(page, server)
    page.get_by_role("button", name="First step").click()
    page.get_by_label(re.compile("What if step 1")).fill(" purple")
    page.get_by_role("list", name="Tokens that begin so").get_by_role(
        "button", name="Follow space purple", exact=True
    ).click()
    expect(strip(page).get_by_role("button")).to_have_count(4, timeout=PATIENCE_MS)
    await_end(page)
    assert drawn(page)[0] == "␣purple"


def test_the_tree_shows_each_path_with_its_joint_probability(page, server):
    run(page, server)
    follow_second(page)
    tree = pane(page, "Paths from this prompt")
    expect(tree.get_by_text("joint probability 1 in")).to_have_count(2)
    expect(tree.locator("ul ul .path")).to_contain_text("leaves at step 2")
    second = drawn(page)
    tree.get_by_role("button", name=re.compile("^A")).first.click()
    assert drawn(page) != second
    assert drawn(page)[0] == second[0]


def test_two_paths_stand_side_by_side_and_part_where_they_differ(page, server):
    run(page, server)
    follow_second(page)
    pane(page, "Paths from this prompt").get_by_role("button", name="Compare").click()
    compared = pane(page, "B beside A")
    expect(compared.get_by_text("They part at step 2", exact=False)).to_be_visible()
    expect(compared.locator("tr.parts")).to_have_count(1)
    expect(compared.locator("tr.parts")).to_contain_text("they part")
    expect(compared.locator("tbody tr").first).to_contain_text("±0.00 pp")
    compared.get_by_role("button", name="Close").click()
    expect(compared).to_have_count(0)


def open_lab(page):
    page.get_by_role("heading", name=re.compile("Sampling lab")).click()
    return page.locator(".lab")


def test_the_lab_at_the_run_s_settings_shows_the_model_s_own_probabilities(page, server):
    run(page, server, temperature="1", seed="1")
    rows = open_lab(page).get_by_role("row")
    for place in range(1, 11):
        model = rows.nth(place).locator("[data-label=model]").inner_text()
        assert rows.nth(place).locator(".number").inner_text() == model


def test_the_lab_reshapes_at_once_and_says_what_was_cut(page, server):
    run(page, server, temperature="1", seed="1")
    lab = open_lab(page)
    first = lab.get_by_role("row").nth(1).locator(".number")
    before = float(first.inner_text().rstrip("%"))
    lab.get_by_role("slider", name="Temperature").fill("0.5")
    assert float(first.inner_text().rstrip("%")) > before
    lab.get_by_role("slider", name="Top-k").fill("3")
    expect(lab.get_by_text("3 tokens", exact=True)).to_be_visible()
    expect(lab.get_by_text("cut by top-k")).to_have_count(7)
    lab.get_by_role("slider", name="Temperature").fill("0")
    expect(first).to_have_text("100%")
    lab.get_by_role("button", name="As in the run").click()
    expect(first).to_have_text(re.compile(f"^{before}"))


def test_the_lab_draws_and_counts_beside_what_is_expected(page, server):
    run(page, server, temperature="1", seed="1")
    lab = open_lab(page)
    for name in ["1 times", "100 times", "1,000 times"]:
        lab.get_by_role("button", name=name, exact=True).click()
    expect(lab.get_by_text("1,101 draws so far")).to_be_visible()
    hits = [
        int(text.replace(",", "")) for text in lab.locator("td[data-label=drawn]").all_inner_texts()
    ]
    assert sum(hits) == 1101
    lab.get_by_role("slider", name="Temperature").fill("0.5")
    expect(lab.get_by_text("draws so far")).to_have_count(0)
