"""Fits one posterior by a pool of one kind, and prints a sum over the bits of its draws: pools.py KIND.

KIND is none, multiprocessing, dask or mpi4py, the last under `mpiexec -n 3 python -m mpi4py.futures`. With --raises the
function fails in a worker, and what comes of it is printed.
"""

import hashlib
import multiprocessing
import sys

import numpy as np

import adaann


def log_density(x):
    """Two humps of unequal weight and width, at the rows of x."""
    near = -2 * ((x - 2) ** 2).sum(axis=1)
    far = np.log(0.4) - ((x + [2, 1]) ** 2).sum(axis=1)
    return np.logaddexp(near, far)


def raises(x):
    """The same, which fails beyond a wall."""
    if (x[:, 0] > 2.5).any():
        raise ValueError("beyond the wall")
    return log_density(x)


def main():
    function = raises if "--raises" in sys.argv else log_density

    def fit(pool):
        try:
            result = adaann.fit(function, names=["a", "b"], seed=3, pool=pool)
        except ValueError as error:
            print("ValueError:", str(error).splitlines()[0])
        else:
            print(result.verdict.trust, hashlib.sha256(result.draws.array.tobytes()).hexdigest())

    match sys.argv[1]:
        case "none":
            fit(None)
        case "multiprocessing":
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                fit(pool)
        case "dask":
            from distributed import Client

            # The density is a function of this script, which the workers' processes get by value.
            with Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as client:
                with client.get_executor(pure=False) as pool:
                    fit(pool)
        case "mpi4py":
            from mpi4py.futures import MPIPoolExecutor

            with MPIPoolExecutor() as pool:
                fit(pool)


if __name__ == "__main__":
    main()
