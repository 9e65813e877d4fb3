"""Choices that bring settings of their own along: a flow with its layers, a schedule with its tolerance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core


class Choice(dict[str, Any]):
    """Settings that `adaann.fit` takes as one: `flow=adaann.flows.planar(layers=50)`."""


def names(setting: str) -> dict[str, str]:
    """The names that a setting may have, each with a line on what it is."""
    for name, _, choices in _core.settings():
        if name == setting:
            return dict(choices)
    raise KeyError(setting)


def chooser(setting: str, name: str, about: str) -> Callable[..., Choice]:
    """A function that chooses this name, with settings that belong to it."""

    def choose(**settings: Any) -> Choice:
        return Choice({setting: name, **settings})

    choose.__name__ = choose.__qualname__ = name.replace("-", "_")
    choose.__doc__ = about
    return choose


def found(setting: str, attribute: str) -> Callable[..., Choice]:
    """What the module of a setting has under a name of Python's."""
    for name, about in names(setting).items():
        if name.replace("-", "_") == attribute:
            return chooser(setting, name, about)
    raise AttributeError(f"there is no {setting} called {attribute}; there are {', '.join(names(setting))}")
