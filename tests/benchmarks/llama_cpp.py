"""llama.cpp by its own server code, in a process of its own: `python -m ... FILE THREADS`."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import TOP, Trace
from tests.benchmarks.ways import milliseconds

READY = "ready"
RESULT = "result "


class LlamaCppWay:
    """A model in a llama.cpp process. Its times are the whole request's, by its own split."""

    def __init__(self, name: str, gguf: Path, *, threads: int) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.llama_cpp", str(gguf), str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._read(READY)

    def trace(self, prompt_ids: Sequence[int], new_tokens: int) -> Trace:
        assert self._process.stdin is not None
        begun = milliseconds()
        self._process.stdin.write(json.dumps([list(prompt_ids), new_tokens]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._read(RESULT))
        whole = milliseconds() - begun
        steps = answer["choices"][0]["logprobs"]["content"]
        return Trace(
            first_ms=answer["timings"]["prompt_ms"],
            whole_ms=whole,
            token_ids=tuple(step["id"] for step in steps),
            top=tuple(
                {entry["id"]: math.exp(entry["logprob"]) for entry in step["top_logprobs"]}
                for step in steps
            ),
        )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _read(self, begins: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(begins):
                return line.removeprefix(begins)
        raise RuntimeError(f"{self.name}: llama.cpp ended with {self._process.wait()}")


def main(gguf: str, threads: str) -> None:
    """Answer `[prompt ids, new tokens]` lines with llama.cpp's own completions."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = gguf
    params.n_ctx = 2304
    params.n_parallel = 1
    params.fit_params = False
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    if "f32" in gguf or "float32" in gguf:
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    server = xllamacpp.Server(params)
    print(READY, flush=True)
    for line in sys.stdin:
        prompt_ids, new_tokens = json.loads(line)
        answer = server.handle_completions(
            {
                "prompt": prompt_ids,
                "n_predict": new_tokens,
                "n_probs": TOP,
                "temperature": 0,
                "cache_prompt": False,
                "ignore_eos": True,
            }
        )
        print(RESULT + (answer if isinstance(answer, str) else json.dumps(answer)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
