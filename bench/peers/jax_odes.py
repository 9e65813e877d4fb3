"""Log densities of the ODE posteriors in JAX.

The plain form scans over the steps, keeps the states and compares them with the data. The
tuned one adds up the squares on the way, and its backward pass solves each step again from
the state before it: the step's intermediates, were they kept, would be written to memory and
read back. That halves the time of the solution or better. Unrolling the scan by two doubles it
again, and the plain form, unrolled by five, took hundreds of times longer: XLA fuses the steps
and computes shared terms repeatedly.
"""

import jax
import jax.numpy as jnp
from jax import lax

from odes import CAP


def squares_plain(ode, z):
    p = tuple(z)

    def step(x, _):
        x = ode.step(x, p)
        return x, jnp.stack([x[i] for i in ode.observed])

    _, states = lax.scan(step, ode.start(p), None, length=ode.steps)
    last = ode.every - 1
    difference = states[last :: ode.every] - ode.data()[last :: ode.every, :, None]
    return jnp.sum(difference**2, axis=(0, 1))


def squares_tuned(ode, z):
    p = tuple(z)
    solve = jax.checkpoint(ode.step)

    def step(carry, observation):
        x, total = carry
        values, weight = observation
        x = solve(x, p)
        square = sum((x[i] - value) ** 2 for i, value in zip(ode.observed, values))
        # Where nothing is observed the weight is 0: two steps at once would be fused.
        return (x, total + weight * square), None

    start = (ode.start(p), jnp.zeros_like(p[0]))
    (_, total), _ = lax.scan(step, start, (ode.data(), ode.weights()))
    return total


def capped(squares):
    """Caps a function of z (dim by points), without NaN in the gradient.

    The gradient is masked at z, each point being its own. Masking z itself by a second
    `where` does the same but takes a second solution, to know which points to mask.
    """

    @jax.custom_vjp
    def cap(z):
        return forward(z)[0]

    def forward(z):
        total, pullback = jax.vjp(squares, z)
        within = total <= CAP  # false for NaN
        return jnp.where(within, total, CAP), (within, pullback)

    def backward(kept, cotangent):
        within, pullback = kept
        return (jnp.where(within, pullback(cotangent)[0], 0.0),)

    cap.defvjp(forward, backward)
    return cap


def log_p(ode, z, squares):
    return capped(lambda z: squares(ode, z))(z) / (-2.0 * ode.variance)
