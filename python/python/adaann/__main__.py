"""The command line of the package: `python -m adaann fit model.toml`."""

import sys

from . import _core


def main() -> int:
    """Runs the command line and returns its exit code."""
    return _core.command(["adaann", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
