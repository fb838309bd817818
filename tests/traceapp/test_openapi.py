"""The OpenAPI document says all that the API does, and its page asks no other host."""

from __future__ import annotations

import json
import re

import pytest
from django.test import AsyncClient
from django.urls import URLPattern, URLResolver, get_resolver

from inference import errors
from traceapp.api import api
from traceapp.api.errors import STATUS
from traceapp.paths import speaks_openai
from traceapp.wire.traces import TraceBody

DOCUMENT = json.loads(json.dumps(api.get_openapi_schema()))
OPERATIONS = {
    (method, path): operation
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}
GENERATION = {"200", "400", "401", "403", "413", "422", "429", "500", "503", "504"}
TOKENS = {"200", "400", "401", "403", "413", "422", "500", "503"}
# Every status that a caller of each operation can meet there; 404 and 405 are of other addresses.
STATUSES = {
    ("get", "/health"): {"200", "503"},
    ("get", "/v1/models"): {"200", "401", "503"},
    ("get", "/v1/models/{model_id}"): {"200", "401", "404", "503"},
    ("get", "/v1/limits"): {"200", "500", "503"},
    ("get", "/metrics"): {"200"},
    ("get", "/metrics/json"): {"200"},
    ("post", "/v1/traces"): {"200", "401", "403", "413", "422", "429", "500", "503", "504"},
    ("post", "/v1/shared-traces"): {"201", "403", "413", "422", "429", "500", "503"},
    ("get", "/v1/shared-traces/{trace_id}"): {"200", "404", "500", "503"},
    ("delete", "/v1/shared-traces/{trace_id}"): {"204", "403", "404", "422", "429", "500", "503"},
    ("post", "/v1/completions"): GENERATION,
    ("post", "/v1/chat/completions"): GENERATION,
    ("post", "/tokenize"): TOKENS,
    ("post", "/detokenize"): TOKENS,
    ("get", "/oembed"): {"200", "404", "422", "500", "501", "503"},
    ("get", "/tokenizer_info"): {"200", "401", "500", "503"},
}


def schema_of(operation, status):
    return operation["responses"][status]["content"]["application/json"]["schema"]


def test_every_operation_and_status_is_documented():
    assert {name: set(each["responses"]) for name, each in OPERATIONS.items()} == STATUSES


def test_every_route_of_the_api_is_in_the_document():
    (mounted,) = [
        each
        for each in get_resolver().url_patterns
        if isinstance(each, URLResolver) and each.namespace == api.urls_namespace
    ]
    routes = {
        "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(each.pattern))
        for each in mounted.url_patterns
        if isinstance(each, URLPattern)
    }
    own = {"/", "/v1/openapi.json", "/v1/docs"}  # the document itself, and ninja's root name
    assert routes - own == {path for _, path in OPERATIONS}


def test_every_status_of_an_error_is_documented_or_is_of_another_address():
    elsewhere = (
        *(errors.NotFound, errors.MethodNotAllowed, errors.ClientDisconnected),
        errors.UnsupportedFormat,
    )
    expected = {str(status) for error, status in STATUS.items() if not issubclass(error, elsewhere)}
    assert expected <= GENERATION
    assert expected - {"400"} <= STATUSES["post", "/v1/traces"]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        (name, status)
        for name, each in STATUSES.items()
        for status in sorted(each)
        if status >= "400"
    ],
)
def test_every_error_has_the_one_shape(name, status):
    expected = "Health" if name == ("get", "/health") else "ErrorBody"
    if speaks_openai(name[1]):
        expected = "WrongShapeBody" if status == "422" else "OpenAIErrorBody"
    assert schema_of(OPERATIONS[name], status) == {"$ref": f"#/components/schemas/{expected}"}


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions"])
def test_a_generation_answers_with_json_or_with_events(path):
    content = OPERATIONS["post", path]["responses"]["200"]["content"]
    assert set(content) == {"application/json", "text/event-stream"}


def test_no_two_operations_have_one_id():
    ids = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(ids)) == len(ids)


def test_every_operation_says_what_it_is_for():
    assert all(operation["description"] for operation in OPERATIONS.values())


def test_the_bounds_of_the_body_are_the_contracts():
    body = DOCUMENT["components"]["schemas"]["TraceBody"]
    assert body["required"] == ["prompt"]
    assert body["additionalProperties"] is False
    assert list(body["properties"]) == list(TraceBody.model_fields)
    bounds = {
        name: {key: value for key, value in field.items() if re.search("min|max|Min|Max", key)}
        for name, field in body["properties"].items()
    }
    assert bounds["prompt"] == {"minLength": 1, "maxLength": 1000}
    assert bounds["max_new_tokens"] == {"minimum": 1, "maximum": 32}
    assert bounds["top_k"] == {"minimum": 1, "maximum": 10}
    assert bounds["temperature"] == {"minimum": 0, "maximum": 2}
    assert bounds["top_p"] == {"exclusiveMinimum": 0, "maximum": 1}


@pytest.mark.django_db
async def test_the_document_is_served():
    response = await AsyncClient().get("/v1/openapi.json")
    assert response.status_code == 200
    assert json.loads(response.content)["paths"].keys() == DOCUMENT["paths"].keys()


@pytest.mark.django_db
async def test_the_page_of_the_document_names_no_other_host():
    page = (await AsyncClient().get("/v1/docs")).content.decode()
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"', page)
    assert len(addresses) >= 3
    assert all(re.match(r"/[^/]", address) for address in addresses)
    (given,) = re.findall(r'id="swagger-settings">(.*?)</script>', page, re.DOTALL)
    settings = json.loads(given)
    assert settings["url"] == "/v1/openapi.json"
    assert settings["validatorUrl"] is None  # left out, it would be a host of Swagger's
