"""
Every setting that the environment gives, parsed once and strictly. The only reader of it.

A value that does not parse stops the start with the name of the variable and the reason.
`docs/settings.md` lists what is here, and a test holds the two equal.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, Self

from platformdirs import user_data_path
from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from inference.origins import embedding_site, origin

Words = Annotated[tuple[str, ...], NoDecode]  # comma-separated


class Environment(BaseSettings):
    """The settings with their defaults. Each field's description is its documentation."""

    model_config = SettingsConfigDict(
        env_prefix="TRACEAPP_", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    model: str | None = Field(
        None, description="Alias of the model to serve; unset: the best one lying on this machine."
    )
    model_path: Path | None = Field(
        None, description="Folder or GGUF file to serve in place of the alias's own weights."
    )
    data_dir: Path = Field(
        user_data_path("token-trace"), description="Where weights, database and profiles lie."
    )
    weights_dir_override: Path | None = Field(
        None,
        validation_alias="TRACEAPP_WEIGHTS_DIR",
        description="Where weights lie, if not in the data folder's `weights`.",
    )
    threads: int = Field(
        os.cpu_count() or 1,
        ge=1,
        description="Threads that compute; unset: one a processor.",
    )
    allowed_hosts: Words = Field(
        ("localhost", "127.0.0.1", "[::1]"),
        description="Host names that this server answers to; `serve` adds the one it binds.",
    )
    allowed_origins: Words = Field(
        (), description="Origins of other sites whose pages may call the API."
    )
    embed_sites: Words = Field((), description="Sites that may show our pages in a frame.")
    proxies: int = Field(
        0, ge=0, description="Proxies in front that each add one hop to X-Forwarded-For."
    )
    rate_per_minute: int = Field(
        60, ge=0, description="Requests to the model per client and minute; 0 turns the rate off."
    )
    max_waiting: int = Field(32, ge=0, description="Requests that may wait for the model.")
    deadline_seconds: float = Field(
        30.0, gt=0, le=3600, description="Time for one request, waiting included."
    )
    log_format: Literal["line", "json"] = Field(
        "line", description="Whether a record of the log is a line of text or of JSON."
    )
    stop_seconds: float = Field(
        25.0, ge=0, le=3600, description="Time for what runs to end once the server is to stop."
    )
    database_url: str | None = Field(
        None,
        validation_alias="DATABASE_URL",
        description="Database, as a URL; unset: SQLite in the data folder.",
    )
    redis_url: str | None = Field(
        None,
        validation_alias="REDIS_URL",
        description="Redis, in which several processes count rates together; unset: each alone.",
    )
    secret_key: str | None = Field(
        None,
        validation_alias="SECRET_KEY",
        min_length=50,
        description="Signing key; unset: made once and kept in the data folder.",
    )
    https: bool = Field(
        False,
        description="Whether visitors come by https, through a proxy: http is sent there, cookies "
        "keep to it, and browsers remember it for a year.",
    )
    debug: bool = Field(
        False, validation_alias="DEBUG", description="Django's debug mode; never in production."
    )

    @field_validator("allowed_hosts", "allowed_origins", "embed_sites", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(word.strip() for word in value.split(",") if word.strip())
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(origin, value))

    @field_validator("embed_sites")
    @classmethod
    def _embedding_sites(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(embedding_site, value))

    @model_validator(mode="after")
    def _https_needs_a_proxy(self) -> Self:
        # Else every request would look like http, and be sent back to itself without end.
        if self.https and self.proxies == 0:
            raise ValueError(
                "TRACEAPP_HTTPS needs TRACEAPP_PROXIES: this server speaks http, and only a proxy "
                "can say which requests came by https"
            )
        return self

    @classmethod
    def variable(cls, name: str) -> str:
        """The environment variable of a field; pydantic's errors already name some by it."""
        field = cls.model_fields.get(name)
        if field is None:
            return name
        return str(field.validation_alias or f"TRACEAPP_{name.upper()}")

    @property
    def weights_dir(self) -> Path:
        return self.weights_dir_override or self.data_dir / "weights"
