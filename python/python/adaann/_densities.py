"""Built-in densities with known properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core


@dataclass(frozen=True)
class Density:
    """A built-in density, to fit or to compare with. Properties that are not known are None."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    def _known(self) -> dict[str, object]:
        return _core.density_log_p(self.name, list(self.parameters.items()))

    @property
    def names(self) -> list[str]:
        """The names of the coordinates."""
        return self._known()["names"]  # type: ignore[return-value]

    @property
    def log_evidence(self) -> float | None:
        """log of the integral of the density, which need not be normalised."""
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
        """The location and the mass of each mode."""
        return self._known()["modes"]  # type: ignore[return-value]

    def log_density(self, points: ArrayLike) -> NDArray[np.float64]:
        """The unnormalised log density at points of shape (n, d)."""
        batch = np.ascontiguousarray(np.atleast_2d(points), dtype=np.float64)
        found = _core.density_log_p(self.name, list(self.parameters.items()), batch)
        return np.asarray(found["log_density"])


def densities() -> dict[str, str]:
    """The names of all built-in densities, each with a one-line description."""
    return {name: about for name, about, _ in _core.densities()}


def density(name: str, **parameters: float) -> Density:
    """Returns a built-in density by its name, with its parameters: `adaann.density("gaussian", dim=5)`.

    Write `_` for `-` in the names of parameters.
    """
    found = Density(name, {key.replace("_", "-"): float(value) for key, value in parameters.items()})
    found._known()  # raises for an unknown name or parameter
    return found
