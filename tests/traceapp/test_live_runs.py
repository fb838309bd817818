"""The live socket: what a run says, and that it is what /v1/traces answers."""

from __future__ import annotations

import asyncio
import json
import math

import pytest
import torch

from inference.models import LimitsRow
from tests.fakes import scripted_engine, tiny_engine
from tests.gates import Gate
from tests.sockets import types_of


@pytest.fixture
def tiny(install):
    """A tiny random model: real tokens, real probabilities."""
    return install(tiny_engine("qwen2"))


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def held(install, gate):
    """A model whose every pass waits for a permit."""
    yield install(scripted_engine("held still", gate=gate))
    gate.open()


async def reached(gate):
    """Wait until the model is in a pass."""
    assert await asyncio.to_thread(gate.reached.acquire, timeout=60)


async def reached_and_passed(gate, *, passes):
    for _ in range(passes):
        await reached(gate)
        gate.release()


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not k.endswith("_ms")}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def steps_of(frames):
    return [frame["step"] for frame in frames if frame["type"] == "step"]


# The order of frames, and what is in them


async def test_a_run_starts_gives_each_step_and_finishes(connect, install):
    install(" is the")
    socket = await connect()
    frames = await socket.run(" the cat", max_new_tokens=8)
    assert types_of(frames) == ["started", "step", "step", "step", "finished"]
    assert {frame["id"] for frame in frames} == {"r1"}
    prompt_tokens = frames[0]["prompt_tokens"]
    assert [token["token"] for token in prompt_tokens] == [" the", " cat"]
    assert [bytes(token["bytes"]) for token in prompt_tokens] == [b" the", b" cat"]
    assert {token["special"] for token in prompt_tokens} == {False}
    assert [step["selected_token"] for step in steps_of(frames)][:2] == [" is", " the"]
    assert frames[-1]["trace"]["generated_text"] == " is the"
    assert frames[-1]["trace"]["finish_reason"] == "eos"


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"temperature": 1.3, "seed": 5, "max_new_tokens": 32, "top_k": 10},
        {"temperature": 0.7, "top_p": 0.6, "seed": 0, "top_k": 1},
        {"max_new_tokens": 1, "model": "smollm2-135m"},
    ],
)
async def test_what_is_finished_is_what_the_api_answers(connect, post, tiny, asked):
    response = await post({"prompt": "The moon is"} | asked, query="?include=analysis")
    answer = json.loads(response.content)
    socket = await connect()
    frames = await socket.run("The moon is", **asked)
    trace = frames[-1]["trace"]
    assert trace.keys() == answer.keys()
    assert trace["timing"].keys() == answer["timing"].keys()
    assert without_times(trace) == without_times(answer) | {"timing": {}}
    assert trace["steps"] == steps_of(frames)


async def test_what_is_not_asked_for_gives_way_to_the_limits_as_in_the_api(connect, post, tiny):
    await LimitsRow.objects.acreate(pk=1, rate_per_minute=0, max_new_tokens=3, max_alternatives=2)
    answer = json.loads((await post({"prompt": "x"}, query="?include=analysis")).content)
    trace = (await (await connect()).run("x"))[-1]["trace"]
    assert len(trace["steps"]) == 3
    assert without_times(trace) == without_times(answer) | {"timing": {}}


async def test_the_prompts_tokens_are_scored_on_request(connect, tiny):
    socket = await connect()
    frames = await socket.run("The moon is", score_prompt=True, max_new_tokens=2)
    assert types_of(frames) == ["started", "prompt_scores", "step", "step", "finished"]
    first, *rest = frames[1]["scores"]
    assert first is None
    assert len(rest) == len(frames[0]["prompt_tokens"]) - 1
    for score in rest:
        assert score["surprisal_bits"] == pytest.approx(-math.log2(score["probability"]))
        assert score["entropy_bits"] > 0
        assert score["rank"] >= 0


async def test_a_lab_has_every_token_that_can_be_drawn(connect, tiny):
    socket = await connect()
    frames = await socket.run("The moon is", lab=True, max_new_tokens=2, temperature=1, seed=1)
    for frame in frames[1:-1]:
        step, top, tail = frame["step"], frame["lab"]["top"], frame["lab"]["tail"]
        assert len(top) == 50
        assert len(top) + sum(count for count, _ in tail) == len(tiny.engine.vocabulary.tokens)
        mass = sum(math.exp(each["logprob"]) for each in top)
        mass += sum(count * math.exp(logprob) for count, logprob in tail)
        assert step["selected_probability"] / mass == pytest.approx(
            step["analysis"]["sampling_probability"], rel=1e-3
        )
        assert math.exp(top[0]["logprob"]) == pytest.approx(
            max(step["selected_probability"], step["alternatives"][0]["probability"])
        )


async def test_without_a_lab_there_is_none(connect, tiny):
    frames = await (await connect()).run(max_new_tokens=1)
    assert frames[1]["lab"] is None


# Branches


async def test_a_branch_begins_with_the_given_tokens_at_their_true_probabilities(connect, tiny):
    socket = await connect()
    first = steps_of(await socket.run(max_new_tokens=6))
    other = first[2]["alternatives"][1]
    forced = [step["selected_token_id"] for step in first[:2]] + [other["token_id"]]
    frames = await socket.run(max_new_tokens=6, forced=forced)
    steps = steps_of(frames)
    assert [step["selected_token_id"] for step in steps[:3]] == forced
    assert [step["analysis"]["forced"] for step in steps] == [True] * 3 + [False] * (len(steps) - 3)
    assert [step["analysis"]["draw"] for step in steps[:3]] == [None] * 3
    assert steps[2]["selected_probability"] == pytest.approx(other["probability"], abs=1e-6)
    assert steps[1]["selected_probability"] == pytest.approx(
        first[1]["selected_probability"], abs=1e-6
    )
    assert len(steps) <= 6
    assert frames[-1]["trace"]["steps"] == steps


async def test_given_tokens_alone_make_a_trace_that_has_its_length(connect, tiny):
    frames = await (await connect()).run(max_new_tokens=2, forced=[97, 98])
    assert frames[-1]["trace"]["generated_text"] == "ab"
    assert frames[-1]["trace"]["finish_reason"] == "length"


@pytest.mark.parametrize("forced", [[97] * 3, [100_000], [-1]])
async def test_given_tokens_that_cannot_be_are_refused_by_name(connect, tiny, forced):
    (error,) = await (await connect()).run(max_new_tokens=2, forced=forced)
    assert (error["code"], error["param"]) == ("invalid_request", "forced")


# Places


async def test_those_that_wait_are_told_their_place_whenever_it_changes(connect, held, gate):
    sockets = [await connect() for _ in range(4)]
    await sockets[0].start(max_new_tokens=1)
    await reached(gate)
    for socket in sockets[1:]:
        await socket.start(max_new_tokens=1)
        frame = await socket.hear()
        assert frame["type"] == "queued"
    assert frame["position"] == 3
    await sockets[1].say("stop")
    assert types_of([await sockets[1].hear()]) == ["stopped"]
    assert [(await socket.hear())["position"] for socket in sockets[2:]] == [1, 2]
    gate.open()
    assert types_of(await sockets[0].hear_until("finished")) == ["started", "step", "finished"]
    assert types_of(await sockets[2].hear_until("finished")) == ["started", "step", "finished"]
    last = await sockets[3].hear_until("finished")
    assert types_of(last) == ["queued", "started", "step", "finished"]
    assert last[0]["position"] == 1


async def test_two_sockets_and_the_api_are_served_side_by_side(connect, post, tiny):
    one, two = await connect(), await connect()
    answers = await asyncio.gather(
        one.run("a", max_new_tokens=4), two.run("b", max_new_tokens=4), post({"prompt": "c"})
    )
    assert [frames[-1]["trace"]["prompt"] for frames in answers[:2]] == ["a", "b"]
    assert answers[2].json()["prompt"] == "c"


# Endings


async def test_stop_ends_the_run_at_its_next_step_with_what_there_is(connect, held, gate):
    socket = await connect()
    await socket.start(max_new_tokens=32)
    await reached_and_passed(gate, passes=2)
    await reached(gate)
    await socket.say("stop")
    await socket.say("count", id="heard", prompt="")  # answered in order: stop was heard
    heard = await socket.hear_until("count")
    gate.open()
    frames = heard[:-1] + await socket.hear_until("finished")
    assert types_of(frames) == ["started", "step", "step", "step", "finished"]
    assert frames[-1]["trace"]["finish_reason"] == "stopped"
    assert frames[-1]["trace"]["steps"] == steps_of(frames)
    assert frames[-1]["trace"]["generated_text"] == "hel"
    assert held.in_flight() == (0, 0)


async def test_a_run_that_is_stopped_before_its_first_step_is_only_stopped(connect, held, gate):
    first, second = await connect(), await connect()
    await first.start()
    await reached(gate)
    await second.start(id="waits")
    assert (await second.hear())["type"] == "queued"
    await second.say("stop", id="waits")
    assert await second.hear() == {"type": "stopped", "id": "waits"}
    assert held.in_flight() == (1, 0)


async def test_stopping_what_does_not_run_says_nothing(connect, install):
    install("ab")
    socket = await connect()
    await socket.say("stop")
    await socket.run(id="r1")
    await socket.say("stop", id="r1")
    await socket.say("stop", id="other")
    assert types_of(await socket.run(id="r2")) == ["started", "step", "step", "step", "finished"]


async def test_a_start_stops_the_run_before_and_follows_it(connect, held, gate):
    socket = await connect()
    await socket.start(id="old", max_new_tokens=32)
    await reached_and_passed(gate, passes=1)
    await reached(gate)
    await socket.start(id="never", max_new_tokens=1)
    await socket.start(id="new", max_new_tokens=1)
    await socket.say("count", id="heard", prompt="")
    heard = await socket.hear_until("count")
    gate.open()
    frames = heard[:-1] + await socket.hear_until("finished", id="new")
    assert [(frame["type"], frame["id"]) for frame in frames] == [
        ("started", "old"),
        ("step", "old"),
        ("step", "old"),
        ("finished", "old"),
        ("stopped", "never"),
        ("started", "new"),
        ("step", "new"),
        ("finished", "new"),
    ]
    assert frames[3]["trace"]["finish_reason"] == "stopped"


async def test_leaving_frees_the_model_within_one_step(connect, held, gate):
    staying, leaving = await connect(), await connect()
    await leaving.start(max_new_tokens=32)
    await reached(gate)
    await staying.start(max_new_tokens=1)
    assert (await staying.hear())["position"] == 1
    await leaving.leave()
    gate.release()  # the step that was being made
    await reached(gate)
    assert held.in_flight() == (1, 0)
    gate.release()
    assert types_of(await staying.hear_until("finished")) == ["started", "step", "finished"]


async def test_a_server_that_stops_closes_with_1001_and_frees_the_model(connect, held, gate):
    socket = await connect()
    await socket.start()
    await reached(gate)
    await socket.stop_server()
    assert await socket.closed() == 1001
    gate.open()
    await asyncio.to_thread(held.close)
    assert held.in_flight() == (0, 0)


# Refusals


async def test_a_refusal_has_the_apis_code_and_names_the_field(connect, tiny):
    await LimitsRow.objects.acreate(pk=1, rate_per_minute=0, max_prompt_tokens=3, max_new_tokens=4)
    socket = await connect()
    for fields, code, param in (
        ({"prompt": ""}, "invalid_request", "prompt"),
        ({"max_new_tokens": 5}, "invalid_request", "max_new_tokens"),
        ({"max_new_tokens": 33}, "invalid_request", "max_new_tokens"),
        ({"top_k": "2"}, "invalid_request", "top_k"),
        ({"model": "another"}, "invalid_request", "model"),
        ({"prompt": "abcd"}, "prompt_too_long", "prompt"),
    ):
        (error,) = await socket.run(**({"prompt": "abc"} | fields))
        assert (error["type"], error["id"]) == ("error", "r1")
        assert (error["code"], error["param"], error["retry_after"]) == (code, param, None)
    assert (await socket.run("abc", max_new_tokens=1))[-1]["type"] == "finished"


async def test_sockets_count_against_the_same_rate_as_the_api(connect, post, tiny):
    await LimitsRow.objects.acreate(pk=1, rate_per_minute=2)
    socket = await connect(x_forwarded_for="ignored without a proxy")
    ends = [(await socket.run(max_new_tokens=1))[-1] for _ in range(3)]
    assert [end["type"] for end in ends] == ["finished", "finished", "error"]
    assert ends[2]["code"] == "rate_limited"
    assert 1 <= ends[2]["retry_after"] <= 60


async def test_a_full_queue_is_busy_and_says_when_to_come_back(connect, held, gate):
    await LimitsRow.objects.acreate(pk=1, rate_per_minute=0, max_waiting=0)
    first, second = await connect(), await connect()
    await first.start()
    await reached(gate)
    (error,) = await second.run()
    assert error["code"] == "busy"
    assert error["retry_after"] >= 1


async def test_past_the_deadline_the_run_ends_and_the_model_is_free(connect, held, gate):
    await LimitsRow.objects.acreate(pk=1, rate_per_minute=0, deadline_seconds=0.2)
    socket = await connect()
    frames = await socket.run()
    assert frames[-1]["code"] == "timeout"
    gate.open()
    await LimitsRow.objects.filter(pk=1).aupdate(deadline_seconds=30)
    assert (await socket.run(max_new_tokens=1))[-1]["type"] == "finished"


async def test_what_fails_in_the_model_is_one_error_and_quotes_nothing(connect, install, caplog):
    rows = scripted_engine("").vocabulary.rows
    failures = [RuntimeError("secret")]
    install(scripted_engine(lambda n: failures.pop() if failures else torch.zeros(rows)))
    socket = await connect()
    frames = await socket.run("secret")
    assert types_of(frames) == ["started", "error"]
    assert frames[-1]["code"] == "inference_failed"
    assert (await socket.run("secret", max_new_tokens=1))[-1]["type"] == "finished"
    assert "secret" not in caplog.text + frames[-1]["message"]
