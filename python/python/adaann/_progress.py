"""A progress bar for terminals and notebooks."""

from __future__ import annotations

import sys
import time
from typing import Any

_WIDTH = 26
_EVERY = 0.1


class Bar:
    """A bar with the current step and the remaining time. It disappears when the run ends."""

    def __init__(self) -> None:
        self._handle: Any = _notebook()
        self._shown = 0.0
        self._length = 0

    def __call__(self, share: float, what: str) -> None:
        """Shows the share of the work that is done."""
        now = time.monotonic()
        if now - self._shown < _EVERY:
            return
        self._shown = now
        full = round(_WIDTH * min(max(share, 0.0), 1.0))
        line = f"{'━' * full}{' ' * (_WIDTH - full)} {100 * share:3.0f}%  {what}"
        if self._handle is not None:
            self._handle.update({"text/plain": line}, raw=True)
            return
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def close(self) -> None:
        """Removes the bar."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
        elif self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()


def _notebook() -> Any:
    """A display handle if this is a notebook, otherwise None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display({"text/plain": ""}, raw=True, display_id=True)
