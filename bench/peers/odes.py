"""The two posteriors of parameters of ordinary differential equations.

Data are the solution itself at `truth`, without noise, so that every framework has the same;
the log density is -SS / (2 variance), SS the sum of squared differences from the data. States
and parameters are tuples of arrays, one entry per sample, so that one formula serves all.
"""

from dataclasses import dataclass
from functools import cache
from typing import Callable

import numpy as np

# A sum of squares beyond this, or none at all (the solution overflowed), counts as this
# constant, with no gradient.
CAP = 1e4


@dataclass(frozen=True)
class Ode:
    field: Callable  # derivative of a state, given parameters
    start: Callable  # state at time 0, given parameters
    dt: float
    steps: int
    every: int  # steps between observations
    observed: tuple  # numbers of the observed components
    variance: float
    truth: tuple

    def step(self, x, p):
        """One fourth-order Runge-Kutta step."""

        def ahead(by, k):
            return tuple(x_i + by * k_i for x_i, k_i in zip(x, k))

        k1 = self.field(x, p)
        k2 = self.field(ahead(0.5 * self.dt, k1), p)
        k3 = self.field(ahead(0.5 * self.dt, k2), p)
        k4 = self.field(ahead(self.dt, k3), p)
        mean = (a + 2.0 * (b + c) + d for a, b, c, d in zip(k1, k2, k3, k4))
        return ahead(self.dt / 6.0, mean)

    @cache
    def data(self):
        """The observed components after each step (steps by components)."""
        x, rows = self.start(self.truth), []
        for _ in range(self.steps):
            x = self.step(x, self.truth)
            rows.append([x[i] for i in self.observed])
        return np.array(rows)

    def weights(self):
        """1 after a step with an observation, 0 after the others."""
        return (np.arange(1, self.steps + 1) % self.every == 0).astype(float)


def hiv_field(x, p):
    infection = 4.1 * x[0] * x[2]
    return (
        p[0] - p[1] * x[0] - infection,
        infection - 10.2 * x[1],
        10.2 * p[0] * x[1] - 2.6 * x[2],
    )


def hiv_start(p):
    zero = 0.0 * p[0]
    return (zero, p[2], zero + 1.0)


def lorenz_field(x, p):
    s, b, r = p
    return (s * (x[1] - x[0]), x[0] * (r - x[2]) - x[1], x[0] * x[1] - b * x[2])


def lorenz_start(p):
    one = 0.0 * p[0] + 1.0
    return (one, one, one)


HIV = Ode(hiv_field, hiv_start, 0.05, 40, 1, (2,), 0.0005, (1.2, 0.8, 1.5))
LORENZ = Ode(lorenz_field, lorenz_start, 0.025, 60, 2, (0, 1, 2), 0.2, (10.0, 8.0 / 3.0, 28.0))
