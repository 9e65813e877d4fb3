# Torch without its GPU libraries, for scripts that source this file. It defines `install_torch`,
# which wants: $python (of the environment), $peers (this folder), a function `pip`.
#
# On Linux the torch wheel of the package index is built for CUDA, and pip would fetch
# gigabytes of GPU libraries that a CPU run never calls. The loader still wants their names
# and symbols at import. So torch is installed without them, and each missing library is
# replaced by an empty one that exports the symbols torch asks for. The kernels that run on
# the CPU are untouched. Needs cc, nm and readelf. For the whole wheel: WHOLE_TORCH=1.

# Empty libraries in place of the GPU libraries that torch's own name and nobody provides.
stand_in() {
    lib=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch/lib
    scratch=$(mktemp -d)
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
    rm -rf "$scratch"
}

install_torch() {
    if [ "$(uname -sm)" = "Linux x86_64" ] && [ "${WHOLE_TORCH:-0}" = 0 ]; then
        pip install --no-deps -r "$peers/requirements-torch.txt"
        stand_in
    else
        pip install "$(grep '^torch==' "$peers/requirements-torch.txt")"
    fi
}
