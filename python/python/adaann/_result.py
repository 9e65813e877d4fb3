"""The results of fits: draws, evidence, modes and verdicts."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._shapes import flattened, grouped
from ._weighted import LEVELS, described
from ._words import as_arguments
from .targets import Adapter

Numbers = NDArray[np.float64]


class Evidence(NamedTuple):
    """log of the integral of the unnormalised density, and its standard error."""

    value: float
    error: float


@dataclass(frozen=True)
class Reason:
    """A finding and a remedy to try. `code` identifies the finding and stays stable between versions."""

    code: str
    finding: str
    remedy: str


@dataclass(frozen=True)
class Verdict:
    """How far to trust the result, with the reasons.

    `trust` is `reliable` (the modes that were found are described correctly, and the search would have found others),
    `local` (described correctly, but other modes are not ruled out), `care` or `distrust`. A verdict is true in a
    condition only if it is `reliable`.
    """

    trust: str
    reasons: list[Reason]
    #: A description of what the check can detect and what it can miss.
    coverage: str | None
    #: The share of modes planted at random that the search would have found, from 0 to 1; None if not measured.
    power: float | None

    def __bool__(self) -> bool:
        return self.trust == "reliable"

    def __str__(self) -> str:
        power = "" if self.power is None else f" (power {math.floor(100 * self.power)} %)"
        lines = [self.trust.upper() + power]
        for reason in self.reasons:
            lines.append(f"  {reason.finding}: {reason.remedy}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Mode:
    """A peak that the check found, and the probability mass around it."""

    location: dict[str, float]
    weight: float
    weight_error: float | None

    def __str__(self) -> str:
        place = ", ".join(f"{name} = {value:.5g}" for name, value in self.location.items())
        error = "" if self.weight_error is None else f" ± {self.weight_error:.3f}"
        return f"mode {self.weight:.3f}{error} at {place}"


class Draws(Mapping[str, Numbers]):
    """Weighted draws by name.

    The elements of a vector or matrix are one array. The first axis of each array runs over the draws.
    """

    def __init__(self, columns: list[str], rows: Numbers, weights: Numbers) -> None:
        self._columns = columns
        self._rows = rows
        self._arrays = grouped(columns, rows)
        #: The weight of each draw; they sum to 1.
        self.weights = weights

    def __getitem__(self, name: str) -> Numbers:
        if name in self._columns:
            return np.asarray(self._rows[self._columns.index(name)])
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    @property
    def columns(self) -> list[str]:
        """The names of the single columns, such as `beta[1]`."""
        return list(self._columns)

    @property
    def array(self) -> Numbers:
        """All columns as one array of shape (draws, columns)."""
        return self._rows.T

    def mean(self, name: str) -> Numbers:
        """The weighted mean of a variable."""
        return np.asarray(np.tensordot(self.weights, self[name], axes=1))

    def sd(self, name: str) -> Numbers:
        """The weighted standard deviation of a variable."""
        away = (self[name] - self.mean(name)) ** 2
        return np.asarray(np.sqrt(np.tensordot(self.weights, away, axes=1)))

    def chosen(self, indices: ArrayLike) -> Draws:
        """The draws at these indices, with equal weights."""
        rows = np.ascontiguousarray(self._rows[:, np.asarray(indices, dtype=np.intp)])
        count = rows.shape[1]
        return Draws(self._columns, rows, np.full(count, 1.0 / max(count, 1)))

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with one column for each name and a column `weight`."""
        import pandas

        return pandas.DataFrame({**dict(zip(self._columns, self._rows, strict=True)), "weight": self.weights})

    def __repr__(self) -> str:
        shapes = ", ".join(
            f"{name} ({'×'.join(map(str, array.shape[1:]))})" if array.ndim > 1 else name
            for name, array in self._arrays.items()
        )
        return f"<{len(self.weights)} weighted draws of {shapes}>"


class Result:
    """The result of `adaann.fit`: draws, evidence, modes, and how far to trust them."""

    def __init__(self, answer: _core.Answer, adapter: Adapter | None) -> None:
        self._answer = answer
        self._adapter = adapter
        #: The contents of `summary.json` of a run folder.
        self.info: dict[str, Any] = json.loads(answer.summary())
        self._cost = answer.cost()

    @cached_property
    def draws(self) -> Draws:
        """Weighted draws of parameters and derived quantities, on the constrained scale."""
        return self._named(self._answer.points(), self._answer.quantities(), self._answer.weights())

    def _named(self, points: Numbers, quantities: Numbers | None, weights: Numbers) -> Draws:
        """Draws named by the variables of a PyMC or Stan model, or by the coordinates of the target."""
        constrain = getattr(self._adapter, "constrain", None)
        if constrain is None:
            return Draws(self._answer.columns(), _both(points, quantities), weights)
        return Draws(*flattened(constrain(np.ascontiguousarray(points))), weights)

    def resampled(self, n: int | None = None, seed: int = 1) -> Draws:
        """Resamples the draws to equal weights, for code that does not support weights."""
        count = len(self.draws.weights) if n is None else _count("n", n)
        return self.draws.chosen(self._answer.resampled(count, seed))

    def sample(self, n: int, seed: int = 1) -> Draws:
        """Generates new draws with equal weights."""
        points, quantities = self._answer.sample(_count("n", n), seed)
        return self._named(points, quantities, np.full(n, 1.0 / n))

    @property
    def log_evidence(self) -> Evidence | None:
        """log Z with its standard error, or None if the method does not estimate it."""
        value, error = self.info.get("log_z"), self.info.get("log_z_error")
        return None if value is None or error is None else Evidence(value, error)

    @property
    def verdict(self) -> Verdict:
        """How far to trust the result."""
        found = self.info["verdict"]
        reasons = [
            Reason(reason["finding_code"], as_arguments(reason["finding"]), as_arguments(reason["remedy"]))
            for reason in found["reasons"]
        ]
        return Verdict(found["trust"], reasons, self.info.get("sight"), found.get("power"))

    @property
    def modes(self) -> list[Mode]:
        """The modes that were found, heaviest first."""
        found = self.info["found_modes"]
        if not found:
            return []
        places = np.array([mode["location"] for mode in found]).T
        named = self._named(places, None, np.ones(len(found))) if self._is_constrained else None
        names = named.columns if named else [parameter["name"] for parameter in self.info["parameters"]]
        rows = named.array if named else places.T
        return [
            Mode(dict(zip(names, map(float, row), strict=True)), mode["weight"], mode.get("weight_error"))
            for mode, row in zip(found, rows, strict=True)
        ]

    @property
    def _is_constrained(self) -> bool:
        return hasattr(self._adapter, "constrain")

    @property
    def warnings(self) -> list[str]:
        """The warnings that `adaann.fit` issued."""
        return [as_arguments(text) for text in self.info["warnings"]]

    @property
    def method(self) -> str:
        """The method that produced the result."""
        return str(self.info["method"])

    @property
    def evaluations(self) -> int:
        """The number of points at which the target was evaluated, including the check and finite differences."""
        if self._cost is not None:
            return self._cost[1]
        return int(self.info["target_evaluations"]) + int(self.info["check_evaluations"])

    @property
    def stopped(self) -> bool:
        """Was the run stopped before it finished?"""
        return bool(self.info["stopped"])

    def log_density(self, x: ArrayLike) -> Numbers:
        """The normalised log density of the approximation at points of shape (n, d) or (d,).

        Points are in the coordinates of the target. For PyMC and Stan models these are the unconstrained parameters.
        """
        points, is_one = _points(x)
        found = self._answer.log_q_at(points)
        return found[0] if is_one else found

    def target_log_density(self, x: ArrayLike) -> Numbers:
        """The unnormalised log density of the target at points of shape (n, d) or (d,)."""
        points, is_one = _points(x)
        found = self._answer.log_p_at(points)
        return found[0] if is_one else found

    def table(self) -> list[dict[str, Any]]:
        """Mean and standard deviation, with their standard errors, and quantiles of each parameter and quantity."""
        if self._is_constrained:
            draws = self.draws
            chains = self.info.get("chains") or {}
            per_effective = chains.get("draws_per_effective") or 1.0
            return [described(name, draws[name], draws.weights, per_effective) for name in draws.columns]
        rows = []
        for entry in [*self.info["parameters"], *self.info.get("quantities", [])]:
            row = {key: entry[key] for key in ("name", "mean", "mean_error", "sd", "sd_error")}
            row.update(zip(LEVELS, entry["quantiles"], strict=True))
            rows.append(row)
        return rows

    def summary(self) -> Any:
        """The same as `table`, as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.table()).set_index("name")

    def to_arviz(self) -> Any:
        """Converts the draws for ArviZ: to InferenceData, or to a DataTree from ArviZ 1."""
        from ._arviz import converted

        return converted(self)

    def plot_corner(self, **options: Any) -> Any:
        """Plots weighted marginals and pairs of the parameters, as a matplotlib figure."""
        from ._corner import drawn

        return drawn(self, **options)

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """Returns the HTML report of the run, and writes it to `path` if given."""
        page = self._answer.page()
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def save(self, folder: str | os.PathLike[str], force: bool = False) -> None:
        """Saves the result as a run folder, which `adaann.load` and the command line can read."""
        self._answer.save(os.fspath(folder), force)

    def _repr_html_(self) -> str:
        page = self.report().replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" width="100%" height="700" style="border:0"></iframe>'

    def __repr__(self) -> str:
        evidence = self.log_evidence
        says = f", log Z {evidence.value:.3f} ± {evidence.error:.3f}" if evidence else ""
        return f"<adaann.Result of {self.info['target']} by {self.method}: {self.verdict.trust}{says}>"

    def __str__(self) -> str:
        width = max(len(row["name"]) for row in self.table())
        lines = [repr(self)[1:-1]]
        for row in self.table():
            numbers = "  ".join(f"{row[key]:>11.5g}" for key in ("mean", "sd"))
            lines.append(f"  {row['name']:<{width}}  {numbers}")
        lines += [f"  {mode}" for mode in self.modes]
        lines.append(f"Verdict {self.verdict}")
        return "\n".join(lines)


class Particles:
    """The result of `adaann.smc`: weighted particles and the evidence."""

    def __init__(self, particles: _core.Particles) -> None:
        #: The contents of `summary.json` of `adaann smc`.
        self.info: dict[str, Any] = json.loads(particles.summary())
        #: Weighted particles by name.
        self.draws = Draws(
            particles.columns(), _both(particles.points(), particles.quantities()), particles.weights()
        )
        #: The unnormalised log density at each particle.
        self.log_p = particles.log_p()

    @property
    def log_evidence(self) -> Evidence:
        """log Z with its standard error."""
        return Evidence(self.info["log_z"], self.info["log_z_error"])

    def __repr__(self) -> str:
        value, error = self.log_evidence
        return f"<adaann.Particles of {self.info['target']}: log Z {value:.3f} ± {error:.3f}>"


def _both(points: Numbers, quantities: Numbers | None) -> Numbers:
    return points if quantities is None else np.concatenate([points, quantities])


def _points(x: ArrayLike) -> tuple[Numbers, bool]:
    array = np.asarray(x, dtype=np.float64)
    return np.ascontiguousarray(np.atleast_2d(array)), array.ndim == 1


def _count(name: str, value: int) -> int:
    if value < 1:
        raise ValueError(f"{name} is {value}, but must be at least 1")
    return int(value)
