#!/usr/bin/env python3
"""Makes three series: level.csv (AR(2) and ARMA(1,1)), returns.csv (GARCH(1,1)) and signal.csv (a hidden state)."""

import pathlib
import random

normal = random.Random(11).gauss
uniform = random.Random(12).random
folder = pathlib.Path(__file__).parent


def write(name, columns, rows):
    lines = [",".join(columns)]
    for t, row in enumerate(rows, 1):
        lines.append(",".join([str(t), *(f"{value:.4f}" for value in row)]))
    (folder / name).write_text("\n".join(lines) + "\n")


# u is an AR(2) around 1, v an ARMA(1,1) around 2.
u, v, e = [1.0, 1.0], 2.0, 0.0
rows = []
for _ in range(200):
    u.append(1 + 0.6 * (u[-1] - 1) + 0.25 * (u[-2] - 1) + normal(0, 0.5))
    noise = normal(0, 0.8)
    v = 2 + 0.7 * (v - 2) + 0.4 * e + noise
    e = noise
    rows.append((u[-1], v))
write("level.csv", ["t", "u", "v"], rows)

# Returns in per cent, whose variance is carried on.
h, y = 1.0, 0.05
rows = []
for _ in range(1000):
    h = 0.1 + 0.15 * (y - 0.05) ** 2 + 0.75 * h
    y = 0.05 + normal(0, h**0.5)
    rows.append((y,))
write("returns.csv", ["t", "y"], rows)

# Two hidden states, of which each stays as it is with its own probability.
state = 0
rows = []
for _ in range(300):
    state = state if uniform() < (0.95, 0.85)[state] else 1 - state
    rows.append((normal((1.0, 3.0)[state], 0.7),))
write("signal.csv", ["t", "y"], rows)
