#!/usr/bin/env python3
"""Makes patients.csv: 200 patients of whom some were treated and some recovered."""

import math
import pathlib
import random

INTERCEPT, SLOPE, EFFECT = 0.3, -0.9, 1.2
uniform = random.Random(1).random

rows = [(20 + math.floor(61 * uniform()), round(uniform()), uniform()) for _ in range(200)]
mean = sum(age for age, _, _ in rows) / len(rows)
sd = math.sqrt(sum((age - mean) ** 2 for age, _, _ in rows) / (len(rows) - 1))
lines = ["age,treated,recovered"]
for age, treated, u in rows:
    log_odds = INTERCEPT + SLOPE * (age - mean) / sd + EFFECT * treated
    recovered = int(u < 1 / (1 + math.exp(-log_odds)))
    lines.append(f"{age},{treated},{recovered}")
pathlib.Path(__file__).with_name("patients.csv").write_text("\n".join(lines) + "\n")
