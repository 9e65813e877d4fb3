#!/usr/bin/env python3
"""Makes fish.csv: lengths of 300 fish of two ages."""

import pathlib
import random
import statistics

SHARE, MU, SIGMA = 0.35, (18.0, 27.0), (2.0, 3.0)
uniform = random.Random(4).random

lines = ["length"]
for _ in range(300):
    age = int(uniform() >= SHARE)
    lines.append(f"{statistics.NormalDist(MU[age], SIGMA[age]).inv_cdf(uniform()):.1f}")
pathlib.Path(__file__).with_name("fish.csv").write_text("\n".join(lines) + "\n")
