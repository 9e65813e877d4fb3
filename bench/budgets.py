#!/usr/bin/env python3
"""Checks that runs keep to their bounds on evaluations and time.

    cargo build --release && bench/budgets.py [--only PART]

Every method runs on three targets: a cheap one (`hiv`), an external program with 10 ms per point, and an external
program that counts the points that it receives. A run may exceed a bound on evaluations by a thousand, and a bound on
time by 5 %, two seconds or one batch, whichever is most. The reported number of evaluations must equal the number of
points sent. Exits with 1 otherwise.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ADAANN = Path(__file__).resolve().parent.parent / "target/release/adaann"

METHODS = {
    "ladder": ["fit", "{model}"],
    "modes": ["fit", "{model}", "--method", "modes"],
    "mixture": ["fit", "{model}", "--method", "mixture"],
    "particles": ["fit", "{model}", "--method", "smc"],
    "chains": ["fit", "{model}", "--method", "chains"],
    "flow": ["fit", "{model}", "--method", "flow"],
    "adaann": ["fit", "{model}", "--method", "adaann"],
    "two seeds": ["fit", "{model}", "--method", "adaann", "--seeds", "2"],
    "smc": ["smc", "{model}"],
}

# Two modes at x = -1.3 and 1.7, with a correlated coordinate.
PROGRAM = """
import os, sys, time
SECONDS, COUNT = float(sys.argv[1]), sys.argv[2]
sys.stdin.readline()
print('{"gradient": false}', flush=True)
count = os.open(COUNT, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
for line in sys.stdin:
    points = [sys.stdin.readline().split() for _ in range(int(line.split()[1]))]
    os.write(count, b"." * len(points))
    time.sleep(SECONDS * len(points))
    for x, y in points:
        x, y = float(x), float(y)
        print(-2.0 * ((x - 0.2) ** 2 - 2.25) ** 2 - 3.0 * (y - 0.4 * x) ** 2)
    sys.stdout.flush()
"""

MODEL = """
[parameters]
x = "normal(0, 4)"
y = "normal(0, 4)"

[command]
run = ["python3", "program.py", "{seconds}", "{count}"]
"""


def run(folder, name, arguments, bounds):
    out = Path(tempfile.mkdtemp(dir=folder)) / "out"
    words = [str(ADAANN), *arguments, "--out", str(out), "--quiet", *bounds]
    began = time.monotonic()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    seconds = time.monotonic() - began
    summary = out / "summary.json"
    told = json.loads(summary.read_text()) if summary.exists() else {}
    reported = sum(told.get(f"{part}_evaluations", 0) for part in ["target", "check", "figure"])
    return done, seconds, reported, told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["evaluations", "time"])
    parser.add_argument("--method", choices=list(METHODS))
    options = parser.parse_args()
    methods = {options.method: METHODS[options.method]} if options.method else METHODS
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "program.py").write_text(PROGRAM)
        for name, seconds in [("counting", 0), ("slow", 0.01)]:
            (folder / f"{name}.toml").write_text(MODEL.format(seconds=seconds, count=folder / "count"))
        print(f"{'method':<10} {'target':<9} {'bound':>10} {'spent':>10} {'sent':>10} {'code':>5}  fits")

        def row(method, target, bound, spent, sent, code, fits):
            nonlocal failed
            failed += not fits
            print(f"{method:<10} {target:<9} {bound:>10} {spent:>10} {sent:>10} {code:>5}  {'yes' if fits else 'NO'}", flush=True)

        for method, words in methods.items():
            for bound in [1, 500, 3_000, 8_000, 20_000] if options.only != "time" else []:
                for target in ["hiv", "counting"]:
                    model = "counting.toml" if target == "counting" else "hiv"
                    arguments = [word.replace("{model}", model) for word in words]
                    if target == "hiv" and arguments[0] == "fit":
                        arguments[0] = "run"
                    (folder / "count").write_text("")
                    done, _, reported, told = run(folder, method, arguments, ["--max-evaluations", str(bound)])
                    sent = (folder / "count").stat().st_size
                    fits = done.returncode == 0 and reported <= bound + 1_000
                    if target == "counting":
                        fits = fits and sent == reported
                    row(method, target, f"{bound:,}", f"{reported:,}", f"{sent:,}" if target == "counting" else "", done.returncode, fits)
                    if done.returncode != 0:
                        print("   ", done.stderr.strip().splitlines()[-1:])
            for bound in [3, 10] if options.only != "evaluations" else []:
                arguments = [word.replace("{model}", "slow.toml") for word in words]
                (folder / "count").write_text("")
                done, seconds, reported, told = run(folder, method, arguments, ["--max-time", f"{bound}s"])
                sent = (folder / "count").stat().st_size
                fits = seconds <= bound + max(2.0, 0.05 * bound) and done.returncode == 0 and sent == reported
                row(method, "10 ms", f"{bound} s", f"{seconds:.1f} s", f"{sent:,}", done.returncode, fits)
                if sent != reported:
                    print("    reported:", reported)
                if done.returncode != 0:
                    print("   ", done.stderr.strip().splitlines()[-1:])
    print(f"{failed} rows do not hold" if failed else "all rows hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
