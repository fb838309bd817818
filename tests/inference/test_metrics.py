"""What monitoring reads: parsed as Prometheus does, finite, and of a fixed set of labels."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from inference import metrics
from inference.reports import Outcome, Report


def report(**fields) -> Report:
    defaults: dict[str, Any] = {
        "outcome": Outcome.FINISHED,
        "prompt_tokens": 3,
        "reused_tokens": 0,
        "completion_tokens": 5,
        "queued_seconds": 0.5,
        "first_token_seconds": 1.0,
        "total_seconds": 3.0,
    }
    return Report(**defaults | fields)


def samples() -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(metrics.as_text().decode())
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def grown(act) -> dict[tuple[str, ...], float]:
    """By how much each sample grew."""
    before = samples()
    act()
    return {key: value - before.get(key, 0) for key, value in samples().items()}


def test_a_report_adds_to_its_counters_and_histograms():
    change = grown(lambda: metrics.observe(report(reused_tokens=2)))
    assert change["token_trace_generations_total", "finished"] == 1
    assert change["token_trace_prompt_tokens_total",] == 3
    assert change["token_trace_reused_prompt_tokens_total",] == 2
    assert change["token_trace_prefix_cache_hits_total",] == 1
    assert change["token_trace_completion_tokens_total",] == 5
    assert change["token_trace_queue_seconds_sum",] == 0.5
    assert change["token_trace_time_to_first_token_seconds_sum",] == 1.0
    assert change["token_trace_time_per_output_token_seconds_sum",] == pytest.approx(0.5)
    assert change["token_trace_request_seconds_sum",] == 3.0


def test_a_request_without_a_token_has_no_token_times():
    ended = report(outcome=Outcome.CANCELLED, completion_tokens=0, first_token_seconds=None)
    change = grown(lambda: metrics.observe(ended))
    assert change["token_trace_generations_total", "cancelled"] == 1
    assert change["token_trace_time_to_first_token_seconds_count",] == 0
    assert change["token_trace_time_per_output_token_seconds_count",] == 0


def test_a_refused_request_is_a_refusal_and_nothing_else():
    change = grown(lambda: metrics.observe(report(outcome=Outcome.REFUSED)))
    assert {key for key, value in change.items() if value} == {
        ("token_trace_refusals_total", "busy")
    }


def test_no_number_is_nan_and_every_series_is_there_from_the_start():
    found = samples()
    assert not any(math.isnan(value) for value in found.values())
    for reason in ("busy", "rate"):
        assert ("token_trace_refusals_total", reason) in found
    assert ("token_trace_requests_running",) in found


def test_the_values_are_the_texts_numbers():
    metrics.observe(report())
    text, values = samples(), metrics.as_values()
    for sample in (*values["counters"], *values["gauges"]):
        assert text[sample["name"], *sorted(sample["labels"].values())] == sample["value"]
    for histogram in values["histograms"]:
        assert text[f"{histogram['name']}_count",] == histogram["count"]
        assert text[f"{histogram['name']}_sum",] == histogram["sum"]
        for bucket in histogram["buckets"]:
            assert text[f"{histogram['name']}_bucket", bucket["le"]] == bucket["count"]


def test_the_page_lists_every_metric():
    page = Path(__file__).parents[2] / "docs" / "monitoring.md"
    listed = re.findall(r"^\| `(\w+)` \| (\w+) \|", page.read_text(), re.MULTILINE)
    suffix = {"counter": "_total"}
    found = {(m.name + suffix.get(m.type, ""), m.type) for m in metrics.REGISTRY.collect()}
    assert set(listed) == found
