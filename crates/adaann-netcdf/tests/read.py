"""Prints the contents of a netCDF file as several readers see them, one line per item.

Numbers are printed as the sixteen hexadecimal digits of their bits and texts as those of their UTF-8, so that NaN, -0
and unusual characters compare exactly. Each reader is imported only when used, because ArviZ alone takes seconds.
"""

import sys
import warnings

warnings.simplefilter("ignore")

import numpy as np

ACCOUNTS = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}
ACCOUNTS |= {"_NCProperties", "_Netcdf4Coordinates", "_Netcdf4Dimid"}
NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable."


def spelled(values):
    if isinstance(values, np.ma.MaskedArray):
        assert not values.mask.any(), "values are masked"
    values = np.atleast_1d(values).ravel()
    if values.dtype == np.float64:
        return " ".join(["numbers", *(f"{bits:016x}" for bits in values.view(np.uint64))])
    if values.dtype == np.int64:
        return " ".join(["integers", *map(str, values)])
    assert values.dtype.kind in "SUTO", f"{values.dtype} values"
    texts = (v if isinstance(v, bytes) else v.encode() for v in values)
    return " ".join(["texts", *("x" + text.hex() for text in texts)])


def attributes(place, found):
    for name, value in found.items():
        yield f"attribute {place} {name} {spelled(value)}"


def variable(place, name, dimensions, values, found):
    yield f"variable {place} {name} ({', '.join(dimensions)}) {spelled(values)}"
    yield from attributes(f"{place}/{name}", found)


def with_h5py(path):
    import h5py

    def kept(thing):
        return {name: value for name, value in thing.attrs.items() if name not in ACCOUNTS}

    file = h5py.File(path)
    yield from attributes("/", kept(file))
    for group_name, group in file.items():
        yield from attributes(group_name, kept(group))
        for name, data in group.items():
            if data.attrs.get("CLASS") == b"DIMENSION_SCALE":
                assert data.is_scale
                dimensions = [name]
                yield f"dimension {group_name} {name} {len(data)}"
                if data.attrs["NAME"].startswith(NO_VARIABLE):
                    continue
            else:
                dimensions = [scale[0].name.split("/")[-1] for scale in data.dims]
            yield from variable(group_name, name, dimensions, data[()], kept(data))


def with_netcdf4(path):
    import netCDF4

    def all_of(thing):
        return {name: thing.getncattr(name) for name in thing.ncattrs()}

    file = netCDF4.Dataset(path)
    yield from attributes("/", all_of(file))
    for group_name, group in file.groups.items():
        yield from attributes(group_name, all_of(group))
        for name, dimension in group.dimensions.items():
            yield f"dimension {group_name} {name} {len(dimension)}"
        for name, data in group.variables.items():
            yield from variable(group_name, name, data.dimensions, data[...], all_of(data))


def dataset(place, data):
    yield from attributes(place, data.attrs)
    for name, length in data.sizes.items():
        yield f"dimension {place} {name} {length}"
    for name, values in data.variables.items():
        yield from variable(place, name, values.dims, values.values, values.attrs)


def with_xarray(engine):
    def lines(path):
        import netCDF4
        import xarray as xr

        yield from attributes("/", xr.open_dataset(path, engine=engine).attrs)
        for group in netCDF4.Dataset(path).groups:
            yield from dataset(group, xr.open_dataset(path, group=group, engine=engine))

    return lines


def with_arviz(path):
    import arviz as az

    # An InferenceData before ArviZ 1, then a DataTree.
    found = az.from_netcdf(path)
    yield from attributes("/", found.attrs)
    old = hasattr(found, "groups") and callable(found.groups)
    for name in found.groups() if old else found.children:
        yield from dataset(name, found[name] if old else found[name].to_dataset(inherit=False))


def summary(path):
    import arviz as az

    table = az.summary(az.from_netcdf(path), round_to="none")
    for label, mean in table["mean"].items():
        yield f"mean {label} {spelled(np.float64(mean))}"


def loo(path):
    import arviz as az

    found = az.loo(az.from_netcdf(path))
    elpd = found.elpd_loo if hasattr(found, "elpd_loo") else found.elpd
    yield f"elpd {spelled(np.float64(elpd))}"


READERS = {
    "h5py": with_h5py,
    "netCDF4": with_netcdf4,
    "xarray-netcdf4": with_xarray("netcdf4"),
    "xarray-h5netcdf": with_xarray("h5netcdf"),
    "arviz": with_arviz,
    "summary": summary,
    "loo": loo,
}

if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    for line in READERS[sys.argv[1]](sys.argv[2]):
        print(line)
