"""The target interface of the engine, and the base class of all adapters."""

from __future__ import annotations

from typing import Any, Optional, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: The support of a coordinate: ("real",), ("above", low), ("below", high), ("between", low, high),
#: ("after",) for above the coordinate before it, or ("share", index, of) for a part of a simplex.
Support = tuple[Any, ...]

#: Log prior (n,), log likelihood (n,), and their gradients (dim, n).
Parts = tuple[Optional[Array], Array, Optional[Array], Optional[Array]]


class Adapter(Protocol):
    """A log density of a batch of points, with the properties that the engine needs."""

    dim: int
    names: list[str]
    supports: list[Support]
    has_prior: bool
    """Whether prior and likelihood are separate."""
    has_proper_prior: bool
    """Whether the prior integrates to 1. Ignored without a prior."""
    gives_gradient: bool
    notes: list[str]
    """Short descriptions of how the target is evaluated."""

    def evaluate(self, points: Array, gradient: bool) -> Parts:
        """Log densities at `points` of shape (dim, n), with gradients of shape (dim, n) on request.

        Without a prior the second entry is the whole log density. The method must not modify the points or keep a
        reference to them.
        """
        ...

    def close(self) -> None:
        """Stops the processes that the adapter has started."""
        ...


class Coordinates(Protocol):
    """Names and supports of all coordinates."""

    names: list[str]
    supports: list[Support]


class Target:
    """The attributes of an adapter, with default values."""

    has_prior: bool = False
    has_proper_prior: bool = True
    gives_gradient: bool = True

    def __init__(self, coordinates: Coordinates) -> None:
        self.names = list(coordinates.names)
        self.supports = list(coordinates.supports)
        self.dim = len(self.names)
        self.notes: list[str] = []

    def close(self) -> None:
        """Does nothing by default."""
