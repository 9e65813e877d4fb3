"""Log density and gradient of two regressions in JAX, float64: microseconds per point.

Both have 1000 rows and ten parameters p; with r = i + 1 for row i and k = j + 1 for column j

    x[i, j] = sin(0.7 r k),    points[n, j] = 0.3 cos(n + 2 j),

    linear:    y = 0.5 + sum_j (-1)^j k x[i, j] / 8 + 0.8 cos(1.3 r),  8 columns
               y ~ normal(p[8] + x p[:8], exp(p[9])),  p[:9] ~ normal(0, 2),  p[9] ~ normal(0, 1)
    logistic:  y = [sum_j (-1)^j k x[i, j] / 8 > 2 cos(1.3 r)],        10 columns
               y ~ bernoulli(1 / (1 + exp(-x p))),     p ~ normal(0, 2)

with all constants of the normals. "jax plain" is what one writes first: vmap of value_and_grad
of one point's density, one jitted call for each batch. "jax tuned" is the fastest of several
arrangements, on one thread and on all, under several sets of XLA's flags, which need a process of
their own. Each is timed as one call for each batch and as a jitted loop over many (where points
move a little along their gradient, so that no evaluation can be left out). Not tried: the sums of
squares and products that would spare the linear regression its rows; that is another algorithm.
A predictor written as a sum of products instead of a matrix product was slower in every case.

`log_density` and `gradient` are the first point's value and the sum of its gradient.
"""

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)

ROWS = 1000
DIM = 10
BATCHES = (100, 256, 1000)
EVALUATIONS_PER_CALL = 20
STEP = 1e-9
BLOCKS_OF_ROWS = (50, 200)
LOG_ROOT = 0.5 * np.log(2.0 * np.pi)

ONE_EIGEN_THREAD = "--xla_cpu_multi_thread_eigen=false"
PLAIN_ORDER = "--xla_cpu_enable_concurrency_optimized_scheduler=false"
# Threads and XLA's flags; the first is how JAX comes.
SETTINGS = [
    ("all threads", ""),
    ("all threads", PLAIN_ORDER),
    ("one thread", f"{ONE_EIGEN_THREAD} {PLAIN_ORDER}"),
]


def rows(columns):
    r, k = np.arange(1, ROWS + 1)[:, None], np.arange(1, columns + 1)
    x = np.sin(0.7 * r * k)
    return x, x @ (-((-1.0) ** k) * k / 8.0), np.cos(1.3 * r[:, 0])


def linear(eta, y, p):
    """Log likelihood; eta has the rows in its first axis, p the parameters."""
    squares = jnp.sum((y - eta - p[8]) ** 2, axis=0)
    return -0.5 * squares * jnp.exp(-2.0 * p[9]) - eta.shape[0] * (p[9] + LOG_ROOT)


def logistic(eta, y, p):
    return jnp.sum(y * eta - jax.nn.softplus(eta), axis=0)


def linear_by_hand(x, y, p):
    """Log likelihood and its gradient; p is parameters by points."""
    residual = y[:, None] - x @ p[:8] - p[8]
    precision = jnp.exp(-2.0 * p[9])
    squares = jnp.sum(residual * residual, axis=0) * precision
    count = x.shape[0]
    slopes = x.T @ residual * precision
    intercept = jnp.sum(residual, axis=0) * precision
    value = -0.5 * squares - count * (p[9] + LOG_ROOT)
    return value, jnp.concatenate([slopes, intercept[None], (squares - count)[None]])


def logistic_by_hand(log_terms):
    """One exponential gives the softplus and its slope."""

    def value_and_gradient(x, y, p):
        eta = x @ p
        e = jnp.exp(-jnp.abs(eta))
        slope = jnp.where(eta >= 0.0, 1.0, e) / (1.0 + e)
        value = jnp.sum(y[:, None] * eta - jnp.maximum(eta, 0.0), axis=0) - log_terms(e)
        return value, x.T @ (y[:, None] - slope)

    return value_and_gradient


def sum_of_logs(e):
    return jnp.sum(jnp.log1p(e), axis=0)


def log_of_product(e):
    """The product of at most 1000 numbers between 1 and 2 is below the largest double."""
    return jnp.log(jnp.prod(1.0 + e, axis=0))


class Model:
    def __init__(self, name, x, y, likelihood, by_hand, prior_scales):
        self.name, self.x, self.y, self.prior_scales = name, x, y, prior_scales
        self.columns = x.shape[1]
        self.likelihood, self.by_hand = likelihood, by_hand

    def log_prior(self, p):
        """The last axis of p has the parameters."""
        constant = -np.sum(np.log(self.prior_scales)) - DIM * LOG_ROOT
        return constant - 0.5 * jnp.sum((p / self.prior_scales) ** 2, axis=-1)

    def one(self, p):
        """Log density of one point."""
        return self.log_prior(p) + self.likelihood(self.x @ p[: self.columns], self.y, p)

    def batch(self, predictor):
        """Values and gradients of points (points by parameters), by one reverse pass."""

        def total(points):
            eta = predictor(points[:, : self.columns])
            values = self.likelihood(eta, self.y[:, None], points.T) + self.log_prior(points)
            return jnp.sum(values), values

        def evaluate(points):
            gradient, values = jax.grad(total, has_aux=True)(points)
            return values, gradient

        return evaluate

    def hand(self, by_hand, block):
        """Values and gradients by formula, `block` rows at a time."""

        def evaluate(points):
            def add(sums, rows):
                value, gradient = by_hand(*rows, points.T)
                return (sums[0] + value, sums[1] + gradient), None

            sums = (self.log_prior(points), -(points / self.prior_scales**2).T)
            if block == ROWS:
                sums, _ = add(sums, (self.x, self.y))
            else:
                blocks = (self.x.reshape(-1, block, self.columns), self.y.reshape(-1, block))
                sums, _ = lax.scan(add, sums, blocks)
            return sums[0], sums[1].T

        return evaluate

    def arrangements(self):
        x = self.x
        yield "vmap of value_and_grad", jax.vmap(jax.value_and_grad(self.one))
        yield "x @ p, rows by points", self.batch(lambda p: x @ p.T)
        yield "p @ x.T, points by rows", self.batch(lambda p: (p @ x.T).T)
        for name, by_hand in self.by_hand.items():
            yield name, self.hand(by_hand, ROWS)
            for block in BLOCKS_OF_ROWS:
                yield f"{name}, blocks of {block} rows", self.hand(by_hand, block)


def models():
    x, signal, noise = rows(8)
    y = 0.5 + signal + 0.8 * noise
    scales = np.array([2.0] * 9 + [1.0])
    by_hand = {"gradient by hand": linear_by_hand}
    yield Model("linear regression", x, y, linear, by_hand, scales)
    x, signal, noise = rows(10)
    y = (signal > 2.0 * noise).astype(float)
    by_hand = {
        "gradient by hand": logistic_by_hand(sum_of_logs),
        "gradient by hand, log of product": logistic_by_hand(log_of_product),
    }
    yield Model("logistic regression", x, y, logistic, by_hand, np.full(DIM, 2.0))


def looped(evaluate):
    def move(points, _):
        value, gradient = evaluate(points)
        return points + STEP * gradient, value

    return lambda points: lax.scan(move, points, length=EVALUATIONS_PER_CALL)


def best(run, points, seconds):
    """Least microseconds of a call among those that fill the budget: three at least."""
    least, calls, end = float("inf"), 0, time.perf_counter() + seconds
    while calls < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        jax.block_until_ready(run(points))
        least = min(least, time.perf_counter() - start)
        calls += 1
    return 1e6 * least


def measure(seconds):
    """Print what each arrangement takes in this process, as JSON lines for `in_process`."""
    for model in models():
        for count in BATCHES:
            points = jnp.asarray(0.3 * np.cos(np.arange(count)[:, None] + 2.0 * np.arange(DIM)))
            expected = None
            for variant, evaluate in model.arrangements():
                single = jax.jit(evaluate).lower(points).compile()
                found = [np.asarray(part) for part in single(points)]
                expected = expected or found
                # Far above the rounding of a thousand terms.
                for part, wanted in zip(found, expected):
                    np.testing.assert_allclose(part, wanted, 0.0, 1e-10 * np.abs(wanted).max())
                loop = jax.jit(looped(evaluate)).lower(points).compile()
                many = best(loop, points, seconds) / EVALUATIONS_PER_CALL
                times = {
                    "a call each": best(single, points, seconds),
                    f"{EVALUATIONS_PER_CALL} in a call": many,
                }
                for form, microseconds in times.items():
                    line = {
                        "problem": model.name,
                        "points": count,
                        "microseconds": microseconds / count,
                        "variant": f"{variant}, {form}",
                        "log_density": float(expected[0][0]),
                        "gradient": float(expected[1][0].sum()),
                    }
                    print(json.dumps(line), flush=True)


def one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def in_process(setting, seconds):
    """What a process with these threads and flags measures."""
    threads, flags = setting
    output = subprocess.run(
        [sys.executable, __file__, "--here", "--seconds", str(seconds)],
        env=dict(os.environ, JAX_PLATFORMS="cpu", XLA_FLAGS=flags),
        # XLA makes a thread for each core it may use.
        preexec_fn=one_core if threads == "one thread" else None,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    for line in map(json.loads, output.splitlines()):
        yield {**line, "threads": threads, "flags": flags}


def report(framework, line):
    """Print one JSON line of the peers' form; a model has no layers."""
    line = {
        "framework": framework,
        "problem": line["problem"],
        "dim": DIM,
        "layers": 0,
        "rows": ROWS,
        "points": line["points"],
        "microseconds": round(line["microseconds"], 4),
        "variant": f"{line['variant']}, {line['threads']} {line['flags']}".rstrip(),
        "log_density": line["log_density"],
        "gradient": line["gradient"],
    }
    print(json.dumps(line), flush=True)


def main():
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=0.1, help="timing budget of one arrangement (default: 0.1)"
    )
    parser.add_argument("--every", action="store_true", help="print every arrangement")
    parser.add_argument("--here", action="store_true", help="measure in this process alone")
    args = parser.parse_args()
    if args.here:
        measure(args.seconds)
        return
    lines = [line for setting in SETTINGS for line in in_process(setting, args.seconds)]
    cases = {(line["problem"], line["points"]): [] for line in lines}
    for line in lines:
        cases[line["problem"], line["points"]].append(line)
    for case in cases.values():
        # The first arrangement under the first setting, a call each.
        report("jax plain", case[0])
        for threads in ("one thread", "all threads"):
            found = [line for line in case if line["threads"] == threads]
            found.sort(key=lambda line: line["microseconds"])
            for line in found if args.every else found[:1]:
                report(f"jax tuned, {threads}", line)


if __name__ == "__main__":
    main()
