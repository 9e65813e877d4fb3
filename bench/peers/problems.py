"""The problems that every framework here solves, and the constants of one update.

One update draws `points` samples z0 = c + 2 eps of the base N(c, 4 I), pushes them through
`layers` planar layers, and takes one Adam step on

    neg_elbo = mean(log q0(z0) - sum_l log|det J_l| - t log p(z_L)),

where a layer is z + u_hat tanh(w.z + b), log|det J| = log|1 + w.u_hat (1 - tanh^2)|, and
u_hat = u + (m(w.u) - w.u) w / |w|^2 with m(x) = -1 + softplus(x + ln(e - 1)) keeps it
invertible (m(0) = 0, so that a layer with u = 0 is the identity).

Targets take the coordinates one by one and the framework's module `xp`, so that one
formula serves both `jax.numpy` and `torch`; the ODE posteriors are in `odes`.
"""

import argparse
import json
import math
from dataclasses import dataclass
from typing import Callable

import numpy as np

import odes

BASE_SCALE = 2.0
INIT_SCALE = 0.1
LEARNING_RATE = 0.005
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
SOFTPLUS_SHIFT = math.log(math.e - 1.0)
SEED = 1

# final_loss is the mean neg_elbo over the last LOSS_WINDOW of LOSS_UPDATES updates: the same
# number of updates in every framework, whatever its speed, so that the losses compare. The
# two-dimensional problem leaves a plateau (loss 5) after 100 to 350 updates, by its noise: a
# window that reaches back there would differ between seeds as much as between frameworks.
LOSS_UPDATES = 600
LOSS_WINDOW = 200


def initial_parameters(problem):
    """w and u (layers by dim) and b (layers), the same numbers in every framework."""
    rng = np.random.default_rng(SEED)
    shape = (problem.layers, problem.dim)
    return {
        "w": INIT_SCALE * rng.standard_normal(shape),
        "u": INIT_SCALE * rng.standard_normal(shape),
        "b": INIT_SCALE * rng.standard_normal(problem.layers),
    }


def log_q0_constant(dim):
    """The part of log N(z0; c, 4 I) that does not depend on z0 = c + 2 eps."""
    return -dim * (0.5 * math.log(2.0 * math.pi) + math.log(BASE_SCALE))


def two_wells(z, xp):
    return -(((z[0] + 2.0) ** 2 - 3.0) ** 2)


def two_gaussians(z, xp):
    mu = 0.5
    x, y = z
    log_height = math.log(8.0 / math.pi)
    left = log_height - 16.0 * ((x + mu + 1.0) ** 2 + (y - mu) ** 2)
    right = log_height - 16.0 * ((x - mu - 1.0) ** 2 + (y - mu) ** 2)
    return xp.logaddexp(left, right)


def correlated_gaussian(z, xp):
    """-1/2 z^T P z, P tridiagonal: 2 on the diagonal, -0.8 beside it."""
    x, y, v = z
    return -(x * x + y * y + v * v) + 0.8 * (x * y + y * v)


@dataclass(frozen=True)
class Problem:
    name: str
    dim: int
    layers: int
    points: int
    log_p: Callable | odes.Ode
    base_mean: float = 0.0
    inverse_temperature: float = 0.5
    loss_updates: int = LOSS_UPDATES

    @property
    def ode(self):
        return self.log_p if isinstance(self.log_p, odes.Ode) else None


def posterior(name, ode, base_mean):
    # PyTorch would take minutes for LOSS_UPDATES of these.
    return Problem(name, 3, 250, 100, ode, base_mean, 1.0, LOSS_WINDOW)


PROBLEMS = [
    Problem("two wells", 1, 50, 100, two_wells),
    Problem("two wells", 1, 50, 1000, two_wells),
    Problem("two gaussians", 2, 75, 100, two_gaussians),
    Problem("correlated gaussian", 3, 250, 100, correlated_gaussian),
]
# Selected only by --odes: dim, layers and points do not distinguish them from the last problem above.
ODE_PROBLEMS = [
    posterior("hiv", odes.HIV, 0.0),
    posterior("lorenz", odes.LORENZ, 10.0),
]


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--odes", action="store_true", help="the ODE posteriors instead of the other problems"
    )
    parser.add_argument(
        "--problems",
        help="comma-separated numbers of the problems to run (default: all)",
    )
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="timing budget of one problem (default: 5)"
    )
    return parser


def chosen(args):
    problems = ODE_PROBLEMS if args.odes else PROBLEMS
    if args.problems is None:
        return problems
    return [problems[int(i)] for i in args.problems.split(",")]


def report(framework, problem, microseconds, variant, final_loss):
    """Print one JSON line, at once, so that a reading process sees progress."""
    line = {
        "framework": framework,
        "problem": problem.name,
        "dim": problem.dim,
        "layers": problem.layers,
        "points": problem.points,
        "microseconds": round(microseconds, 2),
        "variant": variant,
        "final_loss": round(final_loss, 5),
    }
    print(json.dumps(line), flush=True)
