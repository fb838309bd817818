"""Where a shared trace is to be found: the paths of its pages."""

from __future__ import annotations


def page_path(trace_id: str) -> str:
    return f"/t/{trace_id}"


def delete_path(trace_id: str, token: str = "") -> str:
    """With the token in the fragment, which no browser sends and no log has."""
    return f"/t/{trace_id}/delete" + (f"#token={token}" if token else "")


def embed_path(trace_id: str) -> str:
    return f"/embed/t/{trace_id}"
