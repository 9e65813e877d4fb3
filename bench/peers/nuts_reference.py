"""Reference answers for high-dimensional posteriors, from long NUTS runs of numpyro.

usage: nuts_reference.py FOLDER [POSTERIOR ...] > bench/fixtures/nuts.json

Takes six minutes on one core. Run bench/peers/install.sh nuts first. FOLDER contains posteriors of posteriordb as
model files, with their tables in `data`. Both are not in this repository, because these tables of posteriordb have
no stated licence. This script defines the models again in numpyro, which reveals errors in how adaann reads its
files. For every parameter it writes the mean, the standard deviation and the Monte Carlo errors of both, the latter
from the chains of squared deviations. It rejects runs whose chains disagree, or that have fewer than 2,000
effective draws for any mean or spread.
"""
import csv
import json
import os
import sys
import time

# One core: chains run vectorised in one program, and tables of a thousand rows are too small to split.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer import MCMC, NUTS

SEED, CHAINS, WARMUP, ACCEPTED = 1, 4, 2_000, 0.95
ENOUGH, MOST_RHAT = 2_000, 1.01


def irt_2pl(table):
    """Answers of 100 persons to 20 items: how able, how hard, how sharply told apart."""
    item, person = table["item"].astype(int) - 1, table["person"].astype(int) - 1
    sigma_theta = numpyro.sample("sigma_theta", dist.HalfCauchy(2.0))
    theta = numpyro.sample("theta", dist.Normal(0.0, sigma_theta).expand([100]))
    sigma_a = numpyro.sample("sigma_a", dist.HalfCauchy(2.0))
    a = numpyro.sample("a", dist.LogNormal(0.0, sigma_a).expand([20]))
    mu_b = numpyro.sample("mu_b", dist.Normal(0.0, 5.0))
    sigma_b = numpyro.sample("sigma_b", dist.HalfCauchy(2.0))
    b = numpyro.sample("b", dist.Normal(mu_b, sigma_b).expand([20]))
    numpyro.sample("y", dist.Bernoulli(logits=a[item] * (theta[person] - b[item])), obs=table["y"])


def radon(table):
    """Radon in houses of 85 counties, whose intercepts are deviations in units of their spread."""
    county = table["county_idx"].astype(int) - 1
    alpha_raw = numpyro.sample("alpha_raw", dist.Normal(0.0, 1.0).expand([85]))
    beta = numpyro.sample("beta", dist.Normal(0.0, 10.0).expand([2]))
    mu_alpha = numpyro.sample("mu_alpha", dist.Normal(0.0, 10.0))
    sigma_alpha = numpyro.sample("sigma_alpha", dist.HalfNormal(1.0))
    sigma_y = numpyro.sample("sigma_y", dist.HalfNormal(1.0))
    mean = mu_alpha + sigma_alpha * alpha_raw[county]
    mean = mean + table["log_uppm"] * beta[0] + table["floor_measure"] * beta[1]
    numpyro.sample("log_radon", dist.Normal(mean, sigma_y), obs=table["log_radon"])


# By the names that posteriordb gives them: the model, its table, and how many draws a chain takes.
POSTERIORS = {
    "irt_2pl-irt_2pl": (irt_2pl, "irt_2pl.csv", 30_000),
    "radon_mn-radon_hierarchical_intercept_noncentered": (radon, "radon_mn.csv", 10_000),
}


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def columns(samples):
    """Names as in model files, counted from 1, each with its draws (chain by draw)."""
    for name, draws in samples.items():
        draws = np.asarray(draws)
        if draws.ndim == 2:
            yield name, draws
        else:
            yield from ((f"{name}[{i + 1}]", draws[:, :, i]) for i in range(draws.shape[2]))


def reference(name, folder):
    model, table, draws = POSTERIORS[name]
    table = read(os.path.join(folder, "data", table))
    start = time.time()
    chains = MCMC(
        NUTS(model, target_accept_prob=ACCEPTED), num_warmup=WARMUP, num_samples=draws,
        num_chains=CHAINS, chain_method="vectorized", progress_bar=False,
    )
    chains.run(jax.random.PRNGKey(SEED), table, extra_fields=("diverging", "num_steps"))
    extra = chains.get_extra_fields()
    answer = dict(parameters=[], mean=[], sd=[], mean_error=[], sd_error=[])
    ess, rhat = [], []
    for parameter, x in columns(chains.get_samples(group_by_chain=True)):
        mean, sd = x.mean(), x.std()
        square = (x - mean) ** 2
        ess.append([effective_sample_size(x), effective_sample_size(square)])
        rhat.append([split_gelman_rubin(x), split_gelman_rubin(square)])
        answer["parameters"].append(parameter)
        answer["mean"].append(mean)
        answer["sd"].append(sd)
        answer["mean_error"].append(sd / np.sqrt(ess[-1][0]))
        # The error of a variance, over twice the root.
        answer["sd_error"].append(square.std() / np.sqrt(ess[-1][1]) / (2.0 * sd))
    ess, rhat = np.array(ess), np.array(rhat)
    diverged = int(extra["diverging"].sum())
    print(
        f"{name}: {len(ess)} numbers, least ESS {ess[:, 0].min():.0f} of means and {ess[:, 1].min():.0f} of "
        f"spreads, largest R-hat {rhat.max():.4f}, {diverged} diverged, "
        f"{int(extra['num_steps'].sum()):,} gradients, {time.time() - start:.0f} s",
        file=sys.stderr, flush=True,
    )
    if ess.min() < ENOUGH or rhat.max() > MOST_RHAT:
        sys.exit(f"{name}: these chains are no reference")
    rounded = {key: [float(f"{value:.7g}") for value in answer[key]] for key in answer if key != "parameters"}
    run = dict(chains=CHAINS, draws=draws, seed=SEED, diverged=diverged)
    run.update(least_ess=round(float(ess.min())), largest_rhat=round(float(rhat.max()), 4))
    return dict(run=run, parameters=answer["parameters"], **rounded)


def text(references):
    """Formats each list as one line, to keep the diffs of the file readable."""
    parts = []
    for name, values in references.items():
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
        parts.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}"


def main():
    jax.config.update("jax_enable_x64", True)
    folder, names = sys.argv[1], sys.argv[2:] or list(POSTERIORS)
    print(text({name: reference(name, folder) for name in names}))


if __name__ == "__main__":
    main()
