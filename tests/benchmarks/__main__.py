"""Measures everything and prints it; with --write, also into docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "traceapp.settings")

from tests.benchmarks import engines, machine, scaling, server
from tests.benchmarks.models import embedded, qwen_shape
from traceapp.env import Environment

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
MEASURED = re.compile(r"(?<=<!-- measured -->\n).*(?=<!-- /measured -->)", re.S)


def sections(scratch: Path, *, rounds: int) -> Iterator[str]:
    """Each part of the page as soon as it is measured."""
    weights_dir = Environment().weights_dir
    os.environ["TRACEAPP_WEIGHTS_DIR"] = str(weights_dir)  # for the server's process
    kernels_dir = weights_dir / "kernels"
    yield f"Measured on {machine.description()}; medians of {rounds} rounds.\n"
    small = embedded(weights_dir, scratch)
    large = qwen_shape(weights_dir, scratch)
    for model in (small, large):
        measured = engines.measure(model, kernels_dir, rounds=rounds)
        engine = engines.our_engine(model, kernels_dir, threads=engines.THREADS)
        yield engines.report(model, measured, engines.weight_bytes(model))
        yield f"One step's selection:\n\n{scaling.of_selection(engine, rounds=rounds)}\n"
    yield "### Scaling with the context, Qwen shape\n\n"
    yield scaling.with_context(engine, rounds=rounds) + "\n"
    engine = engines.our_engine(small, kernels_dir, threads=engines.THREADS)
    yield "### Scaling, embedded model\n\n" + scaling.with_context(engine, rounds=rounds) + "\n"
    yield scaling.with_threads(small, kernels_dir, rounds=rounds) + "\n"
    yield engines.again_with_another_temperature(engine, rounds=rounds)
    yield "### The server, embedded model\n\n" + server.start(engines.THREADS)
    with server.running(engines.THREADS) as running:
        yield server.over_the_engine(running, engine, rounds=3 * rounds)
        yield server.under_load(running) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="that each median is of")
    parser.add_argument("--scratch", type=Path, help="where the models for llama.cpp are kept")
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    arguments = parser.parse_args()
    scratch = arguments.scratch or Environment().data_dir / "benchmarks"
    scratch.mkdir(parents=True, exist_ok=True)
    parts = []
    for part in sections(scratch, rounds=arguments.rounds):
        print(part, flush=True)
        parts.append(part)
    if arguments.write:
        text = "\n" + "\n".join(parts) + "\n"
        PAGE.write_text(MEASURED.sub(lambda _: text, PAGE.read_text()))


if __name__ == "__main__":
    main()
