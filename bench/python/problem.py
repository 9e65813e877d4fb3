"""The posteriors of the benchmarks in JAX, as functions of one point: log prior and log likelihood.

HIV is the density `hiv` of the registry (Example 5 of the paper), Lotka-Volterra is
models/lotka_volterra.toml. Both have all constants of their densities, so that log Z can be compared.
The solver is Runge and Kutta's of fourth order by `lax.scan`. Needs JAX alone, in double precision.
"""

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)

MODELS = Path(__file__).resolve().parents[2] / "models"
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Problem:
    name: str
    names: list
    log_prior: Callable
    log_likelihood: Callable
    bounds: dict  # by name, as adaann.fit takes them
    mean: list  # of the posterior, exact or from long chains
    sd: list
    log_z: float  # or None
    split: int  # the coordinate whose sign tells the modes apart, or None
    width: list  # of one mode, in unbounded coordinates: for samplers that have no step size of their own
    draw_prior: Callable  # from a generator of NumPy and a count: points (n, d)
    from_cube: Callable  # from the unit cube (n, d) to the prior, for nested samplers

    @property
    def dim(self):
        return len(self.names)

    def log_density(self, x):
        return self.log_prior(x) + self.log_likelihood(x)

    # All bounds are lower bounds of 0, so the logarithm is unbounded.

    def bounded(self, y):
        return jnp.exp(y) if self.bounds else y

    def log_jacobian(self, y):
        return jnp.sum(y) if self.bounds else 0.0

    def log_density_unbounded(self, y):
        return self.log_density(self.bounded(y)) + self.log_jacobian(y)


def normal(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - jnp.log(sd) - HALF_LOG_TAU


def lognormal(x, mean, sd):
    return normal(jnp.log(x), mean, sd) - jnp.log(x)


def columns(name):
    with open(MODELS / "data" / name, newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def step(field, x, p, dt):
    """One fourth-order Runge-Kutta step."""
    ahead = lambda by, k: tuple(x_i + by * k_i for x_i, k_i in zip(x, k))  # noqa: E731
    k1 = field(x, p)
    k2 = field(ahead(0.5 * dt, k1), p)
    k3 = field(ahead(0.5 * dt, k2), p)
    k4 = field(ahead(dt, k3), p)
    return ahead(dt / 6.0, tuple(a + 2.0 * (b + c) + d for a, b, c, d in zip(k1, k2, k3, k4)))


def hiv():
    data, sd = columns("hiv.csv")["x3"], math.sqrt(0.0005)
    prior_sd = np.array([2.0, 3.0, 2.0])

    def field(x, p):
        infected = 4.1 * x[0] * x[2]
        return p[0] - p[1] * x[0] - infected, infected - 10.2 * x[1], 10.2 * p[0] * x[1] - 2.6 * x[2]

    def log_prior(z):
        return jnp.sum(normal(z, 0.0, prior_sd))

    def log_likelihood(z):
        p = (z[0], z[1], z[2])

        def one(x, _):
            x = step(field, x, p, 0.05)
            return x, x[2]

        _, virus = lax.scan(one, (0.0 * z[0], z[2], 0.0 * z[0] + 1.0), None, length=len(data))
        return jnp.sum(normal(virus, data, sd))

    def from_cube(u):
        from scipy.special import ndtri

        return ndtri(u) * prior_sd

    return Problem(
        "hiv", ["p1", "p2", "x2_0"], log_prior, log_likelihood, {},
        # By quadrature: adaann.density("hiv"), against which overhead.py checks this function.
        [0.0, 0.4512056355, 0.0], [1.1592292968, 0.1796666514, 1.5636753796], 85.1366698, 0, [0.024, 0.18, 0.042],
        lambda rng, n: rng.normal(size=(n, 3)) * prior_sd, from_cube,
    )  # fmt: skip


def lotka_volterra(substeps=10):
    """Hares and lynxes. With ten steps per year, log densities agree with the model file to 4e-4 in the posterior,
    and with twenty to 3e-4, the error that the tolerance of its solver allows."""
    data = columns("hudson_bay.csv")
    counts = np.log(np.stack([data["hares"], data["lynxes"]]))
    mean, sd = np.array([1.0, 0.05, 1.0, 0.05]), np.array([0.5, 0.05, 0.5, 0.05])
    # The mass of a normal density above 0.
    cut = sum(math.log(0.5 * math.erfc(-m / s / math.sqrt(2.0))) for m, s in zip(mean, sd))
    log_mean = np.array([math.log(10.0), math.log(10.0), -1.0, -1.0])

    def field(x, p):
        u, v = x
        return (p[0] - p[1] * v) * u, (-p[2] + p[3] * u) * v

    def log_prior(z):
        return jnp.sum(normal(z[:4], mean, sd)) - cut + jnp.sum(lognormal(z[4:], log_mean, 1.0))

    def log_likelihood(z):
        p = (z[0], z[1], z[2], z[3])

        def year(x, _):
            x = lax.fori_loop(0, substeps, lambda _, x: step(field, x, p, 1.0 / substeps), x)
            return x, x

        start = (z[4], z[5])
        _, (u, v) = lax.scan(year, start, None, length=counts.shape[1] - 1)
        u = jnp.log(jnp.concatenate([z[4:5], u]))
        v = jnp.log(jnp.concatenate([z[5:6], v]))
        of_data = jnp.sum(counts)
        return jnp.sum(normal(counts[0], u, z[6])) + jnp.sum(normal(counts[1], v, z[7])) - of_data

    def from_cube(u):
        from scipy.special import ndtr, ndtri

        low = ndtr(-mean / sd)
        head = mean + sd * ndtri(low + u[..., :4] * (1.0 - low))
        return np.concatenate([head, np.exp(log_mean + ndtri(u[..., 4:]))], axis=-1)

    names = ["theta1", "theta2", "theta3", "theta4", "u0", "v0", "sigma1", "sigma2"]
    return Problem(
        "lotka-volterra", names, log_prior, log_likelihood, {name: (0.0, None) for name in names},
        # A long run of NUTS, independent of this code.
        [0.5469, 0.02775, 0.8001, 0.02409, 34.035, 5.936, 0.2481, 0.2510],
        [0.0631, 0.00415, 0.0894, 0.00353, 2.917, 0.531, 0.0433, 0.0436], None, None,
        [0.115, 0.15, 0.112, 0.147, 0.086, 0.09, 0.175, 0.174],
        lambda rng, n: from_cube(rng.uniform(size=(n, 8))), from_cube,
    )  # fmt: skip


PROBLEMS = {"hiv": hiv, "lotka-volterra": lotka_volterra}
