"""One trace by every way to it, in turns: ours, transformers' two, llama.cpp's precisions."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch

from inference.engine.engine import ModelEngine
from inference.engine.implementation import Implementation
from inference.engine.kernel_decoder import KernelDecoder
from inference.engine.loading import engine_of, load_engine
from tests.benchmarks.figures import Trace, median_of, table
from tests.benchmarks.llama_cpp import LlamaCppWay
from tests.benchmarks.machine import read_bandwidth
from tests.benchmarks.models import CONTEXT, Model
from tests.benchmarks.ways import EngineWay, GenerateWay, Way, error_of

PROMPT, NEW, LONG_PROMPT = 64, 32, 256
OURS = "ours"
REST_SECONDS = 0.5  # for as long may the threads of the way before wait actively
THREADS = os.cpu_count() or 1
HEAD = (
    *("way", "ms a token", "prefill 64, ms", "prefill 256, ms", "whole trace, ms"),
    *("ours / it", "largest error of p"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The rounds of one way."""

    name: str
    traces: tuple[Trace, ...]  # of PROMPT tokens, NEW drawn
    prefills: tuple[Trace, ...]  # of LONG_PROMPT tokens, one drawn
    error: float

    @property
    def whole_ms(self) -> float:
        return median_of(self.traces, lambda trace: trace.whole_ms)

    @property
    def token_ms(self) -> float:
        return median_of(self.traces, lambda trace: trace.token_ms)


def our_engine(
    model: Model, kernels_dir: Path, implementation: Implementation = "kernels", *, threads: int
) -> ModelEngine:
    return load_engine(
        model.folder,
        implementation=implementation,
        gguf=model.gguf,
        kernels_dir=kernels_dir,
        context_length=CONTEXT,
        threads=threads,
    )


@contextmanager
def ways_to(model: Model, reference: Any, kernels_dir: Path) -> Iterator[list[Way]]:
    from transformers import AutoTokenizer

    ours = our_engine(model, kernels_dir, threads=THREADS)
    tokenizer = AutoTokenizer.from_pretrained(model.folder)
    loop = engine_of(reference, tokenizer, context_length=CONTEXT)
    torch.set_num_threads(THREADS)
    with ExitStack() as stack:
        ways: list[Way] = [
            EngineWay(OURS, ours),
            GenerateWay("transformers generate, float32", reference),
            EngineWay("our loop over transformers, float32", loop),
        ]
        for precision, file in model.for_llama_cpp.items():
            way = LlamaCppWay(f"llama.cpp, {precision}", file, threads=THREADS)
            stack.callback(way.close)
            ways.append(way)
        yield ways


def measure(model: Model, kernels_dir: Path, *, rounds: int) -> list[Measured]:
    """Every way in turns, one round to warm up and then `rounds` that count."""
    reference = model.in_float32()
    short, long = prompt_ids(PROMPT), prompt_ids(LONG_PROMPT)
    with ways_to(model, reference, kernels_dir) as ways:
        traces: dict[str, list[Trace]] = {way.name: [] for way in ways}
        prefills: dict[str, list[Trace]] = {way.name: [] for way in ways}
        for turn in range(rounds + 1):
            for way in ways:
                time.sleep(REST_SECONDS)
                trace, prefill = way.trace(short, NEW), way.trace(long, 1)
                if turn:
                    traces[way.name].append(trace)
                    prefills[way.name].append(prefill)
    return [
        Measured(
            name=name,
            traces=tuple(traces[name]),
            prefills=tuple(prefills[name]),
            error=error_of(traces[name][0], short, reference),
        )
        for name in traces
    ]


def prompt_ids(length: int) -> list[int]:
    """Ids of plain tokens in a fixed order; what they say costs nothing more or less."""
    return [300 + (37 * place) % 8000 for place in range(length)]


def weight_bytes(model: Model) -> int:
    """What one token of ours reads of the weights."""
    decoder = KernelDecoder.load(model.folder, gguf=model.gguf, context_length=CONTEXT, threads=1)
    return decoder.weight_bytes


def report(model: Model, measured: Sequence[Measured], read_bytes: int) -> str:
    """The table of one model, and what share of the bandwidth ours reaches."""
    ours = next(way for way in measured if way.name == OURS)
    rows = [
        (
            way.name,
            f"{way.token_ms:.1f}",
            f"{median_of(way.traces, lambda trace: trace.first_ms):.0f}",
            f"{median_of(way.prefills, lambda trace: trace.first_ms):.0f}",
            f"{way.whole_ms:.0f}",
            f"{ours.whole_ms / way.whole_ms:.2f}",
            f"{way.error:.0e}",
        )
        for way in measured
    ]
    bandwidth = read_bandwidth(THREADS)
    reached = read_bytes / (ours.token_ms / 1000)
    return (
        f"### {model.name}\n\n{table(HEAD, rows)}\n\n"
        f"Ours reads {read_bytes / 1e6:.0f} MB of weights a token: {reached / 1e9:.1f} GB/s, "
        f"{reached / bandwidth:.0%} of the {bandwidth / 1e9:.1f} GB/s that {THREADS} threads "
        f"read here.\n"
    )


def again_with_another_temperature(engine: ModelEngine, *, rounds: int) -> str:
    """The first step of a prompt that its owner has just read, beside the cold one."""
    way = EngineWay(OURS, engine)
    cold, warm = [], []
    for turn in range(rounds):
        ids = prompt_ids(LONG_PROMPT)
        cold.append(way.trace(ids, 1, owner=f"{turn}").first_ms)
        warm.append(way.trace(ids, 1, owner=f"{turn}").first_ms)
        engine.forget(f"{turn}")
    return (
        f"A prompt of {LONG_PROMPT} tokens again: first step {median(warm):.1f} ms instead of "
        f"{median(cold):.0f} ms, {median(warm) / median(cold):.2f} of it.\n"
    )
