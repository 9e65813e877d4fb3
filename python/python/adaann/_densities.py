"""Densities with known answers, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core


@dataclass(frozen=True)
class Density:
    """A density of the registry, to be fitted or compared with; what is not known is None."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    def _known(self) -> dict[str, object]:
        return _core.density_log_p(self.name, list(self.parameters.items()))

    @property
    def names(self) -> list[str]:
        """The coordinates' names."""
        return self._known()["names"]  # type: ignore[return-value]

    @property
    def log_evidence(self) -> float | None:
        """log of the integral of the density as it is."""
        return self._known()["log_evidence"]  # type: ignore[return-value]

    @property
    def mean(self) -> list[float] | None:
        """The mean of each coordinate."""
        return self._known()["mean"]  # type: ignore[return-value]

    @property
    def sd(self) -> list[float] | None:
        """The standard deviation of each coordinate."""
        return self._known()["sd"]  # type: ignore[return-value]

    @property
    def modes(self) -> list[tuple[list[float], float]]:
        """Where the modes are, and the mass of each."""
        return self._known()["modes"]  # type: ignore[return-value]

    def log_density(self, points: ArrayLike) -> NDArray[np.float64]:
        """log p at points of shape (n, d), not normalised."""
        batch = np.ascontiguousarray(np.atleast_2d(points), dtype=np.float64)
        found = _core.density_log_p(self.name, list(self.parameters.items()), batch)
        return np.asarray(found["log_density"])


def densities() -> dict[str, str]:
    """The names of all densities, each with a line on what it is."""
    return {name: about for name, about, _ in _core.densities()}


def density(name: str, **parameters: float) -> Density:
    """The density of a name, with parameters of its own: `adaann.density("gaussian", dim=5)`.

    In names of parameters `_` stands for `-`.
    """
    found = Density(name, {key.replace("_", "-"): float(value) for key, value in parameters.items()})
    found._known()  # a name that is none is told here
    return found
