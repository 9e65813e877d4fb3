"""All code of the chapter on Python runs, and prints what the chapter shows."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "docs/src/python.md"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def blocks(text: str) -> list[tuple[str, int, str]]:
    """The language, first line and text of every block, in order."""
    found = []
    for match in re.finditer(r"^```(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        found.append((match[1], text.count("\n", 0, match.start(2)), match[2]))
    return found


def test_all_code_runs(tmp_path, monkeypatch):
    pytest.importorskip("pymc")
    pytest.importorskip("torch")
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)
    # As in a script, so that functions are pickled by value.
    space: dict = {"__name__": "__main__"}
    ran, printed = 0, ""
    for language, line, text in blocks(CHAPTER.read_text()):
        if language == "python":
            # Errors show the line numbers of the chapter.
            code = compile("\n" * line + text, str(CHAPTER), "exec", dont_inherit=True)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, space)
            printed, ran = out.getvalue(), ran + 1
        elif language == "text":
            assert_alike(printed, text)
        elif language == "sh":
            for command in text.splitlines():
                if command.startswith("python "):
                    subprocess.run([sys.executable, *shlex.split(command)[1:]], check=True, stdout=subprocess.DEVNULL)
    assert ran > 25


def assert_alike(printed: str, shown: str) -> None:
    """The text is equal, and numbers agree to four digits; the last digits depend on the machine."""
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    ours, theirs = ([float(number) for number in NUMBER.findall(text)] for text in (printed, shown))
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-4)


def test_blocks_are_found_where_they_are():
    found = blocks("a\n```python\nb\n```\n```python,ignore\nc\nd\n```\n")
    assert found == [("python", 2, "b\n"), ("python,ignore", 5, "c\nd\n")]
