"""Data for a model file: another file, a dictionary of columns, or a table of pandas or polars."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


@contextmanager
def as_file(data: Any) -> Iterator[str | None]:
    """Yields the path of a file with the data. A temporary file is deleted on exit."""
    if data is None or isinstance(data, (str, os.PathLike)):
        yield None if data is None else os.fspath(data)
        return
    columns = _columns(data)
    with TemporaryDirectory(prefix="adaann-") as folder:
        path = Path(folder) / "data.csv"
        _write(path, columns)
        yield str(path)


def _columns(data: Any) -> dict[str, list[Any]]:
    if isinstance(data, Mapping):
        found: Mapping[Any, Iterable[Any]] = data
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):
        # Polars returns series by default, pandas returns lists with "list".
        found = data.to_dict(as_series=False) if hasattr(data, "to_dicts") else data.to_dict("list")
    else:
        kind = type(data).__name__
        raise TypeError(
            f"data is a {kind}, but must be a path, a dict of columns, or a table of pandas or polars"
        )
    columns = {str(name): list(column) for name, column in found.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns of data differ in length: {lengths}")
    return columns


def _write(path: Path, columns: Mapping[str, list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(columns)
        rows.writerows(zip(*(map(_cell, column) for column in columns.values()), strict=True))


def _cell(value: Any) -> str:
    """Formats a number with digits that round-trip, and any other value by `str`."""
    if isinstance(value, bool):
        return str(int(value))
    if hasattr(value, "item"):
        value = value.item()
    return repr(value) if isinstance(value, float) else str(value)
