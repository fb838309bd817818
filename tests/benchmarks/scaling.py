"""How a step's time grows: with the context, with top_k, with threads; and what selection costs."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import torch

from inference.engine.engine import ModelEngine
from inference.engine.generation import Choice
from inference.engine.types import GenerationRequest, SamplingParams
from tests.benchmarks.engines import our_engine, prompt_ids
from tests.benchmarks.figures import median_of, table
from tests.benchmarks.models import Model
from tests.benchmarks.ways import EngineWay

CONTEXTS = (16, 128, 512, 1024, 2048)
CANDIDATES = (0, 1, 10, 50)
THREAD_COUNTS = (1, 2)


def with_context(engine: ModelEngine, *, rounds: int) -> str:
    way = EngineWay("", engine)
    times = {
        length: median_of(
            [way.trace(prompt_ids(length), 16) for _ in range(rounds)], lambda t: t.token_ms
        )
        for length in CONTEXTS
    }
    rows = [(f"{n}", f"{ms:.1f}", f"{ms / times[CONTEXTS[0]]:.2f}") for n, ms in times.items()]
    return table(("tokens before it", "ms a token", f"against {CONTEXTS[0]}"), rows)


def with_threads(model: Model, kernels_dir: Path, *, rounds: int) -> str:
    """Engines of one and two threads in turns."""
    ways = {n: EngineWay("", our_engine(model, kernels_dir, threads=n)) for n in THREAD_COUNTS}
    traces = {n: [] for n in THREAD_COUNTS}
    for _ in range(rounds):
        for n, way in ways.items():
            traces[n].append(way.trace(prompt_ids(64), 32))
    rows = [
        (
            f"{n}",
            f"{median_of(traces[n], lambda t: t.token_ms):.1f}",
            f"{median_of(traces[n], lambda t: t.first_ms):.0f}",
            f"{median_of(traces[n], lambda t: t.whole_ms):.0f}",
        )
        for n in THREAD_COUNTS
    ]
    return table(("threads", "ms a token", "prefill 64, ms", "whole trace, ms"), rows)


def of_selection(engine: ModelEngine, *, rounds: int) -> str:
    """From a row of logits to a step, with nothing else: statistics, candidates and the draw."""
    rows = []
    generator = torch.Generator().manual_seed(0)
    logits = (5 * torch.randn(engine.vocabulary.rows, generator=generator)).numpy()
    for name, sampling in (
        ("greedy", SamplingParams(temperature=0.0)),
        ("temperature 1", SamplingParams(seed=1)),
        ("top-p 0.9", SamplingParams(top_p=0.9, seed=1)),
    ):
        cells = [name]
        for count in CANDIDATES:
            request = GenerationRequest(
                prompt_ids=(0,),
                max_tokens=rounds * 20,
                sampling=sampling,
                num_candidates=count,
                ignore_eos=True,
            )
            choice = Choice(0, request, engine.vocabulary)
            taken = []
            for _ in range(rounds * 20):
                begun = time.perf_counter()
                choice.advance(logits)
                taken.append(time.perf_counter() - begun)
            cells.append(f"{median(taken) * 1000:.2f}")
        rows.append(cells)
    head = (f"ms over {engine.vocabulary.rows:,} rows", *(f"top {n}" for n in CANDIDATES))
    return table(head, rows)
