"""Simulation-based calibration of a model file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from . import _core
from ._data import as_file
from ._words import words


@dataclass(frozen=True)
class Calibration:
    """Whether the draws of many fits spread around the truth as they should."""

    #: All that `summary.json` of `adaann calibrate` says.
    info: dict[str, Any]


def calibrate(
    model: str | os.PathLike[str],
    n: int = 100,
    *,
    data: Any = None,
    seed: int = 1,
    draws: int | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Calibration:
    """Fits data that a model makes itself, `n` times, and ranks the truth among the draws.

    Settings of `adaann.fit` hold for each of the fits. With `out` the trials are kept there, and the same call
    goes on after a kill; a larger `n` adds trials.
    """
    flags = words(settings)
    _core.check(flags)
    own = words({"seed": seed, "draws": draws, "threads": threads})
    with as_file(data) as file, TemporaryDirectory(prefix="adaann-") as scratch:
        place = Path(out) if out is not None else Path(scratch) / "calibration"
        arguments = ["adaann", "calibrate", os.fspath(model), "-n", str(n), "--quiet", "--out", str(place)]
        arguments += [f"--{name}={value}" for name, value in own]
        arguments += ["--data", file] if file is not None else []
        arguments += ["--", *(_flag(name, value) for name, value in flags if value is not False)]
        _core.quietly(arguments)
        return Calibration(json.loads((place / "summary.json").read_text(encoding="utf-8")))


def _flag(name: str, value: str | bool) -> str:
    flag = "--" + name.replace("_", "-")
    return flag if value is True else f"{flag}={value}"
