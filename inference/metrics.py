"""
The numbers that a monitoring system reads. Nothing in them comes from a prompt or a caller.

Labels have a fixed set of values, whatever models, paths or headers callers name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from inference import runtime
from inference.errors import NotReady
from inference.recent import RECENT
from inference.reports import Outcome, Report

PREFIX = "token_trace"
# Seconds. From a fast machine's token to the longest deadline an administrator may set.
REQUEST_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600)
TOKEN_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

REGISTRY = CollectorRegistry()


def _counter(name: str, help: str, labels: Iterable[str] = ()) -> Counter:
    return Counter(name, help, labels, namespace=PREFIX, registry=REGISTRY)


def _histogram(name: str, help: str, buckets: tuple[float, ...]) -> Histogram:
    return Histogram(name, help, namespace=PREFIX, registry=REGISTRY, buckets=buckets)


REQUESTS = _counter(
    "http_requests", "Answers begun, by endpoint and status class.", ("endpoint", "status")
)
REFUSALS = _counter("refusals", "Requests refused for a while, by reason.", ("reason",))
ENDED = _counter("generations", "Requests that left the model, by outcome.", ("outcome",))
PROMPT_TOKENS = _counter("prompt_tokens", "Prompt tokens of requests that left the model.")
REUSED_TOKENS = _counter("reused_prompt_tokens", "Prompt tokens that were not read again.")
PREFIX_HITS = _counter("prefix_cache_hits", "Requests that continued from what was kept.")
COMPLETION_TOKENS = _counter("completion_tokens", "Tokens that the model made.")
QUEUED = _histogram("queue_seconds", "Time from submission to the model.", REQUEST_BUCKETS)
FIRST_TOKEN = _histogram(
    "time_to_first_token_seconds", "Time from submission to the first token.", REQUEST_BUCKETS
)
A_TOKEN = _histogram(
    "time_per_output_token_seconds", "Mean time of a token after the first.", TOKEN_BUCKETS
)
TOTAL = _histogram("request_seconds", "Time from submission to the end.", REQUEST_BUCKETS)
LOAD_SECONDS = Gauge(
    "model_load_seconds", "Time that loading took.", namespace=PREFIX, registry=REGISTRY
)

# So that every series is there from the start, at zero.
for reason in ("busy", "rate"):
    REFUSALS.labels(reason)
for outcome in (Outcome.FINISHED, Outcome.CANCELLED, Outcome.FAILED):
    ENDED.labels(outcome.value)


class _InFlight(Collector):
    """Read when asked, so that it cannot drift from what the runtime knows."""

    def collect(self) -> Iterable[Metric]:
        try:
            serving = runtime.current()
        except NotReady:
            (running, waiting), ready = (0, 0), False
        else:
            (running, waiting), ready = serving.in_flight(), serving.is_ready()
        for name, help, value in (
            ("ready", "Whether a request would be served now.", float(ready)),
            ("requests_running", "Requests that the model works on.", running),
            ("requests_waiting", "Requests that wait for the model.", waiting),
        ):
            yield GaugeMetricFamily(f"{PREFIX}_{name}", help, value)


REGISTRY.register(_InFlight())


def observe(report: Report) -> None:
    """Count a request that has left the model, or was not let in."""
    RECENT.note(report)
    if report.outcome is Outcome.REFUSED:
        REFUSALS.labels("busy").inc()
        return
    ENDED.labels(report.outcome.value).inc()
    PROMPT_TOKENS.inc(report.prompt_tokens)
    REUSED_TOKENS.inc(report.reused_tokens)
    PREFIX_HITS.inc(report.reused_tokens > 0)
    COMPLETION_TOKENS.inc(report.completion_tokens)
    QUEUED.observe(report.queued_seconds)
    TOTAL.observe(report.total_seconds)
    if report.first_token_seconds is not None:
        FIRST_TOKEN.observe(report.first_token_seconds)
    if report.seconds_a_token is not None:
        A_TOKEN.observe(report.seconds_a_token)


def count_rate_refusal() -> None:
    """Count a request that its client's rate did not let in."""
    RECENT.note_rate_refusal()
    REFUSALS.labels("rate").inc()


def as_text() -> bytes:
    """The exposition format of Prometheus, version 0.0.4."""
    return generate_latest(REGISTRY)


def as_values() -> dict[str, list[dict[str, Any]]]:
    """The same numbers as plain values: counters, gauges and histograms by name and labels."""
    found: dict[str, list[dict[str, Any]]] = {"counters": [], "gauges": [], "histograms": []}
    for metric in REGISTRY.collect():
        if metric.type == "histogram":
            found["histograms"].append(_histogram_values(metric))
        else:
            found[f"{metric.type}s"] += [
                {"name": sample.name, "labels": sample.labels, "value": sample.value}
                for sample in metric.samples
                if not sample.name.endswith("_created")
            ]
    return found


def _histogram_values(metric: Metric) -> dict[str, Any]:
    values = {s.name.removeprefix(metric.name): s.value for s in metric.samples}
    buckets = [{"le": s.labels["le"], "count": s.value} for s in metric.samples if "le" in s.labels]
    return {
        "name": metric.name,
        "buckets": buckets,
        "count": values["_count"],
        "sum": values["_sum"],
    }
