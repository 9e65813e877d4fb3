"""Fixtures that several tests share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def adaann_program() -> Path:
    """The command line's program."""
    return Path(os.environ.get("ADAANN", ROOT / "target/release/adaann"))


@pytest.fixture
def command_line(adaann_program: Path, tmp_path: Path):
    """Runs the command line, and returns the folder that it wrote."""

    def run(*arguments: str) -> Path:
        folder = tmp_path / "by-command-line"
        subprocess.run(
            [adaann_program, *arguments, "--out", folder, "--quiet"], check=True, cwd=ROOT
        )
        return folder

    return run
