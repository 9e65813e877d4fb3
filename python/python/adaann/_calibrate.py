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
    """The result of a calibration: do the draws of many fits spread around the true values correctly?"""

    #: The contents of `summary.json` of `adaann calibrate`.
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
    """Simulates data from a model file and fits it, `n` times, and ranks the true values among the draws.

    `data` replaces the data of the model file; its measurements are simulated. `draws` is the number of draws per
    fit among which the true value is ranked. The settings of `adaann.fit` apply to each fit. With `out`, the trials
    are saved in that folder: the same call resumes a calibration that was killed, and a larger `n` adds trials.
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
