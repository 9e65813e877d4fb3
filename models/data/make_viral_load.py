#!/usr/bin/env python3
"""Makes viral_load.csv: virus in the blood after the start of a therapy, down to what can be detected."""

import math
import pathlib
import random
import statistics

V0, CLEARANCE, DEATH, SIGMA, LIMIT = 2e5, 3.0, 0.5, 0.15, 50.0
DAYS = [0, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 25, 28]
uniform = random.Random(4).random

lines = ["day,log10_load"]
for day in DAYS:
    # The equations of viral_load.toml, solved on paper.
    c, d = CLEARANCE, DEATH
    old = V0 * math.exp(-c * day)
    # P' = d (c old - P), P(0) = c V0; then V' = P - c V, V(0) = 0.
    a, b = c * V0 * (1 - d / (d - c)), c * V0 * d / (d - c)
    new = a * (math.exp(-d * day) - math.exp(-c * day)) / (c - d) + b * day * math.exp(-c * day)
    noise = SIGMA * statistics.NormalDist().inv_cdf(uniform())
    log10_load = math.log10(old + new) + noise
    lines.append(f"{day},{max(log10_load, math.log10(LIMIT)):.4f}")
pathlib.Path(__file__).with_name("viral_load.csv").write_text("\n".join(lines) + "\n")
