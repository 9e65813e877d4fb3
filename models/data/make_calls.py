#!/usr/bin/env python3
"""Makes calls.csv: calls at a help line in each of 30 weeks, whose rate drifts up and down."""

import math
import pathlib
import random

MEAN, SIZE, LENGTH = 2.5, 0.6, 5.0
WEEKS = 30
draw = random.Random(9)


def covariance(i, j):
    r = math.sqrt(3) * abs(i - j) / LENGTH
    return SIZE**2 * (1 + r) * math.exp(-r)


factor = [[0.0] * WEEKS for _ in range(WEEKS)]
for i in range(WEEKS):
    for j in range(i + 1):
        rest = covariance(i, j) - sum(factor[i][k] * factor[j][k] for k in range(j))
        factor[i][j] = math.sqrt(rest) if i == j else rest / factor[j][j]
noise = [draw.gauss(0, 1) for _ in range(WEEKS)]
lines = ["week,calls"]
for i in range(WEEKS):
    mean = math.exp(MEAN + sum(factor[i][k] * noise[k] for k in range(i + 1)))
    # Arrivals at rate 1 until the time is over.
    count, left = 0, mean - draw.expovariate(1)
    while left > 0:
        count, left = count + 1, left - draw.expovariate(1)
    lines.append(f"{i + 1},{count}")
pathlib.Path(__file__).with_name("calls.csv").write_text("\n".join(lines) + "\n")
