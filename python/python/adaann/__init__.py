"""Sample posteriors with several modes or an awkward shape: draws, evidence, modes, and how far to trust them.

    import adaann
    result = adaann.fit(log_density, names=["a", "b"])
    print(result)

A target can be a NumPy function of an array (n, d), a JAX or PyTorch function of one point, a PyMC model, a
Stan model, a model file, or a built-in density given by name. The target is called once for a whole batch of points.
"""

from . import flows, schedules
from ._calibrate import Calibration, calibrate
from ._core import Stopped, __version__
from ._densities import Density, densities, density
from ._fit import fit, load, settings, smc
from ._result import Draws, Evidence, Mode, Particles, Reason, Result, Verdict

__all__ = [
    "Calibration",
    "Density",
    "Draws",
    "Evidence",
    "Mode",
    "Particles",
    "Reason",
    "Result",
    "Stopped",
    "Verdict",
    "__version__",
    "calibrate",
    "densities",
    "density",
    "fit",
    "flows",
    "load",
    "schedules",
    "settings",
    "smc",
]
