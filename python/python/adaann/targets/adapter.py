"""What the engine asks of a target, and what all adapters have in common."""

from __future__ import annotations

from typing import Any, Optional, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Where a coordinate may lie: ("real",), ("above", low), ("below", high), ("between", low, high),
#: ("after",) for above the coordinate before it, or ("share", index, of) for a part of a simplex.
Support = tuple[Any, ...]

#: Log prior (n,), log likelihood (n,), and their gradients (dim, n).
Parts = tuple[Optional[Array], Array, Optional[Array], Optional[Array]]


class Adapter(Protocol):
    """A log density of a batch of points, with what the engine has to know about it."""

    dim: int
    names: list[str]
    supports: list[Support]
    has_prior: bool
    """Whether prior and likelihood are given apart."""
    has_proper_prior: bool
    """Whether the prior integrates to 1; says nothing where there is no prior."""
    gives_gradient: bool
    notes: list[str]
    """How it is evaluated, in a few words."""

    def evaluate(self, points: Array, gradient: bool) -> Parts:
        """Log densities at `points` of shape (dim, n), and gradients of shape (dim, n) if asked for.

        Without a prior the second entry is the whole log density. The points are neither changed
        nor kept.
        """
        ...

    def close(self) -> None:
        """Ends what the adapter itself has started."""
        ...


class Coordinates(Protocol):
    """Names and supports of all coordinates."""

    names: list[str]
    supports: list[Support]


class Target:
    """The attributes of an adapter, with the values that most have."""

    has_prior: bool = False
    has_proper_prior: bool = True
    gives_gradient: bool = True

    def __init__(self, coordinates: Coordinates) -> None:
        self.names = list(coordinates.names)
        self.supports = list(coordinates.supports)
        self.dim = len(self.names)
        self.notes: list[str] = []

    def close(self) -> None:
        """Nothing was started."""
