"""An asymmetric log prior and log likelihood in two dimensions with their gradients, and functions that pool
workers can import."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def log_prior(x: Any) -> Any:
    """Of points (n, 2)."""
    return -((x[:, 0] - 1.0) ** 2) / 2 - (x[:, 1] + 2.0) ** 2 / 8


def log_likelihood(x: Any) -> Any:
    """Of points (n, 2)."""
    return -1.5 * (x[:, 1] - x[:, 0] ** 2) ** 2 + 0.3 * x[:, 0] * x[:, 1]


def prior_slope(x: Any) -> Any:
    """The gradient of `log_prior`, (n, 2)."""
    return np.stack([-(x[:, 0] - 1.0), -(x[:, 1] + 2.0) / 4], axis=1)


def likelihood_slope(x: Any) -> Any:
    """The gradient of `log_likelihood`, (n, 2)."""
    r = x[:, 1] - x[:, 0] ** 2
    return np.stack([6 * r * x[:, 0] + 0.3 * x[:, 1], -3 * r + 0.3 * x[:, 0]], axis=1)


def both(x: Any) -> tuple[Any, Any]:
    """Log likelihood and its gradient."""
    return log_likelihood(x), likelihood_slope(x)


def both_of_prior(x: Any) -> tuple[Any, Any]:
    """Log prior and its gradient."""
    return log_prior(x), prior_slope(x)


def points(n: int, seed: int = 1, dim: int = 2) -> Any:
    """Points as the engine passes them: (dim, n), rows contiguous."""
    return np.random.default_rng(seed).normal(size=(dim, n))


def dies(x: Any) -> Any:
    """Ends its process where the first coordinate is above 1."""
    if np.any(x[:, 0] > 1):
        os._exit(3)
    return log_likelihood(x)


def raises(x: Any) -> Any:
    """Raises where the first coordinate is above 10."""
    if np.any(x[:, 0] > 10):
        raise ZeroDivisionError("the solver has stopped")
    return log_likelihood(x)


class Odd(Exception):
    """An exception that can be pickled but not unpickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def raises_oddly(x: Any) -> Any:
    """Raises `Odd`."""
    raise Odd("not", " readable")


class Counted:
    """A log likelihood that appends the id of each process that unpickles it to a file."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __call__(self, x: Any) -> Any:
        return log_likelihood(x)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with open(self.file, "a") as file:
            file.write(f"{os.getpid()}\n")
