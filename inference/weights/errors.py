"""
What can go wrong before a model is served: none of it ever reaches an HTTP client.

* WeightsError        the weights are missing, incomplete, altered, or not what they should be
  x UnknownModel      the catalogue has no model of that alias

The message is one or more whole sentences for the operator, and says what to do where
something can be done.
"""

from __future__ import annotations


class WeightsError(Exception):
    """Base of every reason not to start with the model that was asked for."""


class UnknownModel(WeightsError):
    """Nothing in the catalogue has that alias."""
