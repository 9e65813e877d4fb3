#!/bin/sh
# Installs ArviZ and the readers of netCDF into the folder named; again only when a pin changes.
# PYTHON names the interpreter (default python3).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
venv=$1
stamp=$venv/installed
wanted="$(cat "$here/install-arviz.sh" "$here/requirements.txt" | cksum) ${PYTHON:-python3}"

if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi

"${PYTHON:-python3}" -m venv --clear "$venv"
"$venv/bin/python" -m pip --disable-pip-version-check --quiet install -r "$here/requirements.txt"
"$venv/bin/python" -W ignore -c 'import arviz, h5netcdf, h5py, netCDF4; print("arviz", arviz.__version__)'
echo "$wanted" >"$stamp"
