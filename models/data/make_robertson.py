#!/usr/bin/env python3
"""Makes robertson.csv: three substances at times that rise tenfold, with errors of a share each."""

import math
import pathlib
import random

K = 0.04, 3e7, 1e4
SIGMA = 0.05
normal = random.Random(11).gauss


def rates(y):
    a, b, c = K[0] * y[0], K[1] * y[1] * y[1], K[2] * y[1] * y[2]
    return [c - a, a - b - c, b]


def jacobian(y):
    return [
        [-K[0], K[2] * y[2], K[2] * y[1]],
        [K[0], -2 * K[1] * y[1] - K[2] * y[2], -K[2] * y[1]],
        [0.0, 2 * K[1] * y[1], 0.0],
    ]


def solve(m, x):
    m, x = [row[:] for row in m], x[:]
    for i in range(3):
        for j in range(i + 1, 3):
            f = m[j][i] / m[i][i]
            m[j] = [p - f * q for p, q in zip(m[j], m[i])]
            x[j] -= f * x[i]
    for i in reversed(range(3)):
        x[i] = (x[i] - sum(m[i][j] * x[j] for j in range(i + 1, 3))) / m[i][i]
    return x


def step(y, h):
    """Backward Euler in one, two and four steps, extrapolated."""
    def euler(y, h, count):
        for _ in range(count):
            new = y[:]
            for _ in range(20):
                residual = [n - o - h / count * r for n, o, r in zip(new, y, rates(new))]
                m = [[(i == j) - h / count * d for j, d in enumerate(row)] for i, row in enumerate(jacobian(new))]
                delta = solve(m, residual)
                new = [n - d for n, d in zip(new, delta)]
            y = new
        return y

    one, two, four = euler(y, h, 1), euler(y, h, 2), euler(y, h, 4)
    # Errors of first and second order cancel.
    return [(8 * f - 6 * t + o) / 3 for o, t, f in zip(one, two, four)]


lines = ["seconds,a,b,c"]
y, now = [1.0, 0.0, 0.0], 0.0
for k in range(16):
    then = 10 ** (-1.5 + 5.5 * k / 15)
    steps = 400
    ratio = (then / max(now, 1e-6)) ** (1 / steps)
    t = max(now, 1e-6)
    for _ in range(steps):
        y = step(y, t * ratio - (t if t > 1e-6 or now else 0.0))
        t *= ratio
        now = t
    measured = [v * math.exp(SIGMA * normal(0, 1)) for v in y]
    lines.append(f"{then:.6g}," + ",".join(f"{m:.6g}" for m in measured))
pathlib.Path(__file__).with_name("robertson.csv").write_text("\n".join(lines) + "\n")
