"""The HTTP API: one NinjaAPI, its routers mounted; nothing else."""

from __future__ import annotations

from django.conf import settings
from ninja import NinjaAPI, Swagger

from traceapp.api import (
    chat,
    completions,
    errors,
    models,
    observation,
    oembed,
    shared,
    tokens,
    traces,
)
from traceapp.api.strict_json import StrictParser, StrictRenderer

api = NinjaAPI(
    title="Token Trace",
    version="1.0",
    description="How a language model picks its next token: the probabilities it gave, truthfully.",
    openapi_url="/v1/openapi.json",
    docs_url="/v1/docs",
    # Swagger would otherwise show the document to a validator on another host.
    docs=Swagger(settings={"validatorUrl": None}),
    openapi_extra={
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        # None is needed unless an administrator says so: see `key_required` of /v1/limits.
        "security": [{}, {"key": []}],
    },
    parser=StrictParser(),
    renderer=StrictRenderer(),
)
errors.register(api)
api.add_router("", models.router)
api.add_router("", observation.router)
api.add_router("/v1", traces.router)
api.add_router("/v1", shared.router)
api.add_router("/v1", completions.router)
api.add_router("/v1", chat.router)
api.add_router("", tokens.router)
api.add_router("", oembed.router)
if settings.PROFILE_OUTPUT is not None:
    from traceapp.api import profile

    api.add_router("", profile.router)
