"""Conversion between columns such as `beta[1]` and `L[2,1]` and arrays."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
from numpy.typing import NDArray

_ELEMENT = re.compile(r"^(.+)\[(\d+(?:,\s*\d+)*)\]$")


def grouped(columns: list[str], rows: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Groups columns into arrays by name, with draws along the first axis.

    If some elements of an array are missing, its columns stay separate.
    """
    places: dict[str, dict[tuple[int, ...], int]] = {}
    for row, column in enumerate(columns):
        element = _ELEMENT.match(column)
        if element:
            index = tuple(int(part) for part in element[2].split(","))
            places.setdefault(element[1], {})[index] = row
        else:
            places.setdefault(column, {})[()] = row
    found: dict[str, NDArray[np.float64]] = {}
    for name, elements in places.items():
        shape = tuple(max(axis) for axis in zip(*elements, strict=True))
        whole = list(product(*(range(1, size + 1) for size in shape)))
        if set(whole) == set(elements):
            array = rows[[elements[index] for index in whole]]
            found[name] = np.moveaxis(array.reshape(*shape, rows.shape[1]), -1, 0)
        else:
            found.update({columns[row]: rows[row] for row in elements.values()})
    return found


def flattened(arrays: dict[str, NDArray[np.float64]]) -> tuple[list[str], NDArray[np.float64]]:
    """Splits arrays with draws along the first axis into column names and rows of shape (columns, draws)."""
    columns, rows = [], []
    for name, array in arrays.items():
        shape = array.shape[1:]
        indices = product(*(range(1, size + 1) for size in shape))
        columns += [f"{name}[{','.join(map(str, index))}]" if index else name for index in indices]
        rows.append(np.asarray(array, dtype=np.float64).reshape(len(array), -1).T)
    return columns, np.concatenate(rows)
