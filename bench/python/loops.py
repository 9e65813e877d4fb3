"""Log densities in JAX that go through a loop, for the table `loops` of overhead.py: functions of three numbers."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.nn import log_softmax, logsumexp


def solve(slope, start, dt, steps=100):
    """The states after each fourth-order Runge-Kutta step, as one array, the most common way to write it."""

    def one(x, _):
        k1 = slope(x)
        k2 = slope(x + 0.5 * dt * k1)
        k3 = slope(x + 0.5 * dt * k2)
        x = x + dt / 6.0 * (k1 + 2.0 * (k2 + k3) + slope(x + dt * k3))
        return x, x

    return lax.scan(one, start, None, length=steps)[1]


def oscillators(states):
    """The Lorenz system of 1996, with three unknown initial values."""

    def slope(x):
        return (jnp.roll(x, -1) - jnp.roll(x, 2)) * jnp.roll(x, 1) - x + 8.0

    def log_density(z):
        start = jnp.concatenate([z, jnp.linspace(0.0, 1.0, states - 3)])
        return -0.5 * jnp.sum(solve(slope, start, 0.01)[:, 0] ** 2)

    return log_density


def epidemic(z):
    """Susceptible and infected; the rates of infection and recovery are unknown."""
    infection, recovery = jnp.exp(z[0]), jnp.exp(z[1])

    def slope(x):
        new = infection * x[0] * x[1]
        return jnp.array([-new, new - recovery * x[1]])

    infected = solve(slope, jnp.array([0.99, 0.01]), 0.1)[:, 1]
    return -50.0 * jnp.sum((infected - 0.1) ** 2) - 0.5 * jnp.sum(z**2)


def hidden_chain(z, rows=200):
    """The forward pass of a hidden Markov chain of three states."""
    seen = np.sin(0.7 * np.arange(rows))
    moves = log_softmax(jnp.eye(3) * (1.0 + z[0] ** 2), axis=1)
    means = jnp.array([-1.0, 0.0, 1.0]) * jnp.exp(z[1])

    def one(log_weights, y):
        of_row = -0.5 * ((y - means) * jnp.exp(z[2])) ** 2 + z[2]
        return logsumexp(log_weights[:, None] + moves, axis=0) + of_row, None

    return logsumexp(lax.scan(one, jnp.full(3, -np.log(3.0)), seen)[0]) - 0.5 * jnp.sum(z**2)
