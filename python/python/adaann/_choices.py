"""Choices with settings of their own: a flow with its layers, a schedule with its tolerance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core


class Choice(dict[str, Any]):
    """Several settings passed to `adaann.fit` as one argument: `flow=adaann.flows.planar(layers=50)`."""


def names(setting: str) -> dict[str, str]:
    """The possible values of a setting, each with a one-line description."""
    for name, _, choices in _core.settings():
        if name == setting:
            return dict(choices)
    raise KeyError(setting)


def chooser(setting: str, name: str, about: str) -> Callable[..., Choice]:
    """Returns a function that chooses this name, with the settings that belong to it."""

    def choose(**settings: Any) -> Choice:
        return Choice({setting: name, **settings})

    choose.__name__ = choose.__qualname__ = name.replace("-", "_")
    choose.__doc__ = about
    return choose


def found(setting: str, attribute: str) -> Callable[..., Choice]:
    """Looks up an attribute of `adaann.flows` or `adaann.schedules`."""
    for name, about in names(setting).items():
        if name.replace("-", "_") == attribute:
            return chooser(setting, name, about)
    raise AttributeError(f"there is no {setting} called {attribute}; choose one of {', '.join(names(setting))}")
