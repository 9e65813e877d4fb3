"""Schedules by their names, each with its settings: `adaann.schedules.adaann(t0=0.01, tau=0.05)`.

A schedule may also be a function `(t, log_density, weights) -> next t`: `log_density` has the part b of log p_t =
a + t b at draws of the flow at t, and `weights` is None where they are equal. It begins at `t0`, a setting of
`adaann.fit`, and must grow. Schedules choose the paper's Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable

from . import _choices


def names() -> dict[str, str]:
    """Every schedule, with a line on what it does."""
    return _choices.names("schedule")


def __getattr__(name: str) -> Callable[..., _choices.Choice]:
    return _choices.found("schedule", name)


def __dir__() -> list[str]:
    return ["names", *(name.replace("-", "_") for name in names())]
