"""Adapters from user targets to the interface of the engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

from .adapter import Adapter, Parts, Support
from .coordinates import Bounds, Names, coordinates

__all__ = ["Adapter", "Parts", "Support", "adapt"]

BACKENDS = ("numpy", "jax", "torch")


def adapt(
    target: Any,
    *,
    dim: int | None = None,
    names: Names | None = None,
    bounds: Bounds | None = None,
    supports: Mapping[str, str] | None = None,
    prior: Callable[..., Any] | None = None,
    gradient: Any = None,
    vectorized: bool = True,
    backend: str | None = None,
    pool: Any = None,
) -> Adapter:
    """Returns the adapter for `target`: a function of NumPy, JAX or PyTorch, or a model of PyMC or Stan.

    With `prior`, `target` is the log likelihood. `backend` names the library of a function. Without it, jitted JAX
    functions and PyTorch modules are recognised, and any other function is treated as a NumPy function of a batch.
    """
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend is {backend!r}; expected one of {', '.join(map(repr, BACKENDS))}.")
    own = dict(
        dim=dim, names=names, bounds=bounds, supports=supports, prior=prior, gradient=gradient, backend=backend, pool=pool
    )
    if _is(target, "pymc", "Model"):
        _refuse(own, "A PyMC model")
        from .pymc_model import PymcModel

        return PymcModel(target)
    if _is(target, "bridgestan", "StanModel"):
        _refuse(own, "A Stan model")
        from .stan_model import StanModel

        return StanModel(target)
    if not callable(target):
        raise TypeError(
            f"adaann.fit cannot take a {type(target).__name__} as target; it takes a function of NumPy, JAX or "
            "PyTorch, a PyMC model or a BridgeStan model."
        )
    if prior is not None and not callable(prior):
        raise TypeError(f"prior is a {type(prior).__name__}; expected a function of the same kind as the target.")
    where = coordinates(dim, names, bounds, supports)
    backend = backend or _recognised(target)
    if backend == "numpy":
        from .numpy_function import NumpyFunction

        function = NumpyFunction(where, target, prior, gradient, vectorized)
        if pool is None:
            return function
        from .pool import Pooled

        return Pooled(function, pool)
    if pool is not None:
        raise ValueError(f'pool= is for NumPy functions; a function with backend="{backend}" uses all cores.')
    if gradient not in (None, True, False):
        raise ValueError(f'With backend="{backend}" the gradient is computed; gradient= must be True, False or omitted.')
    if backend == "jax":
        from .jax_function import JaxFunction

        return JaxFunction(where, target, prior, gradient is not False)
    from .torch_function import TorchFunction

    return TorchFunction(where, target, prior, gradient is not False)


def _is(target: Any, module: str, name: str) -> bool:
    """Whether `target` is an instance of this class, without importing the module."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(target, cast(type, kind))


def _recognised(target: Any) -> str:
    if _is(target, "torch.nn", "Module"):
        return "torch"
    jax = sys.modules.get("jax")
    jitted = jax is not None and isinstance(target, type(jax.jit(lambda x: x)))
    return "jax" if jitted else "numpy"


def _refuse(own: Mapping[str, Any], what: str) -> None:
    given = [f"{name}=" for name, value in own.items() if value is not None]
    if given:
        raise ValueError(f"{what} defines these itself; remove {', '.join(given)}.")
