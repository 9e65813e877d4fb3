"""Runs the code for other packages in the book's chapter on Python ("Coming from another package").

usage: migration.py [PACKAGE,...]       emcee, dynesty, nautilus, pocoMC, PyMC; all by default, some minutes

Run bench/peers/install.sh migration first, and use its interpreter: bench/.venv-migration/bin/python. The code for
adaann, on the right-hand sides of the chapter, is tested with the package (python/tests/test_book.py).

The code of each package runs in a separate process and folder, followed by MORE, which has the calls that occur only in
the table. All calls in the left column must be part of the executed code. The results are compared with the known
posterior of the line.
"""

import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = (ROOT / "docs/src/python.md").read_text()
# Distributions by the headings of the chapter.
DISTRIBUTIONS = {
    "emcee": "emcee", "dynesty": "dynesty", "nautilus": "nautilus-sampler", "pocoMC": "pocomc", "PyMC": "pymc",
}  # fmt: skip

# The posterior of the line is normal. Monte Carlo errors are up to 0.02 SD for a mean, with 4,000 effective draws, and
# 0.15 for log Z, with 500 live points: four of these are allowed for log Z, ten for a mean.
CHECK = """
def check(points, weights=None, log_z=None):
    design = np.stack([np.ones_like(x), x], axis=1)
    precision = design.T @ design / 0.1**2 + np.eye(2) / 5**2
    mean = np.linalg.solve(precision, design.T @ y / 0.1**2)
    off = (np.average(points, axis=0, weights=weights) - mean) * np.sqrt(1 / np.diag(np.linalg.inv(precision)))
    print(f"  {len(points):,} points, means off by {np.abs(off).max():.3f} SD", end="")
    assert (np.abs(off) < 0.2).all(), off
    if log_z is not None:
        exact = log_likelihood(mean) + log_prior(mean) + np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(precision)[1]
        print(f", log Z {log_z:.3f}, exact {exact:.3f}", end="")
        assert abs(log_z - exact) < 0.6
    print()


def many(p):
    return -0.5 * np.sum(((y - p[:, :1] - p[:, 1:] * x) / 0.1) ** 2, axis=1)
"""

MORE = {
    "emcee": """
check(chain)

from multiprocessing import Pool

from emcee.backends import HDFBackend

nwalkers, ndim = 32, 2
start = np.random.rand(nwalkers, ndim)

def run(sampler, steps=20):
    sampler.run_mcmc(start, steps)
    return sampler

print("  autocorrelation", sampler.get_autocorr_time())
run(emcee.EnsembleSampler(nwalkers, ndim, log_prob))
run(emcee.EnsembleSampler(nwalkers, ndim, many, vectorize=True))
run(emcee.EnsembleSampler(nwalkers, ndim, lambda p, x, y: -np.sum((y - p[0] - p[1] * x) ** 2), args=[x, y]))
run(emcee.EnsembleSampler(nwalkers, ndim, log_prob, backend=HDFBackend("file.h5")))
assert len(HDFBackend("file.h5", read_only=True).get_chain()) == 20

def above_zero(p):
    if p[1] < 0:
        return -np.inf
    return log_prob(p)

with Pool(2) as pool:
    kept = run(emcee.EnsembleSampler(nwalkers, ndim, above_zero, pool=pool), 2000)
assert (kept.get_chain(discard=1000, flat=True)[:, 1] > 0).all()
""",
    "dynesty": """
check(samples, log_z=log_z)
results = sampler.results
check(results.samples, results.importance_weights())

from multiprocessing import Pool

from dynesty import DynamicNestedSampler, NestedSampler

quiet = dict(print_progress=False)
sampler = DynamicNestedSampler(log_likelihood, prior_transform, 2)
sampler.run_nested(n_effective=10000, **quiet)
print(f"  effective {sampler.n_effective:,.0f}")
assert sampler.n_effective >= 10000
sampler = NestedSampler(log_likelihood, prior_transform, 2, nlive=1000)
sampler.run_nested(dlogz=0.01)
check(sampler.results.samples_equal(), log_z=sampler.results.logz[-1])

with Pool(2) as pool:
    sampler = DynamicNestedSampler(log_likelihood, prior_transform, 2, pool=pool, queue_size=8)
    sampler.run_nested(maxiter=500, **quiet)
DynamicNestedSampler(log_likelihood, prior_transform, 2).run_nested(checkpoint_file="run.save")
check(DynamicNestedSampler.restore("run.save").results.samples_equal())
""",
    "nautilus": """
check(points, np.exp(log_w), log_z)
points, log_w, log_l = sampler.posterior(equal_weight=True)
check(points)

again = Sampler(prior, likelihood, n_live=1000, filepath="run.hdf5", resume=True)
assert again.n_like == sampler.n_like
prior = Prior()
for name in names:
    prior.add_parameter(name, dist=norm(scale=5))
batch = lambda p: many(np.stack([p[name] for name in names], axis=1))
sampler = Sampler(prior, batch, vectorized=True)
sampler.run(n_eff=10000)
check(*sampler.posterior(equal_weight=True)[:1], log_z=sampler.log_z)
Sampler(prior, likelihood, pool=4).run(n_like_max=3000)
""",
    "pocoMC": """
check(samples, weights, log_z)
check(sampler.posterior(resample=True)[0])

from pathlib import Path

sampler = pocomc.Sampler(prior, many, vectorize=True, output_dir="states", random_state=1)
sampler.run(n_total=4096)
check(*sampler.posterior()[:2], sampler.evidence()[0])
sampler = pocomc.Sampler(prior, many, vectorize=True, output_dir="states", random_state=1)
sampler.run(save_every=3)
state = sorted(Path("states").glob("*.state"))[0]
sampler = pocomc.Sampler(prior, many, vectorize=True, output_dir="states", random_state=2)
sampler.run(resume_state_path=state)
check(*sampler.posterior()[:2], sampler.evidence()[0])
sampler = pocomc.Sampler(prior, log_likelihood, pool=4, random_state=3)
sampler.run()
check(*sampler.posterior()[:2], sampler.evidence()[0])
""",
    "PyMC": """
print(f"  R-hat {az.rhat(idata).to_array().max():.3f}, divergences {int(idata.sample_stats['diverging'].sum())}")
with schools:
    tempered = pm.sample_smc()
    pm.compute_log_likelihood(idata)
    # The last, since PyMC 5.28.5 adds to the model's observed variables here, and then finds no log density.
    predicted = pm.sample_posterior_predictive(idata)
assert idata.log_likelihood["effect"].shape == predicted.posterior_predictive["effect"].shape == (4, 1000, 8)
# The last of each chain's is that of the whole posterior.
log_z = tempered.sample_stats["log_marginal_likelihood"].values[:, -1].astype(float)
print("  log marginal likelihood of each chain", log_z)
assert np.ptp(log_z) < 0.5
""",
}


def blocks(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def section(heading):
    """The text from the last heading with this title to the next heading."""
    return re.split(r"^##+ ", CHAPTER.rpartition(f"{heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def code_of(package):
    """The code to run: the setup of the chapter, the code of the package, and the rest."""
    (before,) = blocks(section("## Coming from another package"), "python")
    if package == "PyMC":
        model = next(text for text in blocks(CHAPTER, "python") if " as schools:" in text)
        before += model.partition("\nresult = ")[0] + "\n"
    (written,) = blocks(section(f"### {package}"), "python,ignore")
    return "import numpy as np\n" + before + CHECK + written + MORE[package]


def left_column(package):
    """The code in the cells of the left column. `...` matches anything, and a call may have more arguments."""
    cells = re.findall(r"^\| (.*?) \|", section(f"### {package}"), re.MULTILINE)[2:]
    return [code for cell in cells for code in re.findall(r"`(.*?)`", cell)]


def run(package):
    assert f"{package} {version(DISTRIBUTIONS[package])}" in CHAPTER, f"another {package} than the chapter's"
    code = code_of(package)
    for call in left_column(package):
        pattern = re.escape(call.rstrip(")")).replace(re.escape("..."), ".*")
        assert re.search(pattern, code), f"{package}: {call} is not run"
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(code)
        done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True)
    # Packages print messages; lines of checks begin with two blanks.
    print(*(line for line in done.stdout.splitlines() if line.startswith("  ")), sep="\n")
    if done.returncode:
        print(done.stderr[-2000:])
    return done.returncode == 0


def main():
    wanted = sys.argv[1].split(",") if sys.argv[1:] else list(DISTRIBUTIONS)
    failed = []
    for package in wanted:
        calls = len(left_column(package))
        print(f"{package} {version(DISTRIBUTIONS[package])}, {calls} calls of the table", flush=True)
        if not run(package):
            failed.append(package)
    sys.exit(f"FAILED: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
