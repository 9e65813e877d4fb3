"""One parameter update in JAX: many updates in one jitted `lax.scan`, in float64.

Two choices measured faster here: w.z as a sum of products rather than a dot, and the
log-determinants of all layers at once, outside the loop over layers. XLA's concurrency
scheduler is off, which gained a tenth on the smallest problem and nothing clear on the rest.
Samples lie along the last axis and the normals of one call are drawn at once by custom.
How far to unroll the loop over layers is tried for each problem, and the fastest is kept:
that is "jax tuned". "jax plain" is the same update as one writes it first: layers as a scan
that carries the points and the log-determinant, points along the first axis, a matrix product
for w.z, normals drawn in each update.
"""

import os
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_enable_concurrency_optimized_scheduler=false")

import jax
import jax.numpy as jnp
from jax import lax

from jax_odes import log_p as ode_log_p
from jax_odes import squares_plain, squares_tuned
from problems import (
    BASE_SCALE,
    BETA1,
    BETA2,
    EPSILON,
    LEARNING_RATE,
    LOSS_WINDOW,
    SEED,
    SOFTPLUS_SHIFT,
    arguments,
    chosen,
    initial_parameters,
    log_q0_constant,
    report,
)

UPDATES_PER_CALL = 200
UNROLLS = (1, 2, 5)
# Unrolled whole, 250 layers compile for a minute and then run three times slower than the scan.
MOST_LAYERS_UNROLLED_WHOLE = 75

jax.config.update("jax_enable_x64", True)


def log_p(problem, z, squares):
    """Log density at z (dim by points); `squares` solves the ODE where there is one."""
    return ode_log_p(problem.ode, z, squares) if problem.ode else problem.log_p(z, jnp)


def neg_elbo(params, eps, problem, unroll):
    """Mean loss of the samples c + 2 eps; eps is dim by points."""
    w, u, b = params["w"], params["u"], params["b"]
    wu = jnp.sum(w * u, axis=1)
    m = -1.0 + jax.nn.softplus(wu + SOFTPLUS_SHIFT)
    u_hat = u + ((m - wu) / jnp.sum(w * w, axis=1))[:, None] * w

    def layer(z, parameters):
        w, u_hat, b = parameters
        h = jnp.tanh(jnp.sum(w[:, None] * z, axis=0) + b)
        return z + u_hat[:, None] * h, h

    z, h = lax.scan(layer, problem.base_mean + BASE_SCALE * eps, (w, u_hat, b), unroll=unroll)
    log_dets = jnp.log(jnp.abs(1.0 + m[:, None] * (1.0 - h * h)))  # w.u_hat = m
    log_q0 = log_q0_constant(problem.dim) - 0.5 * jnp.sum(eps * eps, axis=0)
    tempered = problem.inverse_temperature * log_p(problem, z, squares_tuned)
    return jnp.mean(log_q0 - jnp.sum(log_dets, axis=0) - tempered)


def neg_elbo_plain(params, eps, problem):
    """Mean loss of the samples c + 2 eps; eps is points by dim."""

    def layer(carry, parameters):
        z, log_det = carry
        w, u, b = parameters
        wu = w @ u
        u_hat = u + (-1.0 + jax.nn.softplus(wu + SOFTPLUS_SHIFT) - wu) * w / (w @ w)
        h = jnp.tanh(z @ w + b)
        log_det = log_det + jnp.log(jnp.abs(1.0 + (w @ u_hat) * (1.0 - h * h)))
        return (z + u_hat * h[:, None], log_det), None

    start = (problem.base_mean + BASE_SCALE * eps, jnp.zeros(problem.points))
    (z, log_det), _ = lax.scan(layer, start, (params["w"], params["u"], params["b"]))
    log_q0 = log_q0_constant(problem.dim) - 0.5 * jnp.sum(eps * eps, axis=1)
    tempered = problem.inverse_temperature * log_p(problem, z.T, squares_plain)
    return jnp.mean(log_q0 - log_det - tempered)


def adam(params, grads, first, second, count):
    first = jax.tree.map(lambda m, g: BETA1 * m + (1.0 - BETA1) * g, first, grads)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1.0 - BETA2) * g * g, second, grads)
    rate = LEARNING_RATE / (1.0 - BETA1**count)
    correction = 1.0 - BETA2**count
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v / correction) + EPSILON),
        params,
        first,
        second,
    )
    return params, first, second


class Training:
    """Training on a problem; `unroll` is None for the plain form."""

    def __init__(self, problem, unroll):
        params = jax.tree.map(jnp.asarray, initial_parameters(problem))
        zeros = jax.tree.map(jnp.zeros_like, params)
        self.state = (params, zeros, zeros, jnp.zeros(()))
        self.key = jax.random.key(SEED)
        self.losses = []

        def update(state, noise):
            params, first, second, count = state
            if unroll is None:
                eps = jax.random.normal(noise, (problem.points, problem.dim))
                loss, grads = jax.value_and_grad(neg_elbo_plain)(params, eps, problem)
            else:
                loss, grads = jax.value_and_grad(neg_elbo)(params, noise, problem, unroll)
            count = count + 1.0
            params, first, second = adam(params, grads, first, second, count)
            return (params, first, second, count), loss

        def updates(state, key):
            if unroll is None:
                noise = jax.random.split(key, UPDATES_PER_CALL)
            else:
                noise = jax.random.normal(key, (UPDATES_PER_CALL, problem.dim, problem.points))
            return lax.scan(update, state, noise)

        self.updates = jax.jit(updates).lower(self.state, self.key).compile()

    def run(self):
        """Seconds per update of one call."""
        self.key, key = jax.random.split(self.key)
        start = time.perf_counter()
        self.state, losses = jax.block_until_ready(self.updates(self.state, key))
        seconds = (time.perf_counter() - start) / UPDATES_PER_CALL
        self.losses.extend(losses.tolist())
        return seconds

    def best(self, seconds):
        """Least seconds per update among calls that fill the budget: two at least."""
        end = time.perf_counter() + seconds
        best = min(self.run(), self.run())
        while time.perf_counter() < end:
            best = min(best, self.run())
        return best


def variants(problem):
    for unroll in UNROLLS:
        yield unroll, f"scan over layers, unroll {unroll}" if unroll > 1 else "scan over layers"
    if problem.layers <= MOST_LAYERS_UNROLLED_WHOLE:
        yield problem.layers, "unrolled layers"


def finish(framework, problem, name, training, best):
    while len(training.losses) < problem.loss_updates:
        training.run()
    window = training.losses[problem.loss_updates - LOSS_WINDOW : problem.loss_updates]
    report(framework, problem, 1e6 * best, name, sum(window) / len(window))


def main():
    args = arguments(__doc__).parse_args()
    for problem in chosen(args):
        plain = Training(problem, None)
        finish("jax plain", problem, "scan over layers", plain, plain.best(args.seconds / 2))
        candidates = {name: Training(problem, unroll) for unroll, name in variants(problem)}
        trial = args.seconds / 2 / len(candidates)
        timings = {name: training.best(trial) for name, training in candidates.items()}
        name = min(timings, key=timings.get)
        best = min(timings[name], candidates[name].best(args.seconds / 2))
        finish("jax tuned", problem, name, candidates[name], best)


if __name__ == "__main__":
    main()
