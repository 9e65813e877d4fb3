"""Programs of JAX's, one for each length of batches; small loops in one kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import jax

from .adapter import Array

#: So many bytes are read and written by a program, its loops counted once, that is faster as one kernel. Beyond it the
#: operations take longer than what starts them, and XLA has them faster by themselves.
MOST_BYTES = 16e6

#: What XLA cannot put into one kernel, and products of matrices, which it multiplies faster outside of one.
APART = frozenset(
    "custom_call scatter select_and_scatter sort top_k fft rng rng_bit_generator convolution dot dot_general "
    "cholesky triangular_solve infeed outfeed".split()
)

#: Sums that XLA has a library compute could not be part of a kernel.
NO_LIBRARY = {"xla_cpu_experimental_ynn_fusion_type": ""}


def double() -> AbstractContextManager[Any]:
    """Double precision in this thread, whatever the user's settings are."""
    if hasattr(jax, "enable_x64"):
        context: AbstractContextManager[Any] = jax.enable_x64(True)
        return context
    from jax import experimental  # where older versions have it

    context = getattr(experimental, "enable_x64")()
    return context


class Program:
    """`function` of an array (d, n), compiled once for each shape. To be called in double precision.

    XLA starts a kernel for every operation in every round of a loop, which for the steps of a solver over some dozen
    points takes longer than the operations do. Small loops are compiled into one kernel instead, which is up to five
    times faster, for gradients above all. See "Loops in one kernel" in bench/python/README.md.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._jitted = jax.jit(function)
        self._compiled: dict[tuple[int, ...], Callable[[Any], Any]] = {}
        self.compilations = 0
        """So many programs were traced and compiled until now."""

    def __call__(self, points: Array) -> Any:
        """What the function returns, which may still be at work on it."""
        compiled = self._compiled.get(points.shape)
        if compiled is None:
            self.compilations += 1
            compiled = self._compiled[points.shape] = self._compile(points)
        return compiled(points)

    def _compile(self, points: Array) -> Callable[[Any], Any]:
        lowered = self._jitted.lower(points)
        # Which it is depends on the program alone, never on a stopwatch: a seed fixes the bits.
        compiled: Callable[[Any], Any] = _in_one_kernel(self._jitted, lowered, points) or lowered.compile()
        return compiled


def _is_small_loop(lowered: Any) -> bool:
    """Whether a program for the CPU has a loop, is small, and has nothing that must run outside of a kernel."""
    if jax.default_backend() != "cpu":
        return False
    operations = set(re.findall(r"\b(?:stablehlo|chlo)\.(\w+)", lowered.as_text()))
    if "while" not in operations or operations & APART:
        return False
    cost = lowered.cost_analysis()
    return isinstance(cost, dict) and cost.get("bytes accessed", math.inf) <= MOST_BYTES


def _in_one_kernel(jitted: Callable[[Any], Any], lowered: Any, points: Array) -> Callable[[Any], Any] | None:
    """The program as a call that XLA is told to make a kernel of, as it does by itself with the smallest loops.

    None where it is no small loop, and where this version of JAX knows no such thing.
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
        # Whatever it is that this version lacks, the function itself has been traced and is right.
        return None
