#!/usr/bin/env python3
"""Makes outbreak.csv: cases of 24 days, with Poisson noise around what simulate.py expects."""

import math
import pathlib
import random
import sys

folder = pathlib.Path(__file__).parent
sys.path.insert(0, str(folder.parent))
from simulate import expected

R_BEFORE, R_AFTER, IMPORTED = 1.8, 0.7, 12.0
uniform = random.Random(5).random


def poisson(mean):
    """The first count whose distribution function is above a uniform number."""
    u, count, share = uniform(), 0, math.exp(-mean)
    while u >= share and count < 10_000:
        u -= share
        count += 1
        share *= mean / count
    return count


lines = ["day,cases"]
for day, mean in enumerate(expected(R_BEFORE, R_AFTER, IMPORTED, 24)[0]):
    lines.append(f"{day},{poisson(mean)}")
folder.joinpath("outbreak.csv").write_text("\n".join(lines) + "\n")
