"""The app that owns the model and says who may use it."""

from __future__ import annotations

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "inference"
    verbose_name = "Token Trace"
