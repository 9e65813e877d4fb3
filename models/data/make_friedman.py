#!/usr/bin/env python3
"""Makes friedman.csv: 1,000 rows of ten inputs between 0 and 1, and a noisy function of them."""

import math
import pathlib
import random
import statistics

B = [10.0, math.sqrt(20), 0.5, 10.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0]
uniform = random.Random(3).random

lines = [",".join([*(f"x{i}" for i in range(1, 11)), "y"])]
for _ in range(1000):
    x = [round(uniform(), 4) for _ in range(10)]
    y = B[0] * math.sin(math.pi * x[0] * x[1]) + B[1] ** 2 * (x[2] - B[2]) ** 2
    y += sum(b * x for b, x in zip(B[3:], x[3:]))
    y += statistics.NormalDist().inv_cdf(uniform())
    lines.append(",".join(f"{value:.4f}" for value in [*x, y]))
pathlib.Path(__file__).with_name("friedman.csv").write_text("\n".join(lines) + "\n")
