"""A series, a Gaussian process and subjects with doses in JAX: the models of `bench/src/pieces.rs`.

Each is written in idiomatic JAX: `lax.scan` over the rows, `cholesky` of the covariance, and diffrax
(Dormand and Prince, the same tolerances, steps chosen by each trajectory) for the equations; `vmap` over the points,
`value_and_grad`, `jit`, double precision. Subjects are a second `vmap`. The equations are differentiated by
`RecursiveCheckpointAdjoint`; `ForwardMode` took about a hundred times as long. Prints one JSON line for each model.
"""

import json
import time

import jax

jax.config.update("jax_enable_x64", True)

import diffrax
import jax.numpy as jnp
import numpy as np
from jax import lax

POINTS = 256
SECONDS = 3.0
LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


def normal(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - jnp.log(sd) - LOG_ROOT


def lognormal(x, mean, sd):
    return normal(jnp.log(x), mean, sd) - jnp.log(x)


# A GARCH(1, 1) with a thousand rows: mu, alpha0, alpha1, beta1.
def garch():
    t = np.arange(1, 1001)
    y = jnp.asarray(0.2 + (1.0 + 0.5 * np.sin(0.05 * t)) * np.cos(1.3 * t * t))

    def log_density(p):
        mu, alpha0, alpha1, beta1 = p

        def row(carry, y):
            h, before = carry
            h = alpha0 + alpha1 * (before - mu) ** 2 + beta1 * h
            return (h, y), normal(y, mu, jnp.sqrt(h))

        _, rest = lax.scan(row, (jnp.ones(()), y[0]), y[1:])
        prior = normal(mu, 0.0, 1.0) + lognormal(alpha0, 0.0, 1.0)
        return prior + normal(y[0], mu, 1.0) + jnp.sum(rest)

    return log_density, np.array([0.2, 0.3, 0.2, 0.4]), np.array([0.1, 0.1, 0.1, 0.1])


# A Gaussian process at fifty points: alpha, rho, sigma.
def process():
    i = np.arange(1, 51)
    x = jnp.asarray(0.2 * i + 0.05 * np.sin(3.0 * i))
    y = jnp.asarray(np.sin(x) + 0.3 * np.cos(1.3 * i * i))
    square = (x[:, None] - x[None, :]) ** 2

    def log_density(p):
        alpha, rho, sigma = p
        covariance = alpha**2 * jnp.exp(-0.5 * square / rho**2) + sigma**2 * jnp.eye(50)
        factor = jnp.linalg.cholesky(covariance)
        z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        value = -0.5 * jnp.sum(z**2) - jnp.sum(jnp.log(jnp.diag(factor))) - 50 * LOG_ROOT
        return value + sum(lognormal(q, 0.0, 1.0) for q in (alpha, rho, sigma))

    return log_density, np.array([1.0, 1.0, 0.4]), np.array([0.2, 0.2, 0.1])


# Twelve subjects, two oral doses: log of absorption, elimination and volume of all, their spreads, and
# deviations of each.
SUBJECTS = 12
TIMES = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 12.5, 13.0, 14.0, 18.0, 24.0])


def subjects(adjoint):
    s = np.arange(1, SUBJECTS + 1)
    y = 3.0 + np.sin(s[:, None] + 2.0 * np.arange(len(TIMES))[None, :])
    y = jnp.asarray(y)
    first, second = jnp.asarray(TIMES[:5]), jnp.asarray(TIMES[5:])
    controller = diffrax.PIDController(rtol=1e-6, atol=1e-9)

    def rates(t, x, args):
        ka, ke = args
        return jnp.stack([-ka * x[0], ka * x[0] - ke * x[1]])

    def leg(x, t0, t1, times, args):
        save = diffrax.SaveAt(subs=[diffrax.SubSaveAt(ts=times), diffrax.SubSaveAt(t1=True)])
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(rates), diffrax.Dopri5(), t0, t1, None, x, args,
            saveat=save, stepsize_controller=controller, adjoint=adjoint, max_steps=4096,
        )
        return found.ys[0], found.ys[1][0]

    def subject(mean, sd, deviation, y):
        ka, ke, volume = jnp.exp(mean + sd * deviation)
        args = (ka, ke)
        dose = jnp.array([100.0, 0.0])
        early, x = leg(dose, 0.0, 12.0, first, args)
        late, _ = leg(x + dose, 12.0, 24.0, second, args)
        amount = jnp.concatenate([early[:, 1], late[:, 1]])
        return jnp.sum(normal(y, amount / volume, 0.5))

    def log_density(p):
        mean, sd = p[:3], p[3:6]
        deviations = p[6:].reshape(SUBJECTS, 3)
        prior = jnp.sum(normal(mean, jnp.array([0.0, -2.0, 3.0]), 1.0)) + jnp.sum(lognormal(sd, -1.0, 0.5))
        prior += jnp.sum(normal(deviations, 0.0, 1.0))
        return prior + jnp.sum(jax.vmap(subject, (None, None, 0, 0))(mean, sd, deviations, y))

    middle = np.concatenate([[0.2, -2.0, 3.0], [0.3, 0.3, 0.3], np.zeros(3 * SUBJECTS)])
    spread = np.concatenate([[0.1, 0.1, 0.1], [0.05, 0.05, 0.05], np.full(3 * SUBJECTS, 0.5)])
    return log_density, middle, spread


def problems():
    yield "GARCH, 1000 rows", "scan", garch()
    yield "Gaussian process, 50 points", "cholesky", process()
    yield "12 subjects, 2 doses", "diffrax", subjects(diffrax.RecursiveCheckpointAdjoint())


def main():
    for problem, variant, (log_density, middle, spread) in problems():
        n, d = np.arange(POINTS)[:, None], np.arange(len(middle))[None, :]
        points = jnp.asarray(middle + spread * np.cos(n + 2.0 * d))
        start = time.perf_counter()
        run = jax.jit(jax.vmap(jax.value_and_grad(log_density))).lower(points).compile()
        compiling = time.perf_counter() - start
        value, gradient = jax.block_until_ready(run(points))
        least, calls, end = float("inf"), 0, time.perf_counter() + SECONDS
        while calls < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            jax.block_until_ready(run(points))
            least = min(least, time.perf_counter() - start)
            calls += 1
        line = {
            "framework": "jax",
            "problem": problem,
            "layers": 0,
            "points": POINTS,
            "microseconds": 1e6 * least / POINTS,
            "variant": f"{variant}, {compiling:.1f} s to compile",
            "log_density": float(value[0]),
            "gradient": float(jnp.sum(gradient[0])),
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
