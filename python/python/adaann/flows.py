"""Normalising flows with their settings: `adaann.fit(target, flow=adaann.flows.planar(layers=50))`.

`adaann.flows.names()` lists them. Passing a flow selects the paper's Algorithm 1, which trains it.
"""

from __future__ import annotations

from collections.abc import Callable

from . import _choices


def names() -> dict[str, str]:
    """The names of all flows, each with a one-line description."""
    return _choices.names("flow")


def __getattr__(name: str) -> Callable[..., _choices.Choice]:
    return _choices.found("flow", name)


def __dir__() -> list[str]:
    return ["names", *(name.replace("-", "_") for name in names())]
