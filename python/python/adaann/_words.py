"""Conversion between Python arguments and the settings of the engine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

_CHOICE = "smc|flow|mixture|chains|ladder|bridge|likelihood|power|spline"
_FLAG = re.compile(rf"--([a-z][a-z0-9-]*)(?: (?:({_CHOICE})\b|([0-9]+(?:\.[0-9]+)?)))?")


def as_arguments(text: str) -> str:
    """Replaces command-line flags in a message by Python arguments: `method="smc"` for `--method smc`.

    >>> as_arguments("search longer (--search 10: ten times the evaluations)")
    'search longer (search=10: ten times the evaluations)'
    """

    def argument(flag: re.Match[str]) -> str:
        name = flag[1].replace("-", "_")
        if flag[3]:
            return f"{name}={flag[3]}"
        return f'{name}="{flag[2]}"' if flag[2] else name

    return _FLAG.sub(argument, text.replace("`adaann smc`", "adaann.smc"))


def words(settings: Mapping[str, Any]) -> list[tuple[str, str | bool]]:
    """Formats settings for the engine and omits those that are None."""
    return [(name, word(name, value)) for name, value in settings.items() if value is not None]


def word(name: str, value: Any) -> str | bool:
    """Formats a value for the engine: switches stay bool, and numbers become text that round-trips."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, Iterable):
        return ",".join(repr(float(number)) for number in value)
    raise TypeError(f"{name} is a {type(value).__name__}, but must be a number, a string, a list or a bool")
