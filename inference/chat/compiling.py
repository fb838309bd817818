"""
Grammars compiled by llguidance, first in a process that can be ended.

A few kilobytes of schema can keep the compiler busy for minutes (patterns that must hold all at
once), and nothing stops a thread. So each grammar is tried in a process of its own, with a bound
on its time and memory; what passes there is compiled here. This file is that process's program
too: it imports nothing of the project.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from llguidance import LLMatcher, LLParserLimits, LLTokenizer

MAX_CPU_SECONDS: Final = 2  # where the system can bound that; starting takes 0.1 of them
MAX_SECONDS: Final = 8.0  # on the clock, on a busy machine
MAX_BYTES: Final = 2 << 30  # of address space; what passes needs some tens of megabytes
MAX_MESSAGE: Final = 200  # characters: it may quote the caller's schema

TOO_COMPLEX: Final = "the schema takes too long to compile"


def compile_grammar(tokenizer: LLTokenizer, lark: str) -> LLMatcher:
    """A matcher at the grammar's beginning; `get_error` of it says what is wrong."""
    # Large lexemes are not walked over the whole vocabulary in advance: that has no bound.
    limits = LLParserLimits(precompute_large_lexemes=False, verbose_errors=False)
    return LLMatcher(tokenizer, lark, log_level=0, limits=limits)


def find_error(lark: str) -> str | None:
    """What is wrong with a grammar, in a sentence, or None. Blocks for 0.1 to 8 seconds."""
    try:
        tried = subprocess.run(  # noqa: S603 - the program is this file
            [sys.executable, "-I", str(Path(__file__))],
            input=lark.encode(),
            capture_output=True,
            timeout=MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TOO_COMPLEX
    if tried.returncode != 0:
        return TOO_COMPLEX
    return tried.stdout.decode() or None


def readable(error: str) -> str:
    """The compiler's message without the grammar that it quotes, which is not the caller's."""
    first = error.partition("\n")[0]
    return re.sub(r"^at \d+\(\d+\): (failed to compile JSON schema: )?", "", first)[:MAX_MESSAGE]


def _bound_this_process() -> None:
    try:
        import resource
    except ImportError:  # not on Windows, where the clock alone bounds it
        return
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Try the grammar on standard input, and write what is wrong with it."""
    _bound_this_process()
    matcher = compile_grammar(LLTokenizer("byte"), sys.stdin.buffer.read().decode())
    if not matcher.is_error():
        matcher.compute_bitmask()
    sys.stdout.write(readable(matcher.get_error()))


if __name__ == "__main__":
    main()
