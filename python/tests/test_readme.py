"""The Python code of the README runs, and finds the result that the README states."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    names: dict = {}
    exec(blocks[0], names)
    result = names["result"]
    # Weights of four to one, and five times the integral of a Gaussian with variance 1/2 in each coordinate.
    assert result.verdict.trust == "reliable"
    heavy, light = result.modes
    assert abs(heavy.weight - 0.8) < 5 * heavy.weight_error and abs(light.weight - 0.2) < 5 * light.weight_error
    value, error = result.log_evidence
    assert abs(value - 2.754168) < 5 * error  # log(5 pi)
