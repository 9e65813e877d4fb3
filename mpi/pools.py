"""Fits a posterior with one kind of pool, and prints a checksum of the draws: pools.py KIND.

KIND is none, multiprocessing, dask or mpi4py, the last under `mpiexec -n 3 python -m mpi4py.futures`. With --raises the
function fails in a worker, and the script prints the error that `adaann.fit` raises.
"""

import hashlib
import multiprocessing
import sys

import numpy as np

import adaann


def log_density(x):
    """Two modes of unequal weight and width, evaluated at the rows of x."""
    near = -2 * ((x - 2) ** 2).sum(axis=1)
    far = np.log(0.4) - ((x + [2, 1]) ** 2).sum(axis=1)
    return np.logaddexp(near, far)


def raises(x):
    """The same density, but it raises beyond a wall."""
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

            # The density is a function of this script, so it is pickled by value for the workers.
            with Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as client:
                with client.get_executor(pure=False) as pool:
                    fit(pool)
        case "mpi4py":
            from mpi4py.futures import MPIPoolExecutor

            with MPIPoolExecutor() as pool:
                fit(pool)


if __name__ == "__main__":
    main()
