# shellcheck shell=bash disable=SC2034,SC2154
# The part of install.sh that makes dist/berth from a checkout: it fetches Bun through npm, checks it, and compiles. It
# uses step, fail, packages and last_lines of install.sh.

# The tool of the builds. The integrity values are the registry's own, pinned here.
BUN_VERSION=1.4.5
declare -A BUN_INTEGRITY=(
  [x64]=sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==
  [aarch64]=sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==
)

build_program() {
  local fingerprint
  fingerprint=$(source_fingerprint)
  if [ -x "$here/dist/berth" ] && [ "$fingerprint" = "$(cat "$here/dist/.source" 2>/dev/null)" ]; then
    step 'Building dist/berth' is_built; return
  fi
  step 'npm' get_npm
  step "Bun $BUN_VERSION" get_bun
  step 'Libraries' get_modules
  step 'Building dist/berth' compile "$fingerprint"
}

is_built() { note='nothing has changed since the last time'; }

compile() {
  (
    cd "$here"
    # cpu-features is a native add-on that ssh2 does without. ssh2 asks for the folder of its own sources, which would
    # make two builds in two folders differ.
    "$bun" build --compile --minify --bytecode --format=esm --splitting --sourcemap=none \
      --no-compile-autoload-bunfig --no-compile-autoload-dotenv --external cpu-features \
      --define '__dirname="/"' --define '__filename="/"' \
      ./src/main.ts --outfile dist/berth.new
    ./dist/berth.new version
    ./dist/berth.new licences >dist/NOTICE
    mv dist/berth.new dist/berth
  )
  echo "$1" >"$here/dist/.source"
  note="$("$here/dist/berth" version | head -1), $(($(stat -c %s "$here/dist/berth") / 1000000)) MB"
}

source_fingerprint() {
  (
    cd "$here"
    {
      echo $BUN_VERSION
      {
        find src agent backup-server host packaging views public migrations package.json bun.lock install.sh LICENSE \
          -type f 2>/dev/null || true
      } | sort | xargs sha256sum
    } | sha256sum | cut -d' ' -f1
  )
}

# Bun comes as a package through npm, so that an operator's own registry settings apply; nothing of it runs before it is
# checked.
get_bun() {
  local arch archive integrity
  bun=$here/.tools/bun
  [ "$("$bun" --version 2>/dev/null)" != $BUN_VERSION ] || { note='already there'; return 0; }
  arch=$(uname -m); arch=${arch/x86_64/x64}
  integrity=${BUN_INTEGRITY[$arch]-}
  [ -n "$integrity" ] || fail "There is no build of Bun for $(uname -m)."
  mkdir -p "$here/.tools"
  archive=$here/.tools/$(cd "$here/.tools" &&
    npm pack --loglevel=error --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=2000 \
    "@oven/bun-linux-$arch@$BUN_VERSION" | tail -1) || registry_failed npm
  [ "sha512-$(sha_of 512 "$archive")" = "$integrity" ] || {
    rm -f "$archive"
    fail "The Bun that npm brought is not the one this script expects (sha512 differs)." \
      'Check the npm registry that this machine uses.'
  }
  partial=("$archive" "$bun")
  tar -xzf "$archive" -C "$here/.tools" --strip-components=2 --no-same-owner package/bin/bun
  partial=()
  rm "$archive"
  note='integrity verified'
}

# registry_failed CLIENT: its last lines are shown; what they say decides the remedy.
registry_failed() {
  case $(last_lines) in
    *CERT* | *certificate*)
      remedy="$1 does not trust the certificate that it was shown. A proxy that opens TLS has an authority of its own: get that certificate (PEM) and say
  sudo NODE_EXTRA_CA_CERTS=FILE ./install.sh --$mode …        or, for the whole machine:
  sudo cp FILE /usr/local/share/ca-certificates/proxy.crt && sudo update-ca-certificates" ;;
    *ENOTFOUND* | *EAI_AGAIN* | *ECONN* | *ETIMEDOUT* | *EHOSTUNREACH* | *ENETUNREACH* | *ConnectionRefused* | *FailedToOpenSocket* | *Timeout* | *network*)
      remedy="$1 does not reach its registry. Is there a proxy on the way to the internet? Say it behind sudo, which hides the settings of your shell:
  sudo HTTPS_PROXY=http://proxy.example.com:3128 ./install.sh --$mode …" ;;
    *E401* | *E403* | *E407* | *407*)
      remedy="The registry or the proxy refuses $1. Put the name and password that it wants into .npmrc or HTTPS_PROXY." ;;
    *) remedy="$1 did not get what it was asked for." ;;
  esac
  remedy="$remedy
Everything is in $log; docs/install.md, \"Behind a proxy\", has all settings. Then run the same command again."
  exit 1
}

get_npm() {
  operator_npm_settings
  if command -v npm >/dev/null; then note="$(npm --version 2>/dev/null)"; return; fi
  [ "$("$here/.tools/bun" --version 2>/dev/null)" != $BUN_VERSION ] || { note='not needed'; return 0; }
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || fail 'npm is needed to fetch Bun.' 'Install it (on Debian and Ubuntu: sudo apt-get install npm) and run this again.'
  packages npm ca-certificates
}

# sudo hides the operator's npm settings; they hold here all the same.
operator_npm_settings() {
  local home
  [ -n "${SUDO_USER-}" ] && [ ! -e "$HOME/.npmrc" ] || return 0
  home=$(getent passwd "$SUDO_USER" | cut -d: -f6)
  [ ! -r "$home/.npmrc" ] || export NPM_CONFIG_USERCONFIG=$home/.npmrc
}

# Libraries that are there already are only looked at, which takes milliseconds and no network.
get_modules() {
  if command -v npm >/dev/null; then npm_settings_for_bun; fi
  (cd "$here" && "$bun" install --frozen-lockfile --ignore-scripts --production) || registry_failed Bun
}

# Bun reads the registry, proxies and authority of npm's settings from the environment. What stands there already wins.
npm_settings_for_bun() {
  local name value
  npm config get registry cafile proxy https-proxy noproxy 2>/dev/null | while IFS== read -r name value; do
    case $name:$value in
      *: | *:null | *:undefined) ;;
      registry:*) export NPM_CONFIG_REGISTRY=$value ;;
      cafile:*) [ "${NODE_EXTRA_CA_CERTS-}" != "$system_authorities" ] || NODE_EXTRA_CA_CERTS=$value ;;
      proxy:*) export HTTP_PROXY=${HTTP_PROXY:-$value} ;;
      https-proxy:*) export HTTPS_PROXY=${HTTPS_PROXY:-$value} ;;
      noproxy:*) export NO_PROXY=${NO_PROXY:-$value} ;;
    esac
  done
}
