#!/bin/sh
# Installs the peers into bench/.venv; running it again does nothing until a pin changes.
# `install.sh samplers` installs those of `adaann-bench ladder --peers` into bench/.venv-samplers,
# `install.sh nuts` that of nuts_reference.py into bench/.venv-nuts, `install.sh diffrax` that of
# `adaann-bench pieces --peers` into bench/.venv-diffrax.
# PYTHON names the interpreter (default python3; the pins were chosen for 3.11).
#
# On Linux the torch wheel of the package index is built for CUDA, and pip would fetch
# gigabytes of GPU libraries that a CPU run never calls. The loader still wants their names
# and symbols at import. So torch is installed without them, and each missing library is
# replaced by an empty one that exports the symbols torch asks for. The kernels that run on
# the CPU are untouched. Needs cc, nm and readelf. For the whole wheel: WHOLE_TORCH=1.
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
wanted=$(cat "$peers/install.sh" "$peers/requirements.txt" "$peers/requirements-torch.txt" | cksum)
wanted="$wanted whole=$whole"

if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    echo "peers are installed"
    exit 0
fi

python=$venv/bin/python
"${PYTHON:-python3}" -m venv --clear "$venv"
pip() { "$python" -m pip --disable-pip-version-check --quiet "$@"; }

# Empty libraries in place of the GPU libraries that torch's own name and nobody provides.
stand_in() {
    lib=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch/lib
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    nm -D --undefined-only "$lib"/*.so |
        sed -n 's/^ *U \([^@]*\).*/\1/p' |
        grep -E '^(cublas|cudnn|cusparse|cusolver|cufft|cuFile|nccl|pnccl|nvrtc|nvshmem)' |
        sort -u |
        awk '{ print ".globl " $1 "\n" $1 ":" } END { print ".byte 0" }' >"$scratch/symbols.s"
    readelf -d "$lib"/*.so |
        sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -E '^lib(cublas|cudnn|cusparse|cusolver|cufft|cufile|nccl|nvrtc|nvshmem)' |
        sort -u |
        while read -r name; do
            version=$name
            case $name in libnvshmem*) version=NVSHMEM ;; esac
            echo "$version { *; };" >"$scratch/version"
            cc -shared -nostdlib -Wl,-soname,"$name" \
                -Wl,--version-script="$scratch/version" \
                -o "$lib/$name" "$scratch/symbols.s"
        done
}

pip install -r "$peers/requirements.txt"
if [ "$(uname -sm)" = "Linux x86_64" ] && [ "$whole" = 0 ]; then
    pip install --no-deps -r "$peers/requirements-torch.txt"
    stand_in
else
    pip install "$(grep '^torch==' "$peers/requirements-torch.txt")"
fi

"$python" -c 'import jax, torch; print("jax", jax.__version__, "torch", torch.__version__)'
echo "$wanted" >"$stamp"
