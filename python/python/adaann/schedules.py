"""Annealing schedules with their settings: `adaann.schedules.adaann(t0=0.01, tau=0.05)`.

A schedule may also be a function `(t, log_density, weights) -> next t`. For log p_t = a + t b, the argument
`log_density` contains b at draws of the flow at t, and `weights` contains their weights, or is None if these are
equal. The schedule starts at `t0`, a setting of `adaann.fit`, and every step must increase t. Passing a schedule
selects the paper's Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable

from . import _choices


def names() -> dict[str, str]:
    """The names of all schedules, each with a one-line description."""
    return _choices.names("schedule")


def __getattr__(name: str) -> Callable[..., _choices.Choice]:
    return _choices.found("schedule", name)


def __dir__() -> list[str]:
    return ["names", *(name.replace("-", "_") for name in names())]
