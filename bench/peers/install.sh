#!/bin/sh
# Installs the peers into bench/.venv; running it again does nothing until a pin changes.
# `install.sh samplers` installs those of `adaann-bench ladder --peers` into bench/.venv-samplers,
# `install.sh nuts` that of nuts_reference.py and nutpie into bench/.venv-nuts, `install.sh diffrax` that of
# `adaann-bench pieces --peers` into bench/.venv-diffrax, `install.sh migration` those of migration.py into
# bench/.venv-migration.
# PYTHON names the interpreter (default python3; the pins were chosen for 3.11).
# Torch comes without its GPU libraries (see torch.sh); for the whole wheel: WHOLE_TORCH=1.
set -eu

peers=$(cd "$(dirname "$0")" && pwd)
. "$peers/torch.sh"
pip() { "$python" -m pip --disable-pip-version-check --quiet "$@"; }
case ${1:-} in
samplers) imports='blackjax, dynesty, nautilus' ;;
nuts) imports='numpyro, nutpie' ;;
diffrax) imports='diffrax' ;;
migration) imports='dynesty, emcee, nautilus, pocomc, pymc' ;;
*) imports= ;;
esac
if [ -n "$imports" ]; then
    venv=$peers/../.venv-$1
    pins=$peers/requirements-$1.txt
    wanted=$(cksum <"$pins")
    if [ "$1" = migration ]; then
        wanted="$wanted $(cat "$peers/torch.sh" "$peers/requirements-torch.txt" | cksum) whole=${WHOLE_TORCH:-0}"
    fi
    if [ -f "$venv/installed" ] && [ "$(cat "$venv/installed")" = "$wanted" ]; then
        echo "$1: installed"
        exit 0
    fi
    python=$venv/bin/python
    "${PYTHON:-python3}" -m venv --clear "$venv"
    if [ "$1" = migration ]; then
        # pocoMC wants torch, and pip would bring its GPU libraries; the list is complete without it.
        pip install --no-deps -r "$pins"
        install_torch
    else
        pip install -r "$pins"
    fi
    "$python" -c "import $imports"
    echo "$wanted" >"$venv/installed"
    echo "$1: ready"
    exit 0
fi
venv=$peers/../.venv
whole=${WHOLE_TORCH:-0}
stamp=$venv/installed
wanted=$(cat "$peers/install.sh" "$peers/torch.sh" "$peers/requirements.txt" "$peers/requirements-torch.txt" | cksum)
wanted="$wanted whole=$whole"

if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    echo "peers are installed"
    exit 0
fi

python=$venv/bin/python
"${PYTHON:-python3}" -m venv --clear "$venv"
pip install -r "$peers/requirements.txt"
install_torch

"$python" -c 'import jax, torch; print("jax", jax.__version__, "torch", torch.__version__)'
echo "$wanted" >"$stamp"
