#!/bin/sh
# Installs the peers into bench/.venv; running it again does nothing until a pin changes.
# `install.sh samplers` installs those of `adaann-bench ladder --peers` into bench/.venv-samplers,
# `install.sh nuts` that of nuts_reference.py into bench/.venv-nuts, `install.sh diffrax` that of
# `adaann-bench pieces --peers` into bench/.venv-diffrax.
# PYTHON names the interpreter (default python3; the pins were chosen for 3.11).
# Torch comes without its GPU libraries (see torch.sh); for the whole wheel: WHOLE_TORCH=1.
set -eu

peers=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in
samplers) imports='blackjax, dynesty, nautilus' ;;
nuts) imports='numpyro' ;;
diffrax) imports='diffrax' ;;
*) imports= ;;
esac
if [ -n "$imports" ]; then
    venv=$peers/../.venv-$1
    wanted=$(cksum <"$peers/requirements-$1.txt")
    if [ -f "$venv/installed" ] && [ "$(cat "$venv/installed")" = "$wanted" ]; then
        echo "$1: installed"
        exit 0
    fi
    "${PYTHON:-python3}" -m venv --clear "$venv"
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet install -r "$peers/requirements-$1.txt"
    "$venv/bin/python" -c "import $imports"
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
pip() { "$python" -m pip --disable-pip-version-check --quiet "$@"; }

. "$peers/torch.sh"
pip install -r "$peers/requirements.txt"
install_torch

"$python" -c 'import jax, torch; print("jax", jax.__version__, "torch", torch.__version__)'
echo "$wanted" >"$stamp"
