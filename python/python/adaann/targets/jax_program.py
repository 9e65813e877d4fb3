"""JAX programs, compiled once for each batch length, with small loops in one kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import jax

from .adapter import Array

#: A program that reads and writes fewer bytes than this, with each loop counted once, is faster as one kernel. In
#: larger programs the operations take longer than starting them, and XLA's separate kernels are faster.
MOST_BYTES = 16e6

#: Operations that XLA cannot put into one kernel, and matrix products, which are faster in kernels of their own.
APART = frozenset(
    "custom_call scatter select_and_scatter sort top_k fft rng rng_bit_generator convolution dot dot_general "
    "cholesky triangular_solve infeed outfeed".split()
)

#: Stops XLA from computing sums by a library, since these could not be part of a kernel.
NO_LIBRARY = {"xla_cpu_experimental_ynn_fusion_type": ""}


def double() -> AbstractContextManager[Any]:
    """Enables double precision in this thread, regardless of the settings of the user."""
    if hasattr(jax, "enable_x64"):
        context: AbstractContextManager[Any] = jax.enable_x64(True)
        return context
    from jax import experimental  # in older versions

    context = getattr(experimental, "enable_x64")()
    return context


class Program:
    """`function` of an array (d, n), compiled once for each shape. Call it inside `double()`.

    XLA starts a kernel for every operation in every iteration of a loop. For the steps of a solver over a few dozen
    points, this takes longer than the operations themselves. Small loops are therefore compiled into one kernel, which
    is up to five times faster, especially for gradients. See "Loops in one kernel" in bench/python/README.md.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._jitted = jax.jit(function)
        self._compiled: dict[tuple[int, ...], Callable[[Any], Any]] = {}
        self.compilations = 0
        """The number of programs traced and compiled so far."""

    def __call__(self, points: Array) -> Any:
        """Calls the function. The result is asynchronous: its computation may not have finished yet."""
        compiled = self._compiled.get(points.shape)
        if compiled is None:
            self.compilations += 1
            compiled = self._compiled[points.shape] = self._compile(points)
        return compiled(points)

    def _compile(self, points: Array) -> Callable[[Any], Any]:
        lowered = self._jitted.lower(points)
        # The choice depends on the program alone and not on timings, so that a seed determines every bit.
        compiled: Callable[[Any], Any] = _in_one_kernel(self._jitted, lowered, points) or lowered.compile()
        return compiled


def _is_small_loop(lowered: Any) -> bool:
    """Whether the program runs on the CPU, has a loop, is small, and can run in one kernel."""
    if jax.default_backend() != "cpu":
        return False
    operations = set(re.findall(r"\b(?:stablehlo|chlo)\.(\w+)", lowered.as_text()))
    if "while" not in operations or operations & APART:
        return False
    cost = lowered.cost_analysis()
    return isinstance(cost, dict) and cost.get("bytes accessed", math.inf) <= MOST_BYTES


def _in_one_kernel(jitted: Callable[[Any], Any], lowered: Any, points: Array) -> Callable[[Any], Any] | None:
    """Compiles the program as one kernel, as XLA itself does with the smallest loops.

    Returns None if the program is not a small loop, or if this version of JAX does not support it.
    """
    try:
        if not _is_small_loop(lowered):
            return None
        from jax.experimental.xla_metadata import set_xla_metadata

        def call(points: Any) -> Any:
            return set_xla_metadata(jitted(points), xla_cpu_small_call="true", inlineable="false")

        compiled: Callable[[Any], Any] = jax.jit(call, compiler_options=NO_LIBRARY).lower(points).compile()
        return compiled
    except Exception:
        # This version of JAX lacks a feature. The function itself has been traced without an error.
        return None
