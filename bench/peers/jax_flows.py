"""One parameter update of realNVP, IAF and spline flows in JAX: many updates in one `lax.scan`,
in float64.

"jax plain" is the update as one writes it first: layers in a Python loop over a list of
parameters, points along the first axis, one matrix product a network layer, normals drawn in
each update. "jax tuned" is the fastest of the variants that `variants` lists; all of them train
the same flow from the same numbers, and draw the normals of a whole call at once.

    realNVP   y = x exp(s) + t for one coordinate, s = tanh(net(kept)) and t = net(kept)
    IAF       y_i = x_i exp(s_i) + m_i, (s, m) from one masked network of x_<i; then reversed
    spline    a monotone rational-quadratic spline on [-5, 5] for each moved coordinate
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Callable

os.environ["JAX_PLATFORMS"] = "cpu"
# Two devices let a variant split the points between the cores; the others use the first only.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree
from jax.sharding import PartitionSpec as Spec

from problems import (
    BASE_SCALE,
    BETA1,
    BETA2,
    EPSILON,
    LOSS_UPDATES,
    LOSS_WINDOW,
    SEED,
    log_q0_constant,
    report,
    two_gaussians,
)

LEARNING_RATE = 0.001
INVERSE_TEMPERATURE = 0.5
BINS, BOUND = 8, 5.0
MIN_BIN, MIN_SLOPE = 1e-3, 1e-3
# A raw slope of 0 becomes softplus(shift) + MIN_SLOPE = 1.
SLOPE_SHIFT = float(np.log(np.expm1(1.0 - MIN_SLOPE)))

SERIAL = (("xla_cpu_enable_concurrency_optimized_scheduler", False),)

jax.config.update("jax_enable_x64", True)


# Networks: a list of (weights, bias), weights fan_in by fan_out.


def initial_network(rng, sizes):
    network = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        scale = np.sqrt(2.0 / fan_in)
        if len(network) == len(sizes) - 2:
            scale = 0.1 / np.sqrt(fan_in)
        weights = scale * rng.standard_normal((fan_in, fan_out))
        network.append((weights, np.zeros(fan_out)))
    return network


def apply(network, x):
    """Points along the first axis."""
    *hidden, (w_out, b_out) = network
    for w, b in hidden:
        x = jax.nn.relu(x @ w + b)
    return x @ w_out + b_out


def apply_last(network, x):
    """Points along the last axis; the weights are fan_out by fan_in here."""
    *hidden, (w_out, b_out) = network
    for w, b in hidden:
        x = jax.nn.relu(product(w, x) + b[..., None])
    return product(w_out, x) + b_out[..., None]


def product(w, x):
    """w x, where a side of length 1 makes a sum or an outer product cheaper than a dot."""
    if w.shape[-1] == 1:
        return w * x
    if w.shape[-2] == 1:
        return jnp.sum(jnp.swapaxes(w, -1, -2) * x, axis=-2, keepdims=True)
    return w @ x


def transposed(network):
    return [(np.swapaxes(w, -1, -2), b) for w, b in network]


# realNVP


def realnvp_parameters(problem):
    rng = np.random.default_rng(SEED)
    sizes = (1, problem.hidden, problem.hidden, 1)
    return [
        {"s": initial_network(rng, sizes), "t": initial_network(rng, sizes)}
        for _ in range(problem.layers)
    ]


def realnvp_plain(layer, index, x):
    kept, moved = index % 2, 1 - index % 2
    s = jnp.tanh(apply(layer["s"], x[:, kept : kept + 1]))[:, 0]
    t = apply(layer["t"], x[:, kept : kept + 1])[:, 0]
    return x.at[:, moved].set(x[:, moved] * jnp.exp(s) + t), s


# The tuned couplings carry (kept, moved) and swap them, so that no layer slices or scatters.


def realnvp_first(layer, pair):
    kept, moved = pair
    s = jnp.tanh(apply(layer["s"], kept))
    t = apply(layer["t"], kept)
    return (moved * jnp.exp(s) + t, kept), s[:, 0]


def realnvp_separate(layer, pair):
    kept, moved = pair
    s = jnp.tanh(apply_last(layer["s"], kept))
    t = apply_last(layer["t"], kept)
    return (moved * jnp.exp(s) + t, kept), s[0]


def realnvp_stacked(layer, pair):
    """Both networks as one, batched along a leading axis of 2."""
    kept, moved = pair
    s, t = apply_last(layer, kept)
    s = jnp.tanh(s)
    return (moved * jnp.exp(s) + t, kept), s[0]


def transpose_networks(layer):
    return {name: transposed(network) for name, network in layer.items()}


def stack_networks(layer):
    """Scale and translation as one network with a leading axis of 2."""
    return transposed(jax.tree.map(lambda s, t: np.stack([s, t]), layer["s"], layer["t"]))


# IAF


def made_masks(problem):
    """Masks, fan_in by fan_out; a hidden unit of degree k sees the first k coordinates."""
    d, h = problem.dim, problem.hidden
    inputs = np.arange(1, d + 1)
    hidden = 1 + np.arange(h) * (d - 1) // h
    outputs = np.tile(inputs - 1, 2)  # s and m of coordinate i see the i - 1 before it
    degrees = [inputs] + [hidden] * problem.hidden_layers + [outputs]
    return [np.float64(a[:, None] <= b) for a, b in zip(degrees, degrees[1:])]


def iaf_parameters(problem):
    rng = np.random.default_rng(SEED)
    sizes = (problem.dim, *[problem.hidden] * problem.hidden_layers, 2 * problem.dim)
    return [initial_network(rng, sizes) for _ in range(problem.layers)]


def iaf_plain(masks, layer, index, x):
    network = [(w * mask, b) for (w, b), mask in zip(layer, masks)]
    s, m = jnp.split(apply(network, x), 2, axis=1)
    s = jnp.tanh(s)
    return (x * jnp.exp(s) + m)[:, ::-1], jnp.sum(s, axis=1)


def iaf_first(masks, layer, x):
    return iaf_plain(masks, layer, 0, x)


def iaf_last(masks, layer, x):
    network = [(w * mask, b) for (w, b), mask in zip(layer, masks)]
    s, m = jnp.split(apply_last(network, x), 2)
    s = jnp.tanh(s)
    return (x * jnp.exp(s) + m)[::-1], jnp.sum(s, axis=0)


def iaf_halves(cut, masks, layer, x):
    """The sorted degrees leave the upper right of a hidden matrix empty: skip that quarter.

    `cut` is where a new degree begins, nearest the middle.
    """
    (w, b), *middle, (w_out, b_out) = [(w * mask, b) for (w, b), mask in zip(layer, masks)]
    h = jax.nn.relu(w @ x + b[:, None])
    for w, b in middle:
        h = jnp.concatenate([w[:cut, :cut] @ h[:cut], w[cut:] @ h])
        h = jax.nn.relu(h + b[:, None])
    s, m = jnp.split(w_out @ h + b_out[:, None], 2)
    s = jnp.tanh(s)
    return (x * jnp.exp(s) + m)[::-1], jnp.sum(s, axis=0)


# Spline couplings


def spline_parameters(problem):
    rng = np.random.default_rng(SEED)
    half = problem.dim // 2
    sizes = (half, problem.hidden, problem.hidden, half * (3 * BINS - 1))
    return [initial_network(rng, sizes) for _ in range(problem.layers)]


def bins(raw, axis):
    """Sizes of the bins, and the knots from -BOUND to BOUND."""
    sizes = MIN_BIN + (1.0 - MIN_BIN * BINS) * jax.nn.softmax(raw, axis=axis)
    inner = 2.0 * BOUND * jnp.cumsum(sizes, axis=axis) - BOUND
    edge = jnp.full_like(lax.slice_in_dim(inner, 0, 1, axis=axis), BOUND)
    # The last knot is set, not summed, so that rounding cannot move it.
    inner = lax.slice_in_dim(inner, 0, BINS - 1, axis=axis)
    knots = jnp.concatenate([-edge, inner, edge], axis=axis)
    return jnp.diff(knots, axis=axis), knots


def quadratic(x, inside, left, width, bottom, height, d0, d1):
    """The rational-quadratic piece at x and the logarithm of its slope; identity outside."""
    theta = (jnp.where(inside, x, left) - left) / width
    rest = theta * (1.0 - theta)
    slope = height / width
    denominator = slope + (d0 + d1 - 2.0 * slope) * rest
    y = bottom + height * (slope * theta**2 + d0 * rest) / denominator
    numerator = d1 * theta**2 + 2.0 * slope * rest + d0 * (1.0 - theta) ** 2
    log_slope = jnp.log(slope**2 * numerator) - 2.0 * jnp.log(denominator)
    return jnp.where(inside, y, x), jnp.where(inside, log_slope, 0.0)


def spline_by_index(x, raw, axis, one_hot):
    """The splines of `raw` (bins along `axis`) at x: find the bin, pick its numbers."""
    raw_w, raw_h, raw_d = jnp.split(raw, [BINS, 2 * BINS], axis=axis)
    widths, x_knots = bins(raw_w, axis)
    heights, y_knots = bins(raw_h, axis)
    inner = MIN_SLOPE + jax.nn.softplus(raw_d + SLOPE_SHIFT)
    edge = jnp.ones_like(lax.slice_in_dim(inner, 0, 1, axis=axis))
    slopes = jnp.concatenate([edge, inner, edge], axis=axis)
    inner_knots = lax.slice_in_dim(x_knots, 1, BINS, axis=axis)
    index = jnp.sum(jnp.expand_dims(x, axis) >= inner_knots, axis=axis, keepdims=True)

    if one_hot:
        places = jnp.arange(BINS).reshape([-1 if i == axis else 1 for i in range(raw.ndim)])
        chosen = (index == places).astype(x.dtype)

        def pick(values, shift=0):
            part = lax.slice_in_dim(values, shift, shift + BINS, axis=axis)
            return jnp.sum(part * chosen, axis=axis)
    else:

        def pick(values, shift=0):
            return jnp.take_along_axis(values, index + shift, axis=axis).squeeze(axis)

    return quadratic(
        x,
        jnp.abs(x) < BOUND,
        pick(x_knots),
        pick(widths),
        pick(y_knots),
        pick(heights),
        pick(slopes),
        pick(slopes, 1),
    )


def spline_by_selects(x, raw):
    """As above with the bins along axis 0, walked in Python: selects only, all elementwise."""

    def sizes(rows):
        top = lax.stop_gradient(jnp.max(rows, axis=0))  # a softmax does not feel the shift
        e = jnp.exp(rows - top)
        scale = 2.0 * BOUND * (1.0 - MIN_BIN * BINS) / jnp.sum(e, axis=0)
        return 2.0 * BOUND * MIN_BIN + e * scale

    widths, heights = sizes(raw[:BINS]), sizes(raw[BINS : 2 * BINS])
    raw_d = raw[2 * BINS :]
    # The slopes go through the softplus once chosen: 2 of them rather than 7.
    edge = jnp.zeros_like(x)  # slope 1
    left = bottom = jnp.full_like(x, -BOUND)
    piece = (left, widths[0], bottom, heights[0], edge, raw_d[0])
    for k in range(1, BINS):
        left, bottom = left + widths[k - 1], bottom + heights[k - 1]
        right = raw_d[k] if k < BINS - 1 else edge
        here = (left, widths[k], bottom, heights[k], raw_d[k - 1], right)
        beyond = x >= left
        piece = tuple(jnp.where(beyond, new, old) for new, old in zip(here, piece))
    left, width, bottom, height, r0, r1 = piece
    d0 = MIN_SLOPE + jax.nn.softplus(r0 + SLOPE_SHIFT)
    d1 = MIN_SLOPE + jax.nn.softplus(r1 + SLOPE_SHIFT)
    return quadratic(x, jnp.abs(x) < BOUND, left, width, bottom, height, d0, d1)


def spline_plain(layer, index, x):
    kept, moved = x[:, index % 2 :: 2], x[:, 1 - index % 2 :: 2]
    raw = apply(layer, kept).reshape(*moved.shape, 3 * BINS - 1)
    y, log_slopes = spline_by_index(moved, raw, 2, one_hot=False)
    return x.at[:, 1 - index % 2 :: 2].set(y), jnp.sum(log_slopes, axis=1)


def spline_last(splines, layer, pair):
    kept, moved = pair
    raw = apply_last(layer, kept).reshape(3 * BINS - 1, *moved.shape)
    y, log_slopes = splines(moved, raw)
    return (y, kept), jnp.sum(log_slopes, axis=0)


def bins_outermost(layer):
    """Transposed weights whose outputs are ordered by bin, then coordinate."""
    *hidden, (w, b) = transposed(layer)
    order = np.arange(len(b)).reshape(-1, 3 * BINS - 1).T.reshape(-1)
    return [*hidden, (w[order], b[order])]


# Targets, with the coordinates along `axis` or as a pair of the even ones and the odd ones


def chain(z, axis):
    """-sum z_i^2 + 0.8 sum z_i z_(i+1)"""
    n = z.shape[axis]
    before, after = lax.slice_in_dim(z, 0, n - 1, axis=axis), lax.slice_in_dim(z, 1, n, axis=axis)
    return -jnp.sum(z * z, axis=axis) + 0.8 * jnp.sum(before * after, axis=axis)


def chain_of_pair(pair):
    even, odd = pair
    own = jnp.sum(even * even + odd * odd, axis=0)
    return -own + 0.8 * (jnp.sum(even * odd, axis=0) + jnp.sum(odd[:-1] * even[1:], axis=0))


# Problems and their variants


@dataclass(frozen=True)
class Problem:
    name: str
    dim: int
    layers: int
    points: int
    hidden: int
    hidden_layers: int
    updates_per_call: int
    parameters: Callable


PROBLEMS = [
    Problem("realnvp-large", 2, 12, 100, 100, 2, 50, realnvp_parameters),
    Problem("realnvp-small", 2, 6, 100, 10, 2, 200, realnvp_parameters),
    Problem("iaf-1", 10, 5, 500, 100, 1, 50, iaf_parameters),
    Problem("iaf-2", 10, 5, 500, 100, 2, 50, iaf_parameters),
    Problem("spline", 10, 4, 500, 64, 2, 50, spline_parameters),
]


@dataclass(frozen=True)
class Variant:
    """A way to compute the update; `layer(parameters, z)` gives the new z and its log-det."""

    name: str
    layer: Callable
    log_p: Callable
    convert: Callable  # one layer's parameters, as numpy, to the form `layer` takes
    points_axis: int = 1
    pair: bool = True  # z is (kept, moved), the even coordinates first
    plain: bool = False  # `layer` takes its index too; normals drawn in each update
    scanned: bool = False  # scan over stacked layers, else a Python loop
    flat: bool = False  # Adam on all parameters as one vector
    devices: int = 1
    options: tuple = ()  # of XLA, as pairs

    def noise_shape(self, problem):
        points = problem.points // self.devices
        return (points, problem.dim) if self.points_axis == 0 else (problem.dim, points)

    def neg_elbo(self, params, eps):
        """Mean loss of the samples 2 eps."""
        z = BASE_SCALE * eps
        if self.pair:
            z = (z[0::2], z[1::2]) if self.points_axis else (z[:, 0::2], z[:, 1::2])
        if self.scanned:
            z, log_dets = lax.scan(lambda z, layer: self.layer(layer, z), z, params)
            log_det = jnp.sum(log_dets, axis=0)
        else:
            log_det = 0.0
            for index, layer in enumerate(params):
                step = (index, z) if self.plain else (z,)
                z, more = self.layer(layer, *step)
                log_det = log_det + more
        dim = eps.shape[1 - self.points_axis]
        log_q0 = log_q0_constant(dim) - 0.5 * jnp.sum(eps * eps, axis=1 - self.points_axis)
        return jnp.mean(log_q0 - log_det - INVERSE_TEMPERATURE * self.log_p(z))


def forms(problem):
    """The plain variant of a problem, and the tuned layers to combine with `arrangements`."""

    def as_it_is(layer):
        return layer

    if problem.name.startswith("realnvp"):

        def log_p(z):
            return two_gaussians((z[0][0], z[1][0]), jnp)

        def log_p_first(z):
            return two_gaussians((z[0][:, 0], z[1][:, 0]), jnp)

        plain = Variant(
            "plain", realnvp_plain, lambda z: two_gaussians(z.T, jnp), as_it_is, 0, False, True
        )
        tuned = [
            Variant("points first", realnvp_first, log_p_first, as_it_is, 0),
            Variant("points last", realnvp_separate, log_p, transpose_networks),
            Variant("points last, stacked networks", realnvp_stacked, log_p, stack_networks),
        ]
        return plain, tuned
    if problem.name.startswith("iaf"):
        masks = made_masks(problem)
        masks_t = [mask.T for mask in masks]
        first, last = partial(chain, axis=1), partial(chain, axis=0)
        plain = Variant("plain", partial(iaf_plain, masks), first, as_it_is, 0, False, True)
        tuned = [
            Variant("points first", partial(iaf_first, masks), first, as_it_is, 0, False),
            Variant("points last", partial(iaf_last, masks_t), last, transposed, 1, False),
        ]
        if problem.hidden_layers > 1:
            starts = np.flatnonzero(np.diff(masks[0].sum(axis=0))) + 1
            cut = int(starts[np.argmin(abs(starts - problem.hidden / 2))])
            halves = partial(iaf_halves, cut, masks_t)
            tuned.append(Variant("points last, halves", halves, last, transposed, 1, False))
        return plain, tuned
    plain = Variant("plain", spline_plain, partial(chain, axis=1), as_it_is, 0, False, True)
    gather = partial(spline_by_index, axis=0, one_hot=False)
    one_hot = partial(spline_by_index, axis=0, one_hot=True)
    tuned = [
        Variant(name, partial(spline_last, splines), chain_of_pair, bins_outermost)
        for name, splines in (
            ("gather", gather),
            ("one-hot", one_hot),
            ("selects", spline_by_selects),
        )
    ]
    return plain, tuned


def arrangements(form):
    """A form with its layers as a loop or a scan, Adam by array or on one vector, and so on."""
    looped = replace(form, name=form.name + ", layers unrolled")
    flat = replace(looped, name=looped.name + ", flat Adam", flat=True)
    yield looped
    yield flat
    yield replace(form, name=form.name + ", layers scanned", scanned=True)
    # The default order of operations favours running several at once; on two cores that the
    # matrix products fill already, memory order may count more.
    yield replace(flat, name=flat.name + ", serial schedule", options=SERIAL)
    # One device a core, each with half of the points and all of Adam.
    yield replace(flat, name=flat.name + ", two devices", devices=2)


def variants(problem):
    return [variant for form in forms(problem)[1] for variant in arrangements(form)]


def adam(params, grads, first, second, count):
    first = jax.tree.map(lambda m, g: BETA1 * m + (1.0 - BETA1) * g, first, grads)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1.0 - BETA2) * g * g, second, grads)
    rate = LEARNING_RATE / (1.0 - BETA1**count)
    correction = 1.0 / (1.0 - BETA2**count)
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v * correction) + EPSILON),
        params,
        first,
        second,
    )
    return params, first, second


def initial(problem, variant):
    layers = [variant.convert(layer) for layer in problem.parameters(problem)]
    if variant.scanned:
        layers = jax.tree.map(lambda *arrays: np.stack(arrays), *layers)
    return jax.tree.map(jnp.asarray, layers)


class Training:
    def __init__(self, problem, variant):
        self.problem = problem
        params = initial(problem, variant)
        unravel = None
        if variant.flat:
            params, unravel = ravel_pytree(params)
        zeros = jax.tree.map(jnp.zeros_like, params)
        self.state = (params, zeros, zeros, jnp.zeros(()))
        self.key = jax.random.key(SEED)
        self.losses = []
        shape = variant.noise_shape(problem)

        def update(state, noise):
            params, first, second, count = state
            eps = jax.random.normal(noise, shape) if variant.plain else noise
            # The gradient is taken by array and joined after: through the slices of a
            # vector it would be a sum of padded vectors.
            tree = unravel(params) if unravel else params
            loss, grads = jax.value_and_grad(variant.neg_elbo)(tree, eps)
            if unravel:
                grads, _ = ravel_pytree(grads)
            if variant.devices > 1:
                loss, grads = lax.pmean((loss, grads), "points")
            count = count + 1.0
            params, first, second = adam(params, grads, first, second, count)
            return (params, first, second, count), loss

        def updates(state, key):
            if variant.plain:
                noise = jax.random.split(key, problem.updates_per_call)
            else:
                if variant.devices > 1:
                    key = jax.random.fold_in(key, lax.axis_index("points"))
                noise = jax.random.normal(key, (problem.updates_per_call, *shape))
            return lax.scan(update, state, noise)

        if variant.devices > 1:
            mesh = jax.make_mesh((variant.devices,), ("points",))
            updates = jax.shard_map(
                updates, mesh=mesh, in_specs=(Spec(), Spec()), out_specs=Spec(), check_vma=False
            )
            everywhere = jax.sharding.NamedSharding(mesh, Spec())
            self.state, self.key = jax.device_put((self.state, self.key), everywhere)
        self.updates = jax.jit(updates).lower(self.state, self.key).compile(dict(variant.options))

    def run(self):
        """Seconds per update of one call."""
        self.key, key = jax.random.split(self.key)
        start = time.perf_counter()
        self.state, losses = jax.block_until_ready(self.updates(self.state, key))
        seconds = (time.perf_counter() - start) / self.problem.updates_per_call
        self.losses.extend(losses.tolist())
        return seconds


def race(trainings, seconds):
    """Least seconds per update of each training, calls in turn until the budget is spent.

    In turn, so that a while in which others load the machine slows them all.
    """
    best = [np.inf] * len(trainings)
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 2 or time.perf_counter() < end:
        best = [min(least, training.run()) for least, training in zip(best, trainings)]
        rounds += 1
    return best


def finish(framework, variant, training, best):
    while len(training.losses) < LOSS_UPDATES:
        training.run()
    window = training.losses[LOSS_UPDATES - LOSS_WINDOW : LOSS_UPDATES]
    report(framework, training.problem, 1e6 * best, variant.name, sum(window) / len(window))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", help="comma-separated names of the problems (default: all)")
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="timing budget of one problem (default: 5)"
    )
    parser.add_argument("--all", action="store_true", help="time of every variant, to stderr")
    args = parser.parse_args()
    names = args.problems.split(",") if args.problems else [p.name for p in PROBLEMS]
    for problem in [p for p in PROBLEMS if p.name in names]:
        tuned = variants(problem)
        trainings = [Training(problem, variant) for variant in tuned]
        timings = race(trainings, args.seconds / 2)
        if args.all:
            for timing, variant in sorted(zip(timings, (v.name for v in tuned))):
                print(f"{problem.name} {1e6 * timing:10.1f}  {variant}", file=sys.stderr)
        fastest = int(np.argmin(timings))
        # The plain form and the fastest in turn, for a fair comparison.
        plain = forms(problem)[0]
        pair = [Training(problem, plain), trainings[fastest]]
        plain_timing, tuned_timing = race(pair, args.seconds / 2)
        finish("jax plain", plain, pair[0], plain_timing)
        finish("jax tuned", tuned[fastest], pair[1], min(tuned_timing, timings[fastest]))


if __name__ == "__main__":
    main()
