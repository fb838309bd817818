"""The first page, on a model whose probabilities a reader can check."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import aclosing
from dataclasses import fields

import pytest
import torch
from django.templatetags.static import static
from django.test import AsyncClient

from inference import runtime
from inference.engine.engine import ModelEngine
from inference.engine.types import GenerationRequest, SamplingParams
from inference.engine.vocabulary import Vocabulary
from inference.models import LimitsRow
from inference.runtime import Runtime
from tests.fakes import CARD, ScriptedDecoder
from traceapp.examples import EXAMPLES
from traceapp.pages import HomePage

TOKENS = (b" moon", b" sun", b"\n", b"\xe2\x80", b"<b>", b"<|end|>")
PROBABILITIES = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125]
VOCABULARY = Vocabulary(
    tokens=TOKENS, special_ids=frozenset({5}), eos_ids=frozenset({5}), rows=len(TOKENS)
)


class OneTokenACharacter:
    def encode(self, text):
        return [1] * len(text)


@pytest.fixture
def serve(install, transactional_db):
    """Serve a model that gives one row at every step, without a rate; returns the runtime."""
    gates = []

    def start(row=None, *, gate=None):
        LimitsRow.objects.update_or_create(pk=1, defaults={"rate_per_minute": 0})
        logits = torch.tensor(PROBABILITIES).log() if row is None else row
        decoder = ScriptedDecoder(lambda place: logits, rows=len(TOKENS), gate=gate)
        gates.extend([gate] if gate else [])
        return install(ModelEngine(decoder, vocabulary=VOCABULARY, tokenizer=OneTokenACharacter()))

    yield start
    for gate in gates:
        gate.release(100)


@pytest.fixture
def serving(serve):
    return serve()


@pytest.fixture
def held(serve):
    """A model whose first pass does not end before the test does."""
    return serve(gate=threading.Semaphore(0))


@pytest.fixture
def ending(serve):
    return serve(torch.tensor([0.0, 0.0, 0.0, 0.0, 0.0, 9.0]))


@pytest.fixture
def broken(serve):
    return serve(torch.full((len(TOKENS),), float("nan")))


@pytest.fixture
def client():
    return AsyncClient()


async def set_limits(**limits):
    await LimitsRow.objects.filter(pk=1).aupdate(**limits)


async def ask(client, **typed):
    """Send the form; the answer and its HTML as one line."""
    response = await client.post("/", {"prompt": "The"} | typed)
    return response, " ".join(response.content.decode().split())


async def test_the_page_shows_the_form_with_the_defaults(client, serving):
    response = await client.get("/")
    html = response.content.decode()
    assert response.status_code == 200
    for name, value in {"max_new_tokens": 16, "top_k": 5, "temperature": 0, "top_p": 1}.items():
        assert f'name="{name}" value="{value}"' in html
    assert 'name="seed" value=""' in html
    assert CARD.alias in html


async def test_the_template_gets_exactly_the_names_of_its_dataclass(client, serving):
    expected = {field.name for field in fields(HomePage)}
    assert all(field.metadata["help"] for field in fields(HomePage))
    response = await client.get("/")
    assert set(response.context[0].dicts[-1]) == expected


async def test_a_trace_is_drawn_with_the_models_own_probabilities(client, serving):
    response, html = await ask(client, max_new_tokens="2", top_k="3")
    assert response.status_code == 200
    drawn = response.context["drawn"]
    assert [[row.probability for row in step.rows] for step in drawn.steps] == [
        pytest.approx([0.5, 0.25, 0.125, 0.0625])
    ] * 2
    step = drawn.steps[1]
    assert [row.drawn for row in step.rows] == [True, False, False, False]
    assert [row.cumulative for row in step.rows] == pytest.approx([0.5, 0.75, 0.875, 0.9375])
    assert (step.remainder.mass, step.remainder.tokens) == (pytest.approx(0.0625), 2)
    assert step.surprisal_bits == pytest.approx(1)
    assert step.entropy_bits == pytest.approx(1.9375)
    assert 'id="step-2"' in html
    assert "The other 2 tokens<" in html
    assert "Greedy" in html


async def test_every_bar_has_the_length_of_its_probability(client, serving):
    _, html = await ask(client, max_new_tokens="1", top_k="2")
    (step,) = re.findall(r'<section class="step".*?</section>', html)
    assert re.findall(r'<rect width="([\d.]+)%"', step) == ["50.000", "25.000", "12.500", "12.500"]


async def test_the_drawn_token_keeps_its_rank_and_place_where_it_is_not_the_first(client, serving):
    ranks = set()
    for seed in range(40):
        response, _ = await ask(
            client, max_new_tokens="1", top_k="1", temperature="2", seed=str(seed)
        )
        first, *rest = response.context["drawn"].steps[0].rows
        drawn = next(row for row in (first, *rest) if row.drawn)
        ranks.add(drawn.rank)
        assert drawn.probability == pytest.approx(PROBABILITIES[drawn.rank - 1])
        assert first.rank == 1
        if drawn.rank > 2:
            assert drawn.cumulative is None
    assert ranks == {1, 2, 3, 4, 5, 6}


async def test_a_draw_says_where_u_fell_and_whose_interval_that_was(client, serving):
    response, html = await ask(client, max_new_tokens="1", temperature="1", seed="1")
    draw = response.context["drawn"].steps[0].draw
    assert draw.lower <= draw.u < draw.upper
    assert f"u = {draw.u:.4f} fell into {draw.lower:.4f} to {draw.upper:.4f}" in html
    assert "6 tokens in the draw" in html
    assert "seed 1:" in html


async def test_an_end_token_is_a_step_marked_special_and_said_in_words(client, ending):
    response, html = await ask(client)
    assert len(response.context["drawn"].steps) == 1
    assert "It ended by itself" in html
    assert '&lt;|end|&gt;</bdi> <span class="tag">special</span>' in html


async def test_tokens_show_white_space_and_bytes_and_are_never_markup(client, serving):
    _, html = await ask(client, max_new_tokens="1")
    assert ">␣</span>moon" in html
    assert ">↵</span>" in html
    assert "⟨E2 80⟩" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("prompt", "", "Prompt must be 1 to 1,000 characters long; this is empty."),
        ("prompt", "x" * 1001, "this is 1,001 characters long."),
        ("max_new_tokens", "0", "must be a whole number from 1 to 32; this is “0”."),
        ("max_new_tokens", "33", "must be a whole number from 1 to 32"),
        ("max_new_tokens", "1.5", "must be a whole number from 1 to 32"),
        ("max_new_tokens", "two", "must be a whole number from 1 to 32"),
        ("max_new_tokens", "", "must be a whole number from 1 to 32; this is empty."),
        ("top_k", "11", "must be a whole number from 1 to 10"),
        ("temperature", "2.01", "must be a number from 0 to 2"),
        ("temperature", "nan", "must be a number from 0 to 2"),
        ("temperature", "1e999", "must be a number from 0 to 2"),
        ("temperature", "0,7", "must be a number from 0 to 2"),
        ("top_p", "0", "must be a number above 0 and at most 1"),
        ("seed", "-1", "must be empty or a whole number from 0 to 9223372036854775807"),
        ("seed", str(2**63), "must be empty or a whole number"),
        ("seed", "9" * 5000, "must be empty or a whole number"),
    ],
)
async def test_what_is_refused_is_said_at_its_field_and_stays_typed(
    client, serving, field, typed, said
):
    response, html = await ask(client, **{"max_new_tokens": "3", "seed": "11"} | {field: typed})
    assert response.status_code == 422
    (error,) = re.findall(f'<p class="error" id="{field}-error">(.*?)</p>', html)
    assert said in error
    assert len(error) < 200
    assert f'<a href="#{field}">{error}</a>' in html
    assert "aria-invalid" in html
    kept = {each.name: each.typed for each in response.context["form"].fields}
    expected = {"prompt": "The", "max_new_tokens": "3", "seed": "11"} | {field: typed}
    assert {name: kept[name] for name in expected} == expected


async def test_a_seed_of_63_bits_and_a_tiny_temperature_are_taken(client, serving):
    response, html = await ask(client, seed=str(2**63 - 1), temperature="1e-6")
    assert response.status_code == 200
    assert f"seed {2**63 - 1}:" in html
    assert "temperature 0.000001" in html


async def test_newlines_of_a_form_are_the_ones_that_were_typed(client, serving):
    response, _ = await ask(client, prompt="\r\na\r\n")
    assert response.context["drawn"].trace.request.prompt == "\na\n"
    assert b">\n\na\n</textarea>" in response.content


async def test_a_prompt_of_too_many_tokens_is_refused_with_both_numbers(client, serving):
    await set_limits(max_prompt_tokens=4)
    response, html = await ask(client, prompt="hello")
    assert response.status_code == 422
    assert "The prompt has 5 tokens; the limit is 4" in html
    assert ">\nhello</textarea>" in response.content.decode()


async def test_lower_limits_show_in_the_form_and_hold(client, serving):
    await set_limits(max_new_tokens=4)
    page = (await client.get("/")).content.decode()
    assert 'name="max_new_tokens" value="4"' in page
    response, html = await ask(client, max_new_tokens="5")
    assert response.status_code == 422
    assert 'id="max_new_tokens-error"' in html


async def test_without_a_model_the_page_says_so_and_keeps_what_was_typed(client, transactional_db):
    assert "is not ready yet" in (await client.get("/")).content.decode()
    response, html = await ask(client, prompt="kept & safe")
    assert response.status_code == 503
    assert 'role="alert"' in html
    assert "kept &amp; safe</textarea>" in html


async def test_while_the_model_loads_the_page_names_it_and_refuses(client, transactional_db):
    loaded = threading.Event()

    def load():
        loaded.wait()
        raise RuntimeError

    loading = Runtime(CARD, load, on_failure=lambda error: None)
    runtime.install(loading)
    try:
        page = await client.get("/")
        assert page.status_code == 200
        assert f"The model {CARD.alias} is not ready yet" in " ".join(page.content.decode().split())
        response, _ = await ask(client)
        assert response.status_code == 503
    finally:
        runtime.install(None)
        loaded.set()
        loading.close()


async def test_a_full_queue_is_429_and_says_when_to_come_back(client, held):
    await set_limits(max_waiting=0)
    one = GenerationRequest(
        prompt_ids=(1,), max_tokens=1, num_candidates=1, sampling=SamplingParams()
    )
    deadline = time.monotonic() + 30
    async with aclosing(held.submit(one, max_waiting=0, deadline=deadline)):
        response, html = await ask(client)
    assert response.status_code == 429
    assert f"Try again in {response['Retry-After']} second" in html


async def test_the_rate_in_force_holds_for_the_page_too(client, serving):
    await set_limits(rate_per_minute=3)
    assert [(await ask(client))[0].status_code for _ in range(3)] == [200, 200, 200]
    response, html = await ask(client)
    assert response.status_code == 429
    assert int(response["Retry-After"]) >= 1
    assert "Not traced" in html


async def test_a_trace_past_its_deadline_is_504(client, held):
    await set_limits(deadline_seconds=0.1)
    response, html = await ask(client)
    assert response.status_code == 504
    assert "deadline" in html


async def test_a_failure_of_the_model_is_500_and_says_so(client, broken):
    response, html = await ask(client)
    assert response.status_code == 500
    assert 'role="alert"' in html


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
async def test_an_example_is_one_button_and_traces_its_prompt(client, serving, example):
    page = (await client.get("/")).content.decode()
    assert f'name="example" value="{example.slug}"' in page
    response = await client.post("/", {"example": example.slug})
    assert response.status_code == 200
    assert response.context["drawn"].trace.request.prompt == example.prompt


async def test_the_page_has_one_script_of_its_own_nothing_inline_and_sets_no_cookie(
    client, serving
):
    response, html = await ask(client, temperature="1")
    assert re.findall(r"<script ([^>]*)>", html) == [
        'id="explorer-page" type="application/json"',
        f'type="module" src="{static("build/explorer.js")}"',
    ]
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=|https?://", html)
    assert not response.cookies


async def test_the_script_is_given_the_form_as_it_was_typed(client, serving):
    _, html = await ask(client, prompt="</script><b>", temperature="3")
    [given] = re.findall(r'<script id="explorer-page"[^>]*>(.*?)</script>', html)
    prompt, _, _, temperature, *_ = json.loads(given)["fields"]
    assert prompt["typed"] == "</script><b>"
    assert temperature["error"] == "Temperature must be a number from 0 to 2; this is “3”."


async def test_another_method_is_405(client, transactional_db):
    response = await client.put("/")
    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("&".join(f"a{n}=1" for n in range(1200)), "application/x-www-form-urlencoded"),
        ("no form", "multipart/form-data"),
    ],
)
async def test_what_is_no_form_is_400_on_the_page_and_no_line_of_an_error(
    client, serving, caplog, body, kind
):
    answer = await client.post("/", data=body, content_type=kind)
    assert answer.status_code == 400
    assert "not this page&#x27;s form" in answer.content.decode()
    assert {record.levelname for record in caplog.records} <= {"INFO"}


async def test_the_page_says_which_limits_are_in_force(client, serving):
    assert "Programs need" not in (await client.get("/")).content.decode()
    await set_limits(max_new_tokens=4, deadline_seconds=2.5, rate_per_minute=1, key_required=True)
    page = (await client.get("/")).content.decode()
    assert "up to 4 new tokens, an answer within 2.5 seconds, 1 request a minute." in page
    assert "Programs need an API key" in page
