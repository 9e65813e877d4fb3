"""The command line, as the package brings it: `python -m adaann fit model.toml`."""

import sys

from . import _core


def main() -> int:
    """Does what the arguments say, and gives the exit code."""
    return _core.command(["adaann", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
