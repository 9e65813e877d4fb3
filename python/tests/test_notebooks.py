"""All notebooks run. The last cell of each compares the result with a known value."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).resolve().parents[2]
NEEDED = {"ode_in_jax": ["jax", "matplotlib", "pandas"], "pymc_model": ["pymc", "arviz", "jax"]}


def script() -> ModuleType:
    """Loads `python/notebooks/run`, which has no module suffix."""
    loader = importlib.machinery.SourceFileLoader("run", str(ROOT / "python/notebooks/run"))
    spec = importlib.util.spec_from_loader("run", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module


RUN = script()
NOTEBOOKS = RUN.notebooks()


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["black_box_with_pool", "ode_in_jax", "pymc_model"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_not_stored(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    # Each notebook checks its verdict.
    assert "assert result.verdict" in "\n".join(cell.source for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, monkeypatch, tmp_path):
    for module in NEEDED.get(path.stem, ["matplotlib"]):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    # An error in a cell raises here.
    notebook = RUN.executed(path)
    found = dict(RUN.figures(notebook))
    assert found
    for name, svg in found.items():
        assert (RUN.FIGURES / f"{name}.svg").is_file(), f"{name} is not in the book: python/notebooks/run {path.stem}"
        assert svg.lstrip().startswith("<?xml")
        assert len(svg) < 300_000
        assert "<dc:date>" not in svg
