"""NumPy functions of a whole batch, or of one point at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Optional, Union

import numpy as np

from . import returned
from .adapter import Array, Coordinates, Parts, Target
from .blame import blame, describe

Function = Callable[[Any], Any]
#: None or False: no gradient. True: the function also returns it. Otherwise a separate function.
Gradient = Union[None, bool, Function]
Half = tuple[Array, Optional[Array]]


class Batch:
    """A function `(n, d) -> (n,)`, with the gradient that the user supplies."""

    def __init__(self, what: str, function: Function, gradient: Gradient, names: list[str]) -> None:
        self.what, self.function, self.gradient, self.names = what, function, gradient, names
        name = what[0].lower() + what[1:]
        self.whose = f"The gradient of {name}" if callable(gradient) else f"As its gradient {name}"

    def __call__(self, points: Array, gradient: bool) -> Half:
        """Values (n,) at `points` of shape (d, n), with gradients (d, n) on request."""
        dim, n = points.shape
        result = self._call(self.function, points)
        slopes: Any = None
        if self.gradient is True:
            result, slopes = returned.pair(result, self.what)
        values = returned.array(result, (n,), self.what, "(n,)")
        if not gradient:
            return values, None
        if callable(self.gradient):
            slopes = self._call(self.gradient, points)
        return values, returned.array(slopes, (n, dim), self.whose, "(n, d)").T

    def _call(self, function: Function, points: Array) -> Any:
        def call(points: Array) -> Any:
            rows = points.T
            rows.flags.writeable = False
            return function(rows)

        try:
            return call(points)
        except Exception as error:
            blame(error, points, self.names, call)
            raise


class OneByOne(Batch):
    """A function `(d,) -> float`, called in a loop."""

    def __call__(self, points: Array, gradient: bool) -> Half:
        """As for a batch."""
        dim, n = points.shape
        values, slopes = np.empty(n), np.empty((n, dim)) if gradient else None
        rows = np.array(points.T, order="C")
        rows.flags.writeable = False
        for i, point in enumerate(rows):
            try:
                result = self.function(point)
                slope = self.gradient(point) if gradient and callable(self.gradient) else None
            except OverflowError:
                # The search tries distant points at which math.exp overflows. Treat them as outside the support.
                values[i] = -np.inf
                if slopes is not None:
                    slopes[i] = 0.0
                continue
            except Exception as error:
                error.add_note(f"adaann: raised at the point {describe(point, self.names)}")
                raise
            if self.gradient is True:
                result, slope = returned.pair(result, self.what)
            values[i] = returned.number(result, self.what)
            if slopes is not None:
                slopes[i] = returned.array(slope, (dim,), f"The gradient of {self.what}", "(d,)")
        return values, None if slopes is None else slopes.T


class NumpyFunction(Target):
    """A log density, or a log prior and a log likelihood, as functions of NumPy arrays.

    With a prior, `gradient` is None, True (both functions return it) or two functions: the gradients of the
    likelihood and of the prior. The prior is assumed to integrate to 1.
    """

    def __init__(
        self,
        coordinates: Coordinates,
        function: Function,
        prior: Function | None = None,
        gradient: Gradient | tuple[Function, Function] = None,
        vectorized: bool = True,
    ) -> None:
        super().__init__(coordinates)
        kind = Batch if vectorized else OneByOne
        own, of_prior = _gradients(gradient, prior is not None)
        self.has_prior = prior is not None
        self.gives_gradient = own is True or callable(own)
        self.likelihood = kind("The target", function, own, self.names)
        self.prior = None if prior is None else kind("The prior", prior, of_prior, self.names)
        if vectorized:
            self.notes.append("NumPy function of a batch")
        else:
            self.notes.append("Python function of one point, in a loop")
            warnings.warn(
                "adaann: with vectorized=False the interpreter is called once for each point, which takes "
                "microseconds per point and uses one core; a function of a whole batch is faster, and pool= is faster "
                "if one point takes a millisecond or more.",
                stacklevel=5,
            )
        if not self.gives_gradient:
            self.notes.append("gradient by differences")

    def evaluate(self, points: Array, gradient: bool) -> Parts:
        """Calls the user's functions and checks their results."""
        prior, prior_gradient = (None, None) if self.prior is None else self.prior(points, gradient)
        likelihood, likelihood_gradient = self.likelihood(points, gradient)
        return prior, likelihood, prior_gradient, likelihood_gradient


def _gradients(given: Any, has_prior: bool) -> tuple[Gradient, Gradient]:
    if given is None or given is False:
        return None, None
    if given is True:
        return True, True
    if has_prior:
        if isinstance(given, (tuple, list)) and len(given) == 2 and all(map(callable, given)):
            return given[0], given[1]
        raise TypeError(
            "With prior=, gradient= is True or two functions: the gradients of the likelihood and of the prior."
        )
    if not callable(given):
        raise TypeError(f"gradient is {given!r}; expected True or a function (n, d) -> (n, d).")
    function: Function = given
    return function, None
