#!/bin/bash
# Installs Berth: the controller, a node, or both on one machine. Nothing is asked; every choice has a flag (--help).
# Run it again at any time: what is there already stays, a newer build replaces the program, guests keep running.
set -euo pipefail
shopt -s lastpipe # so that what `place` notes at the end of a pipe is not forgotten with a subshell

# What the builds are made with. The integrity values are the registry's own, pinned here.
BUN_VERSION=1.4.5
declare -A BUN_INTEGRITY=(
  [x64]=sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==
  [aarch64]=sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==
)

# Where things are.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=/usr/local/bin/berth
library=/usr/local/lib/berth
settings=/etc/berth
logs=/var/log/berth
docs=$here/docs

usage() {
  cat <<'HELP'
install.sh --all-in-one                           controller and node on this machine, ready for a first server
install.sh --controller                           the control panel alone
install.sh --agent --controller URL --token-file F   a node for a control panel elsewhere; F holds its token, - is standard input
install.sh --build-only                           only makes dist/berth
install.sh --deb                                  makes dist/berth and a Debian package of it in dist/
install.sh --uninstall [--purge [--force]]        removes Berth; data and guests stay, unless --purge

Controller
  --domain NAME          the panel's name on the internet: puts Caddy in front, with automatic HTTPS
  --lab-certificate      with --domain: the certificate comes from Caddy's own authority and not from a public one; for labs,
                         and taken by itself for names that end in .internal, .local, .localhost, .home.arpa or .test
  --listen ADDRESS:PORT  where the panel listens             (0.0.0.0:8080; with --domain 127.0.0.1:8080)
  --public-url URL       the address that browsers use       (made from --domain, or from this machine's address)
  --data-dir DIR         database, keys, imported images     (/var/lib/berth)
  --email EMAIL          the first staff sign-in             (admin@ and the name of --domain, or of this machine)
  --name NAME            that person's name, or with --agent the node's

Node
  --token-file FILE      with --agent: holds the enrolment token; - is standard input. --token TOKEN works too, but is readable by every user
  --ca FILE              with --agent: the authority behind the controller's certificate, if it is none that everybody trusts
  --pin PINS             with --agent: the keys that the controller's certificate may have (docs/nodes.md), with commas between
  --bridge NAME          an existing bridge that guests hang on; without it berthbr0 is made, with NAT to the outside
  --subnet CIDR          the guests' IPv4 network            (10.88.0.0/24)
  --gateway ADDRESS      the guests' gateway                 (the first address; with --bridge it must be there already)
  --pool-range A-B       addresses that servers may get      (the tenth to the fifth from the end)
  --resolver ADDRESS     name server for guests; may be given more than once   (this machine's)
  --gpu                  the node also runs container instances with graphics cards (docs/gpu.md); once said, it stays so
  --no-first-guest       no location, package, image or customer are made

Also
  --insecure             nodes may join over plain HTTP: only for a lab on a network that you trust; with --controller, and with --agent
  --purge                with --uninstall: deletes the data, the settings and the guests' network too
  --force                with --purge: also stops and deletes the guests that are still defined
  --help                 this text
HELP
}

main() {
  read_flags "$@"
  case $mode in
    help) usage ;;
    build-only) begin; build ;;
    deb) begin; build; step 'Debian package' make_deb ;;
    uninstall) begin; uninstall ;;
    all-in-one) begin; check_machine; install_controller; install_node; first_server; say_result ;;
    controller) begin; check_machine; install_controller; say_result ;;
    agent) begin; check_machine; install_agent ;;
  esac
}

# ---------------------------------------------------------------- flags
read_flags() {
  mode='' domain='' listen='' public_url='' data_dir='' email='' name='' bridge='' subnet='' gateway='' pool_range=''
  controller_url='' token='' ca='' pin='' lab_certificate='' insecure='' gpu='' purge='' force='' first_guest=yes resolvers=()
  [ $# -gt 0 ] || set -- --help
  while [ $# -gt 0 ]; do
    case $1 in
      --all-in-one | --agent | --build-only | --deb | --uninstall) set_mode "${1#--}" ;;
      --controller)
        case ${2-} in
          '' | --*) set_mode controller ;;
          http://* | https://*) controller_url=${2%/}; shift ;;
          *) wrong_use "--controller $2 is not an address: it starts with https://." ;;
        esac ;;
      --help | -h) mode=help; return ;;
      --purge) purge=yes ;;
      --force) force=yes ;;
      --lab-certificate) lab_certificate=yes ;;
      --insecure) insecure=yes ;;
      --gpu) gpu=yes ;;
      --no-first-guest) first_guest='' ;;
      --domain | --listen | --public-url | --data-dir | --email | --name | --bridge | --subnet | --gateway | --pool-range | --token | --token-file | --ca | --pin | --resolver)
        [ -n "${2-}" ] || wrong_use "$1 needs a value."
        take_value "$1" "$2"; shift ;;
      *) wrong_use "There is no flag $1." ;;
    esac
    shift
  done
  check_flags
}

set_mode() { [ -z "$mode" ] || wrong_use "--$mode and --$1 do not go together."; mode=$1; }

take_value() {
  case $1 in
    --resolver) resolvers+=("$2") ;;
    --public-url) public_url=${2%/} ;;
    --token)
      echo 'install.sh: every user of this machine can read --token in the list of processes; use --token-file FILE, or --token-file - for standard input.' >&2
      token=$2 ;;
    --token-file) token=$(read_token "$2") || exit 2 ;;
    *) local variable=${1#--}; printf -v "${variable//-/_}" '%s' "$2" ;;
  esac
}

# The first line of the file, or of standard input. The shell reads it: no process has it on its command line.
read_token() {
  local found='' file=$1
  [ "$file" != - ] || file=/dev/stdin
  [ -r "$file" ] || wrong_use "--token-file $1 cannot be read."
  IFS= read -r found <"$file" || [ -n "$found" ] || wrong_use "--token-file $1 is empty."
  echo "$found"
}

check_flags() {
  case $mode in
    '') [ -z "$controller_url" ] || wrong_use 'With --controller URL, say --agent too.'; wrong_use 'Say what to install, for example --all-in-one.' ;;
    agent)
      [ -n "$controller_url" ] && [ -n "$token" ] || is_enrolled || wrong_use '--agent needs --controller URL and --token-file FILE. The panel shows both under Nodes, Enroll node.'
      check_encrypted ;;
  esac
  [[ -z $domain || $domain =~ ^[A-Za-z0-9.-]+\.[A-Za-z0-9-]*[A-Za-z][A-Za-z0-9-]*$ ]] || wrong_use "--domain $domain is not a full domain name."
  case $domain in *.internal | *.local | *.localhost | *.home.arpa | *.test) lab_certificate=yes ;; esac
  [ -z "$lab_certificate" ] || [ -n "$domain" ] || wrong_use '--lab-certificate goes with --domain.'
  [ -z "$ca" ] || [ "$mode" = agent ] || wrong_use '--ca goes with --agent.'
  [ -z "$pin" ] || [ "$mode" = agent ] || wrong_use '--pin goes with --agent.'
  [[ -z $pin || $pin =~ ^sha256//[A-Za-z0-9+/]{43}=(,sha256//[A-Za-z0-9+/]{43}=)*$ ]] || wrong_use '--pin is sha256//BASE64=, as the panel shows it.'
  [ -z "$ca" ] || grep -qs -e '-----BEGIN CERTIFICATE-----' "$ca" || wrong_use "--ca $ca is not a file with a certificate in it."
  [[ -z $listen || $listen =~ ^(\[[0-9a-fA-F:]+\]|[0-9.]+):[0-9]+$ ]] || wrong_use '--listen is ADDRESS:PORT, for example 127.0.0.1:8080.'
  [[ -z $public_url || $public_url =~ ^https?://[^/\ ]+$ ]] || wrong_use '--public-url is an address like https://panel.example.com, without a path.'
  [[ -z $data_dir || $data_dir =~ ^/[A-Za-z0-9._/-]+$ ]] || wrong_use '--data-dir is an absolute path without spaces.'
  [[ -z $bridge || $bridge =~ ^[A-Za-z0-9_.-]{1,15}$ ]] || wrong_use "--bridge $bridge is not an interface name."
  [[ -z $subnet || $subnet =~ ^[0-9]+(\.[0-9]+){3}/(1[6-9]|2[0-8])$ ]] || wrong_use '--subnet is an IPv4 network from /16 to /28, for example 10.88.0.0/24.'
  [[ -z $pool_range || $pool_range =~ ^[0-9.]+-[0-9.]+$ ]] || wrong_use '--pool-range is FIRST-LAST, for example 10.88.0.10-10.88.0.250.'
  [ -z "$gpu" ] || [ "$mode" = agent ] || [ "$mode" = all-in-one ] || wrong_use '--gpu is for a node: it goes with --agent or --all-in-one.'
  [ -z "$purge" ] || [ "$mode" = uninstall ] || wrong_use '--purge goes with --uninstall.'
}

# What a controller tells a node is done as root: nobody on the way may change it.
check_encrypted() {
  case $controller_url in '' | https://* | http://127.* | http://localhost | http://localhost:* | http://\[::1\]*) return ;; esac
  [ -n "$insecure" ] || [ "$(setting agent.env PANEL_AGENT_INSECURE)" = 1 ] || wrong_use "$controller_url is not encrypted: whoever is on the way could give this machine orders.
Use the panel's https:// address; on the controller, ./install.sh --controller --domain NAME makes it.
In a lab, on a network that you trust, add --insecure here and on the controller."
}

wrong_use() { printf '%s\n%s\n' "install.sh: $1" 'See ./install.sh --help.' >&2; exit 2; }

# ---------------------------------------------------------------- steps
begin() {
  log=$(mktemp) current='' changed=''
  if [ "$mode" != build-only ] && [ "$mode" != deb ]; then
    [ "$(id -u)" = 0 ] || { echo 'install.sh: run this as root: sudo ./install.sh …' >&2; exit 1; }
    [ "$mode" = uninstall ] || { mkdir -p "$logs"; chmod 750 "$logs"; rm -f "$log"; log=$logs/install.log; echo "== $(date -u +%FT%TZ) install.sh --$mode" >>"$log"; }
  fi
  [ -n "${HOME-}" ] || export HOME=/root
  export DEBIAN_FRONTEND=noninteractive
  unset BUN_OPTIONS BUN_BE_BUN
  use_network_settings
  exec 4>&2
  trap 'say_failure $?' EXIT
}

# The operator's proxies, in both spellings: apt and curl read small letters, other tools capitals. Connections of this
# machine to itself never pass a proxy. Whom the machine trusts, npm and Bun trust.
use_network_settings() {
  local name upper
  for name in http_proxy https_proxy no_proxy; do
    upper=${name^^}
    if [ -n "${!name-}" ]; then export "$upper=${!name}"; elif [ -n "${!upper-}" ]; then export "$name=${!upper}"; fi
  done
  if [ -n "${http_proxy-}${https_proxy-}" ]; then export no_proxy="localhost,127.0.0.1,::1${no_proxy:+,$no_proxy}"; NO_PROXY=$no_proxy; export NO_PROXY; fi
  [ -n "${NODE_EXTRA_CA_CERTS-}" ] || [ ! -r "$system_authorities" ] || export NODE_EXTRA_CA_CERTS=$system_authorities
}
system_authorities=/etc/ssl/certs/ca-certificates.crt

# step WORDS FUNCTION…: what the function prints goes to the log, what it sets stays; note= says more about how it went.
step() {
  local started=${EPOCHREALTIME/[.,]/}
  current=$1 note=''; shift
  [ ! -t 1 ] || printf '… %s' "$current"
  echo "-- $current" >>"$log"
  "$@" >>"$log" 2>&1
  [ ! -t 1 ] || printf '\r\033[K'
  printf '✓ %s%s%s\n' "$current" "${note:+: $note}" "$(elapsed "$started")"
  current=''
}

elapsed() {
  local tenths=$(((${EPOCHREALTIME/[.,]/} - $1) / 100000))
  [ $tenths -lt 2 ] || printf ' (%d.%d s)' $((tenths / 10)) $((tenths % 10))
}

# fail WORDS [NEXT-STEP]
fail() { problem=$1 remedy=${2-}; exit 1; }

say_failure() {
  [ "$1" != 0 ] && [ -n "$current$problem" ] || return 0
  exec >&4 2>&4
  [ ! -t 2 ] || printf '\r\033[K'
  [ -z "$current" ] || printf '✗ %s\n' "$current"
  if [ -n "$problem" ]; then printf '\n%s\n' "$problem"; else printf '\nThe last lines of %s:\n' "$log"; last_lines; fi
  printf '%s\n' "${remedy:-Everything is in $log. Put it right and run the same command again: what is done already is not done twice.}"
}
problem='' remedy=''

# Of the step that failed, fifteen at most.
last_lines() { awk '/^-- / { n = 0 } { line[n++] = $0 } END { for (i = n > 16 ? n - 15 : 1; i < n; i++) print "  " line[i] }' "$log"; }

# ---------------------------------------------------------------- the machine
check_machine() { step 'Looking at this machine' look_at_machine; }

look_at_machine() {
  local ID='' VERSION_ID='' PRETTY_NAME=''
  [ ! -r /etc/os-release ] || . /etc/os-release
  case $ID:$VERSION_ID in
    debian:12 | debian:13 | ubuntu:24.04 | ubuntu:26.04) ;;
    *) fail "Berth installs on Debian 12 and 13 and Ubuntu 24.04 and 26.04. This is ${PRETTY_NAME:-something else}." \
      'Nothing was changed. Elsewhere, build the program with ./install.sh --build-only and follow docs/install.md, "By hand".' ;;
  esac
  ! runs_instances || case $ID:$VERSION_ID in
    debian:12 | ubuntu:24.04) fail "Container instances need Podman 5.4 and crun 1.21. $PRETTY_NAME has older ones." 'Nothing was changed. Use Debian 13 or Ubuntu 26.04, or leave --gpu out: then the node runs servers alone.' ;;
  esac
  case $(uname -m) in x86_64 | aarch64) ;; *) fail "There is no build for $(uname -m)." 'Nothing was changed.' ;; esac
  [ ! -x /usr/bin/berth ] || fail 'The Debian package of Berth is installed here.' 'Update it with apt, or remove it first: apt remove berth.'
  if has_systemd; then note="$PRETTY_NAME, systemd"; else note="$PRETTY_NAME, no systemd: services run supervised, with logs in $logs"; fi
}

has_systemd() { [ -d /run/systemd/system ]; }

# packages NAME…: installs what is missing, and asks the network only then.
packages() {
  local p missing=()
  for p in "$@"; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^ii' || missing+=("$p")
  done
  [ ${#missing[@]} -gt 0 ] || { note='already there'; return 0; }
  note="${#missing[@]} new"
  [ -n "${lists_are_new-}" ] || apt-get update -qq
  lists_are_new=yes
  without_starting_services apt-get install -y --no-install-recommends "${missing[@]}"
}

# Packages start their services themselves under systemd; elsewhere we do it, once all is set up.
without_starting_services() {
  local policy=/usr/sbin/policy-rc.d ours='' status=0
  if ! has_systemd && [ ! -e $policy ]; then printf '#!/bin/sh\nexit 101\n' >$policy; chmod 755 $policy; ours=yes; fi
  "$@" || status=$?
  [ -z "$ours" ] || rm -f $policy
  return $status
}

# place FILE MODE: writes standard input there if it differs, and notes that something changed.
place() {
  local new
  new=$(mktemp); cat >"$new"
  if cmp -s "$new" "$1"; then rm "$new"; else
    mkdir -p "$(dirname "$1")"; chmod "$2" "$new"; mv "$new" "$1"; changed="$changed $1"
  fi
}

has_changed() { case "$changed " in *" $1 "*) return 0 ;; esac; return 1; }

# setting FILE NAME: what an earlier run wrote.
setting() { sed -n "s/^$2=\"\(.*\)\"$/\1/p" "$settings/$1" 2>/dev/null || true; }

# ---------------------------------------------------------------- the program
# A release brings the program beside this script; a checkout builds it.
install_program() {
  local from=$here/berth
  if [ ! -f "$from" ] || [ ! -x "$from" ]; then
    if [ -e "$here/src/main.ts" ]; then build; from=$here/dist/berth
    elif [ "$mode" = agent ] && ! is_enrolled; then from=$library/fetched; step "Program from $controller_url" fetch_program "$from"
    else from=$program; fi # this script alone, as the controller serves it: the program stays
  fi
  [ -x "$from" ] || fail "There is no program beside $here/${0##*/}." 'Put the one of the release there, or run this from a checkout.'
  step "Program $program" place_program "$from"
  rm -f $library/fetched
}

# A new node that has this script alone takes the program from its controller, whose orders it is going to carry out as root anyway.
fetch_program() {
  local trust=() kind digest
  [ -z "$ca" ] || trust=(--cacert "$ca")
  [ -z "$pin" ] || trust+=(--pinnedpubkey "${pin//,/;}")
  kind=$(uname -m); kind=${kind/x86_64/x64}
  mkdir -p $library
  # The token stands in no list of processes.
  curl -sS --noproxy '*' --fail-with-body --max-time 900 "${trust[@]}" -H @- -D "$1.head" -o "$1" "$controller_url/agent/v1/program/$kind" <<<"Authorization: Bearer $token" || {
    [ ! -e "$1" ] || problem=$(jq -er .error.message "$1" 2>/dev/null) || problem=''
    rm -f "$1" "$1.head"
    fail "The controller gave no program: ${problem:-the connection broke.}" 'What is done already is not done twice: put that right, or put the program of a release beside install.sh, and run this again.'
  }
  digest=$(sed -n 's/^[Rr]epr-[Dd]igest: *sha-256=:\([^:]*\):.*/\1/p' "$1.head")
  rm "$1.head"
  [ "$(sha_of 256 "$1")" = "$digest" ] || { rm -f "$1"; fail 'The program did not arrive as the controller has it (SHA-256 differs).' 'Run the same command again.'; }
  chmod 755 "$1"
  note="$("$1" version), checksum verified"
}

place_program() {
  if cmp -s "$1" $program; then note='the newest already'; return; fi
  install -D -m 755 "$1" $program.new
  mv $program.new $program # what runs keeps the old file until it is started anew
  changed="$changed $program"; note=$($program version)
}

build() {
  local fingerprint
  [ -e "$here/src/main.ts" ] || fail "There is neither a program nor its source beside $here/install.sh." 'Run it from a release or a checkout.'
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
    # cpu-features is a native add-on that ssh2 does without.
    "$bun" build --compile --minify --bytecode --format=esm --splitting --sourcemap=none \
      --no-compile-autoload-bunfig --no-compile-autoload-dotenv --external cpu-features ./src/main.ts --outfile dist/berth.new
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
    { echo $BUN_VERSION; { find src agent backup-server host packaging views public migrations package.json bun.lock install.sh LICENSE -type f 2>/dev/null || true; } | sort | xargs sha256sum; } |
      sha256sum | cut -d' ' -f1
  )
}

# The package has the program, the units and the documents. Its scripts make the user, the data directory and the first settings, and
# start nothing: the address that browsers use is the operator's to say.
make_deb() (
  command -v dpkg-deb >/dev/null || fail 'dpkg-deb is missing.' 'A Debian package is made on Debian or Ubuntu.'
  version=$("$here/dist/berth" version | awk '{ print $NF; exit }')
  arch=$(dpkg --print-architecture)
  file=$here/dist/berth_${version}_$arch.deb
  program=/usr/bin/berth docs=/usr/share/doc/berth listen=127.0.0.1:8080 data_dir=/var/lib/berth
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  chmod 755 "$root"
  install -D -m 755 "$here/dist/berth" "$root$program"
  install -D -m 644 -t "$root$docs" "$here"/docs/*.md
  install -D -m 644 "$here/dist/NOTICE" "$root$docs/copyright"
  mkdir -p "$root/usr/lib/systemd/system" "$root/DEBIAN"
  controller_unit >"$root/usr/lib/systemd/system/berth.service"
  agent_unit >"$root/usr/lib/systemd/system/berth-agent.service"
  deb_control "$version" "$arch" "$(($(du -sk "$root/usr" | cut -f1)))" >"$root/DEBIAN/control"
  for script in preinst postinst prerm postrm; do
    { printf '#!/bin/sh\nset -e\n'; "deb_$script"; } >"$root/DEBIAN/$script"
    chmod 755 "$root/DEBIAN/$script"
  done
  chmod -R go-w "$root"
  dpkg-deb --root-owner-group -Zgzip -z6 --build "$root" "$file.new"
  mv "$file.new" "$file"
  echo "$file, $(($(stat -c %s "$file") / 1000000)) MB"
)

deb_control() {
  cat <<CONTROL
Package: berth
Version: $1
Architecture: $2
Maintainer: Berth <berth@localhost>
Installed-Size: $3
Section: admin
Priority: optional
Depends: libc6, passwd, ca-certificates
Recommends: systemd, gpgv
Suggests: qemu-system-x86 | qemu-system-arm, qemu-utils, libvirt-daemon-system, nftables, iproute2, xorriso, ovmf, swtpm-tools, restic, libnbd-bin, fuse3, e2fsprogs, openssh-client
Description: control panel for virtual private servers
 One program: the controller with its pages and its API, and the agent of a node.
CONTROL
}

deb_preinst() {
  cat <<SCRIPT
if [ -e /usr/local/bin/berth ] || [ -e /etc/systemd/system/berth.service ]; then
  echo 'install.sh has installed Berth here: update it with install.sh, or run install.sh --uninstall first. Its data stays.' >&2
  exit 1
fi
SCRIPT
}

deb_postinst() {
  cat <<SCRIPT
[ "\$1" = configure ] || exit 0
getent passwd berth >/dev/null ||
  useradd --system --user-group --home-dir $data_dir --no-create-home --shell /usr/sbin/nologin berth
[ -d $data_dir ] || install -d -m 700 -o berth -g berth $data_dir
mkdir -p $settings
[ -e $settings/controller.env ] || cat >$settings/controller.env <<'SETTINGS'
# Your own settings go into controller.local.env beside this file; they win and stay.
PANEL_PUBLIC_URL="http://$listen"
PANEL_LISTEN="$listen"
PANEL_DATA_DIR="$data_dir"
SETTINGS
[ -e $settings/agent.env ] || echo '# Your own settings go into agent.local.env beside this file.' >$settings/agent.env
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl --no-block try-restart berth.service berth-agent.service
fi
[ -n "\$2" ] || echo 'Berth is installed. Set PANEL_PUBLIC_URL in $settings/controller.local.env, then: systemctl enable --now berth'
SCRIPT
}

deb_prerm() {
  cat <<'SCRIPT'
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now --quiet berth.service berth-agent.service; fi
SCRIPT
}

deb_postrm() {
  cat <<SCRIPT
[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ "\$1" = purge ]; then
  rm -rf $settings
  [ ! -d $data_dir ] || echo 'The data stays in $data_dir, with its key. Delete it yourself.'
fi
SCRIPT
}

# Bun comes as a package through npm, so that an operator's own registry settings apply; nothing of it runs before it is checked.
get_bun() {
  local arch archive integrity
  bun=$here/.tools/bun
  [ "$("$bun" --version 2>/dev/null)" != $BUN_VERSION ] || { note='already there'; return 0; }
  arch=$(uname -m); arch=${arch/x86_64/x64}
  integrity=${BUN_INTEGRITY[$arch]-}
  [ -n "$integrity" ] || fail "There is no build of Bun for $(uname -m)."
  mkdir -p "$here/.tools"
  archive=$here/.tools/$(cd "$here/.tools" && npm pack --loglevel=error --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=2000 \
    "@oven/bun-linux-$arch@$BUN_VERSION" | tail -1) || registry_failed npm
  [ "sha512-$(sha_of 512 "$archive")" = "$integrity" ] || { rm -f "$archive"; fail "The Bun that npm brought is not the one this script expects (sha512 differs)." 'Check the npm registry that this machine uses.'; }
  tar -xzf "$archive" -C "$here/.tools" --strip-components=2 --no-same-owner package/bin/bun
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

# sha_of BITS FILE: its checksum in base64.
sha_of() { printf '%b' "$("sha$1sum" <"$2" | cut -d' ' -f1 | sed 's/../\\x&/g')" | base64 -w0; }

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

# What is there already is only looked at, which takes milliseconds and no network.
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

# ---------------------------------------------------------------- the controller
install_controller() {
  step 'Packages for the controller' packages ca-certificates curl jq iproute2 gpgv
  install_program
  step 'Settings of the controller' configure_controller
  step 'Service berth' start_controller
  [ -z "$domain" ] || step "Caddy for $domain, $([ -n "$lab_certificate" ] && echo 'certificate of its own authority' || echo 'automatic HTTPS')" install_caddy
  step 'First staff sign-in' create_staff
}

configure_controller() {
  local before
  before=$(setting controller.env PANEL_LISTEN)
  # Behind Caddy nobody else needs the panel's own port, also where it was open before.
  if [ -n "$domain" ]; then case ${before##*:} in '' | 80 | 443) before=127.0.0.1:8080 ;; *) before=127.0.0.1:${before##*:} ;; esac; fi
  listen=${listen:-${before:-0.0.0.0:8080}}
  [ -z "$domain" ] || public_url=${public_url:-https://$domain}
  public_url=${public_url:-$(setting controller.env PANEL_PUBLIC_URL)}
  public_url=${public_url:-http://$(reachable_host):${listen##*:}}
  data_dir=${data_dir:-$(setting controller.env PANEL_DATA_DIR)}
  data_dir=${data_dir:-/var/lib/berth}
  [ -n "$domain" ] || [ "$(setting controller.env PANEL_PUBLIC_URL)|$(setting controller.env PANEL_AGENT_CA)" != "$public_url|$lab_ca" ] || lab_certificate=yes
  getent passwd berth >/dev/null || useradd --system --user-group --home-dir "$data_dir" --no-create-home --shell /usr/sbin/nologin berth
  [ -d "$data_dir" ] || install -d -m 700 -o berth -g berth "$data_dir"
  {
    echo '# Written by install.sh. Your own settings go into controller.local.env beside this file; they win and stay.'
    echo "PANEL_PUBLIC_URL=\"$public_url\""
    echo "PANEL_LISTEN=\"$listen\""
    echo "PANEL_DATA_DIR=\"$data_dir\""
    [ -z "$domain" ] && [ -z "$(setting controller.env PANEL_TRUSTED_PROXIES)" ] || echo "PANEL_TRUSTED_PROXIES=\"$(proxies)\""
    [ -z "$lab_certificate" ] || echo "PANEL_AGENT_CA=\"$lab_ca\""
    ! nodes_may_come_in_the_clear || echo 'PANEL_AGENT_INSECURE="1"'
  } | place $settings/controller.env 644
  note=$public_url
}

# Caddy, on this machine, comes from the address that it calls.
proxies() {
  case $listen in 0.0.0.0:* | 127.* | '['*) echo 127.0.0.1/32,::1/128 ;; *) echo "127.0.0.1/32,::1/128,${listen%:*}/32" ;; esac
}

# Said with --insecure, at this run or an earlier one; or this machine's own node does not come from a loopback address.
nodes_may_come_in_the_clear() {
  case $public_url in https://*) return 1 ;; esac
  [ -z "$insecure" ] && [ "$(setting controller.env PANEL_AGENT_INSECURE)" != 1 ] || return 0
  [ "$mode" = all-in-one ] || return 1
  case $(local_url) in http://127.* | http://\[::1\]*) return 1 ;; esac
}

# Where browsers find this machine when it listens on every address.
reachable_host() {
  local host=${listen%:*} device
  case $host in 0.0.0.0 | '[::]') ;; *) echo "$host"; return ;; esac
  device=$(ip -4 route show default 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -1)
  host=$(ip -4 -o address show scope global ${device:+dev "$device"} 2>/dev/null | awk '{ sub(/\/.*/, "", $4); print $4; exit }')
  echo "${host:-127.0.0.1}"
}

# Where this machine itself finds the controller.
local_url() {
  case $listen in 0.0.0.0:* | '[::]:'*) echo "http://127.0.0.1:${listen##*:}" ;; *) echo "http://$listen" ;; esac
}

start_controller() {
  controller_unit | install_service berth
  run_service berth $settings/controller.env
  wait_until 30 curl -fsS --noproxy '*' -o /dev/null --max-time 2 "$(local_url)/api/v1/status" ||
    fail 'The controller was started but does not answer.' "Its journal: $(journal_of berth)"
}

wait_until() {
  local limit=$((SECONDS + $1)); shift
  until "$@" 2>/dev/null; do [ $SECONDS -lt $limit ] || return 1; sleep 0.2; done
}

caddy_main=/etc/caddy/Caddyfile caddy_site=/etc/caddy/berth.caddyfile

install_caddy() {
  local taken words
  taken=$(ss -Hltnp '( sport = :80 or sport = :443 )' | grep -v '"caddy"' | grep -o '"[^"]*"' | tr -d '"' | sort -u | paste -sd ' ') || true
  [ -z "$taken" ] || fail "Port 80 or 443 is taken by $taken, so Caddy cannot have them." \
    "Stop it and run this again; or leave --domain out and put Berth behind what is there: docs/proxy.md."
  packages caddy
  note=''
  caddy_listing | place $caddy_site 644
  if ! grep -qsxF "import $caddy_site" $caddy_main; then
    with_our_import >$caddy_main.berth-new; chmod 644 $caddy_main.berth-new
    words=$(as_caddy caddy validate --config $caddy_main.berth-new --adapter caddyfile 2>&1) || { rm $caddy_main.berth-new
      fail "Caddy does not take $caddy_main with a line for Berth in it: ${words##*$'\n'}" "That file was not changed. Put it right and run this again, or leave --domain out and follow docs/proxy.md."; }
    ! is_packaged_page || mv $caddy_main $caddy_main.before-berth
    mv $caddy_main.berth-new $caddy_main; changed="$changed $caddy_site"
  fi
  as_caddy caddy validate --config $caddy_main --adapter caddyfile
  if has_systemd; then systemctl enable --quiet --now caddy; ! has_changed $caddy_site || systemctl reload-or-restart caddy
  else add_supervised caddy; run_service caddy $caddy_site; fi
  note=''
  if [ -n "$lab_certificate" ]; then wait_until 30 keep_lab_ca || fail 'Caddy does not tell its authority.' "Its log: $(journal_of caddy)"; fi
  if wait_until "$([ -n "$lab_certificate" ] && echo 30 || echo 60)" https_answers; then return; fi
  [ -z "$lab_certificate" ] || fail "https://$domain does not answer on this machine." "Caddy's log: $(journal_of caddy)"
  note='no certificate yet' certificate_missing=yes
}

caddy_listing() {
  local tls=''
  if [ -n "$lab_certificate" ]; then tls=internal
  else
    case $email in '') tls=$(sed -n 's/^  tls \(.*@.*\)$/\1/p' $caddy_site 2>/dev/null || true) ;; *@localhost | *@"$(hostname)") ;; *) tls=$email ;; esac
  fi
  echo "# Written by Berth's install.sh. Caddy passes WebSockets by itself: /agent/v1/connect, /console/v1/, /agent/v1/console/."
  echo "$domain {"
  [ -z "$tls" ] || echo "  tls $tls"
  echo "  reverse_proxy $(local_url)"
  echo '}'
}

# The page that the package brings answers on port 80 for every name; it goes. A file of the operator's own stays.
with_our_import() {
  if ! is_packaged_page; then cat $caddy_main; [ -z "$(tail -c 1 $caddy_main)" ] || echo; fi
  echo "import $caddy_site"
}
is_packaged_page() { [ "$(dpkg-query -W -f='${Conffiles}\n' caddy | awk -v f=$caddy_main '$1 == f { print $2 }')" = "$(md5sum <$caddy_main | cut -d' ' -f1)" ]; }

# Its certificates and its authority are its own, whoever runs this.
as_caddy() { setpriv --reuid=caddy --regid=caddy --init-groups env HOME=/var/lib/caddy "$@"; }

lab_ca=$settings/lab-ca.crt
keep_lab_ca() { local pem; pem=$(curl -fsS --noproxy '*' --max-time 5 http://127.0.0.1:2019/pki/ca/local | jq -er .root_certificate) && printf '%s\n' "${pem%$'\n'}" | place $lab_ca 644; }

https_answers() {
  local trust=()
  [ -z "$lab_certificate" ] || trust=(--cacert "$lab_ca")
  curl -fsS --noproxy '*' -o /dev/null --max-time 5 --resolve "$domain:443:127.0.0.1" "${trust[@]}" "https://$domain/api/v1/status"
}

# berth_admin WORDS…: the program's own administration, as the user who owns the data.
berth_admin() {
  (
    set -a; . $settings/controller.env; [ ! -e $settings/controller.local.env ] || . $settings/controller.local.env
    cd /; exec setpriv --reuid=berth --regid=berth --init-groups $program admin "$@"
  )
}

# ---------------------------------------------------------------- services
# Under systemd a unit each; elsewhere a name in a list which `services` starts and keeps alive.
install_service() {
  if has_systemd; then
    place "/etc/systemd/system/$1.service" 644
    ! has_changed "/etc/systemd/system/$1.service" || systemctl daemon-reload
    systemctl enable --quiet "$1"
  else
    cat >/dev/null; add_supervised "$1"
  fi
}

add_supervised() {
  services_script | place $library/services 755
  { cat $settings/services 2>/dev/null || true; echo "$1"; } | awk '!seen[$0]++' | place $settings/services 644
}

# run_service NAME FILE…: starts it, or starts it anew if one of the files, the program or its own definition has changed.
run_service() {
  local service=$1 file anew=''; shift
  for file in "$@" "/etc/systemd/system/$service.service"; do ! has_changed "$file" || anew=yes; done
  case $service in berth | berth-agent) ! has_changed $program || anew=yes ;; esac
  if has_systemd; then
    # They return when the service says that it works. One that does not is looked at by whoever needs it.
    if ! systemctl is-active --quiet "$service"; then timeout 120 systemctl start "$service" || true; note=started
    elif [ -n "$anew" ]; then timeout 120 systemctl restart "$service" || true; note='started anew'
    else note='already running'; fi
  else
    if ! $library/services status "$service"; then $library/services start "$service"; note=started
    elif [ -n "$anew" ]; then $library/services restart "$service"; note='started anew'
    else note='already running'; fi
  fi
}

journal_of() { if has_systemd; then echo "journalctl -u $1"; else echo "$logs/$1.log"; fi; }

# With growing pauses where systemd knows them (254 and newer).
restarting() {
  printf '%s\n' Restart=on-failure RestartSec=2
  [ "$(systemctl --version 2>/dev/null | awk 'NR == 1 { print int($2) }')" -lt 254 ] 2>/dev/null || printf '%s\n' RestartSteps=8 RestartMaxDelaySec=60
}

# The program says when it works, and every ten seconds that it lives: that its event loop turns and its database is read. Killed at once
# when it does not, because nothing of it is worth waiting for. A start may take long, with a large database to bring up to date.
watched() {
  printf '%s\n' Type=notify NotifyAccess=main TimeoutStartSec=infinity WatchdogSec=30 WatchdogSignal=SIGKILL
}

controller_unit() {
  cat <<UNIT
[Unit]
Description=Berth controller
Documentation=file:$docs/install.md
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
User=berth
Group=berth
EnvironmentFile=$settings/controller.env
EnvironmentFile=-$settings/controller.local.env
UnsetEnvironment=BUN_OPTIONS BUN_BE_BUN
ExecStart=$program serve
$(watched)
$(restarting)
# Settings that cannot work do not get better by trying: it stays failed, and says why.
RestartPreventExitStatus=2
TimeoutStopSec=30
# The listening socket is kept over a restart: connections wait meanwhile, and none is refused.
FileDescriptorStoreMax=2
UMask=0077
MemoryMax=1G
TasksMax=256
LimitNOFILE=65536

ReadWritePaths=$data_dir
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=$([ "${listen##*:}" -ge 1024 ] && echo yes || echo no)
DevicePolicy=closed
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
NoNewPrivileges=yes
CapabilityBoundingSet=$([ "${listen##*:}" -ge 1024 ] || echo CAP_NET_BIND_SERVICE)
AmbientCapabilities=$([ "${listen##*:}" -ge 1024 ] || echo CAP_NET_BIND_SERVICE)
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute cannot be set: the program compiles JavaScript while it runs.

[Install]
WantedBy=multi-user.target
UNIT
}

agent_unit() {
  cat <<UNIT
[Unit]
Description=Berth agent
Documentation=file:$docs/install.md
# Stops before the guests are shut down with the machine, so that it takes none of them for switched off.
After=network-online.target libvirtd.service libvirt-guests.service berth-network.service$(! runs_instances || echo ' nvidia-persistenced.service')
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
EnvironmentFile=$settings/agent.env
EnvironmentFile=-$settings/agent.local.env
UnsetEnvironment=BUN_OPTIONS BUN_BE_BUN$(! runs_instances || printf '\n%s' '# Makes the devices of the cards, if nobody has yet.' 'ExecStartPre=-+/usr/bin/nvidia-modprobe -c 0 -u')
ExecStart=$program agent run
$(watched)
$(restarting)
RestartPreventExitStatus=2
# Stopping the agent must harm no server: whatever it started goes on.
KillMode=process
# The kernel may end one program of it that takes too much memory, such as a backup. That is no reason to stop the rest.
OOMPolicy=continue
UMask=0077
TasksMax=1024

# Disks and backups lie where the operator says: /srv and /mnt are written to, /usr, /boot and /etc are not.
ProtectSystem=full$(! runs_instances || printf '\n%s' 'ReadWritePaths=-/etc/cdi')
ProtectHome=read-only
PrivateTmp=yes
ProtectKernelModules=yes
$(if runs_instances; then echo '# Cards report their errors in the log of the kernel.
ProtectKernelLogs=no'; else echo ProtectKernelLogs=yes; fi)
ProtectClock=yes
ProtectHostname=yes
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_SYS_ADMIN CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETUID CAP_SETGID CAP_SETPCAP CAP_IPC_LOCK CAP_SYS_RESOURCE$(! runs_instances || echo ' CAP_SYSLOG')
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK AF_PACKET
# What reads images and disks of strangers runs without network, as nobody and without capabilities.
RestrictNamespaces=net ipc
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service @mount
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
UNIT
}

# The agent may not make namespaces, so the engine of the instances is a service of its own. The agent writes its settings, and instances
# run on when either of them stops.
containers_unit() {
  cat <<UNIT
[Unit]
Description=Container engine of Berth's instances
Documentation=file:$docs/gpu.md
After=network-online.target nftables.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Environment=CONTAINERS_CONF=$agent_state/containers/containers.conf
Environment=CONTAINERS_STORAGE_CONF=$agent_state/containers/storage.conf
Environment=CONTAINERS_REGISTRIES_CONF=$agent_state/containers/registries.conf
ExecStartPre=/usr/bin/test -e $agent_state/containers/containers.conf
ExecStartPre=/usr/bin/mkdir -p /run/berth
ExecStart=/usr/bin/podman system service --time=0 unix:///run/berth/podman.sock
Restart=always
RestartSec=5
KillMode=process
UMask=0077
LimitNOFILE=1048576
TasksMax=infinity

[Install]
WantedBy=multi-user.target
UNIT
}

# Names of instances' HTTP ports. Caddy serves them without agent and controller; the agent writes its configuration.
http_proxy_unit() {
  cat <<UNIT
[Unit]
Description=Names of HTTP ports of Berth's instances
Documentation=file:$docs/gpu.md
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Type=notify
User=caddy
Group=caddy
RuntimeDirectory=berth-http-proxy
StateDirectory=berth-http-proxy
Environment=HOME=/var/lib/berth-http-proxy XDG_DATA_HOME=/var/lib/berth-http-proxy XDG_CONFIG_HOME=/var/lib/berth-http-proxy
# It may hold the key of a certificate, so that only root reads the file.
LoadCredential=caddy.json:$agent_state/http-names/caddy.json
ExecStart=/usr/bin/caddy run --config %d/caddy.json
Restart=always
RestartSec=2
TimeoutStopSec=10
LimitNOFILE=1048576
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
UMask=0077

[Install]
WantedBy=multi-user.target
UNIT
}

network_unit() {
  cat <<UNIT
[Unit]
Description=Bridge and NAT for the guests of Berth
After=network-pre.target nftables.service
Before=libvirtd.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=$library/network up

[Install]
WantedBy=multi-user.target
UNIT
}

# For machines without systemd: starts the services in $settings/services in their order and keeps each alive.
services_script() {
  cat <<SCRIPT
#!/bin/bash
# services start|stop|restart|status [NAME…]: what systemd does elsewhere. Written by Berth's install.sh.
# Each service has a keeper, which starts it again with growing pauses; logs are in $logs, 10 MB each at most, and one older.
set -uo pipefail
settings=$settings program=$program library=$library logs=$logs
SCRIPT
  cat <<'SCRIPT'
run=/run/berth

# What NAME runs. It replaces this shell, in the foreground.
become() {
  # As under systemd: nothing of the shell that started it, such as proxies and authorities, counts.
  unset BUN_OPTIONS BUN_BE_BUN http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY NODE_EXTRA_CA_CERTS SSL_CERT_FILE
  case $1 in
    virtlogd) exec virtlogd ;;
    # libvirt waits for its helpers' end: tini collects them at once, many containers' first process does not.
    libvirtd) exec tini -s -- libvirtd ;;
    berth) with_settings controller
      [ "${BERTH_SOCKET:-none}" = none ] || export LISTEN_FDS=1 LISTEN_PID=$BASHPID
      exec setpriv --reuid=berth --regid=berth --init-groups --no-new-privs "$program" serve ;;
    berth-agent) with_settings agent; exec "$program" agent run ;;
    caddy) exec setpriv --reuid=caddy --regid=caddy --init-groups --inh-caps=+net_bind_service --ambient-caps=+net_bind_service \
      env HOME=/var/lib/caddy caddy run --config /etc/caddy/Caddyfile --adapter caddyfile ;;
    berth-http-proxy) install -d -o caddy -g caddy -m 755 /run/berth-http-proxy /var/lib/berth-http-proxy
      install -o caddy -m 400 /var/lib/berth-agent/http-names/caddy.json /run/berth-http-proxy/caddy.json
      exec setpriv --reuid=caddy --regid=caddy --init-groups --inh-caps=+net_bind_service --ambient-caps=+net_bind_service \
        env HOME=/var/lib/berth-http-proxy caddy run --config /run/berth-http-proxy/caddy.json ;;
  esac
}

with_settings() {
  set -a
  . "$settings/$1.env"
  [ ! -e "$settings/$1.local.env" ] || . "$settings/$1.local.env"
  set +a
  cd /
}

# The keeper of the controller holds its listening socket as descriptor 3 and passes it on (sd_listen_fds(3)), so that
# connections wait while `restart` replaces the program. Where it cannot be opened the program tries, and says why.
hold_socket() {
  command -v perl >/dev/null || return 0
  BERTH_SOCKET=$(listen_setting) exec perl -MSocket=:all -MPOSIX=dup2 -e '
    $^F = 255;
    my ($host, $port) = $ENV{BERTH_SOCKET} =~ /^\[?(.*?)\]?:(\d+)$/;
    my $family = $host =~ /:/ ? AF_INET6 : AF_INET;
    my $at = inet_pton($family, $host);
    my $socket;
    my $ok = defined $at && socket($socket, $family, SOCK_STREAM, 0)
      && setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1)
      && bind($socket, $family == AF_INET ? pack_sockaddr_in($port, $at) : pack_sockaddr_in6($port, $at))
      && listen($socket, 512) && dup2(fileno($socket), 3);
    close($socket) if defined $socket && fileno($socket) != 3;
    $ENV{BERTH_SOCKET} = "none" unless $ok;
    exec @ARGV;
  ' "$0" keep berth
}

listen_setting() { (with_settings controller; echo "${PANEL_LISTEN:-127.0.0.1:8080}"); }

keep() {
  local name=$1 log=$logs/$1.log child='' stopping='' again='' pause=1 began fd capper
  # Nothing that the caller had open stays open here: whoever reads its output would wait for its end.
  for fd in /proc/$BASHPID/fd/*; do
    fd=${fd##*/}
    case $fd in
      0 | 1 | 2 | 255) ;;
      3) [ "${BERTH_SOCKET:-none}" != none ] || exec 3>&- ;;
      *) eval "exec $fd>&-" ;;
    esac
  done
  exec 9>"$run/$name.lock" </dev/null
  flock -w 2 9 || exit 0 # longer than `alive` holds it to look
  echo $$ >"$run/$name.pid"
  trap 'stopping=yes; [ -z "$child" ] || kill "$child" 2>/dev/null' TERM
  trap 'again=yes; [ -z "$child" ] || kill "$child" 2>/dev/null' HUP
  trap '' INT
  cap_log "$log" $$ 3>&- 9>&- & capper=$!
  echo "${BERTH_SOCKET:-}" >"$run/$name.listen"
  while [ -z "$stopping" ]; do
    began=$SECONDS
    (become "$name") 9>&- >>"$log" 2>&1 &
    child=$!
    echo "$child" >"$run/$name.child"
    until wait "$child"; status=$?; ! kill -0 "$child" 2>/dev/null; do :; done
    [ -z "$stopping" ] || break
    if [ -n "$again" ]; then again='' pause=1; continue; fi
    # Settings that cannot work do not get better by trying; the program has said why.
    case $name:$status in
      berth:2 | berth-agent:2) echo "$(date -u +%FT%TZ) $name cannot work as it is set up; put that right and start it" >>"$log"; break ;;
    esac
    [ $((SECONDS - began)) -lt 60 ] || pause=1
    echo "$(date -u +%FT%TZ) $name ended with status $status; it is started again in $pause s" >>"$log"
    sleep $pause 3>&- & wait $!
    [ $pause -ge 30 ] || pause=$((pause * 2))
  done
  kill $capper 2>/dev/null
  rm -f "$run/$name.pid" "$run/$name.listen" "$run/$name.child"
}

# The program appends, so its log can be emptied under it.
cap_log() {
  while sleep 30 && kill -0 "$2" 2>/dev/null; do
    [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -lt 10485760 ] || { cp "$1" "$1.1"; : >"$1"; }
  done
}

alive() {
  case $1 in
    network) "$library/network" is-up ;;
    *) ! flock -n "$run/$1.lock" true ;;
  esac
}

start() {
  local limit
  alive "$1" && return
  case $1 in
    network) "$library/network" up ;;
    *)
      [ "$1" != libvirtd ] || ready_for_libvirt
      setsid --fork "$0" keep "$1" </dev/null >/dev/null 2>&1
      limit=$((SECONDS + 10))
      until alive "$1"; do [ $SECONDS -lt $limit ] || { echo "$1 does not start" >&2; return 1; }; sleep 0.05; done
      [ "$1" != libvirtd ] || for _ in $(seq 100); do virsh -c qemu:///system version >/dev/null 2>&1 && break; sleep 0.1; done ;;
  esac
}

# QEMU's user must be able to open /dev/kvm, or libvirt asks QEMU for its abilities again and again: udev sees to it elsewhere.
ready_for_libvirt() {
  [ ! -e /dev/kvm ] || ! getent group kvm >/dev/null || { chgrp kvm /dev/kvm && chmod 660 /dev/kvm; }
  mkdir -p /run/libvirt
}

stop() {
  local pid limit=$((SECONDS + 30))
  [ "$1" != network ] && alive "$1" || return 0 # guests need the network whatever else stops
  pid=$(cat "$run/$1.pid") && kill "$pid" 2>/dev/null
  while alive "$1" && [ $SECONDS -lt $limit ]; do sleep 0.05; done
  ! alive "$1" || { echo "$1 does not stop" >&2; return 1; }
}

# The controller's keeper stays, with its socket, unless the address has changed.
restart() {
  local child limit=$((SECONDS + 30))
  if [ "$1" != berth ] || ! alive berth || [ "$(cat "$run/berth.listen" 2>/dev/null)" != "$(listen_setting)" ]; then
    stop "$1" && start "$1"
    return
  fi
  child=$(cat "$run/berth.child") && kill -HUP "$(cat "$run/berth.pid")" || return 1
  while kill -0 "$child" 2>/dev/null && [ $SECONDS -lt $limit ]; do sleep 0.05; done
  ! kill -0 "$child" 2>/dev/null || { echo 'berth does not stop' >&2; return 1; }
}

[ -d $run ] || install -d -m 755 $run
mkdir -p "$logs"
verb=${1-}; shift
[ $# -gt 0 ] || mapfile -t all <"$settings/services"
[ $# -gt 0 ] || set -- "${all[@]}"
case $verb in
  start) for name in "$@"; do start "$name" || status=1; done ;;
  stop) for ((i = $#; i > 0; i--)); do stop "${!i}" || status=1; done ;;
  restart) for name in "$@"; do restart "$name" || status=1; done ;;
  status) for name in "$@"; do if alive "$name"; then echo "$name runs"; else echo "$name does not run"; status=1; fi; done ;;
  keep)
    [ "$1" != berth ] || [ -n "${BERTH_SOCKET:-}" ] || hold_socket
    keep "$1" ;;
  *) echo 'services start|stop|restart|status [NAME…]' >&2; exit 2 ;;
esac
exit "${status:-0}"
SCRIPT
}

# ---------------------------------------------------------------- the node
install_agent() {
  knows_controller || step "Controller $controller_url" look_at_controller
  install_program
  install_node
  printf '\n%s\n' "This machine is node $(identity .name) of $(identity .controller). The panel shows it under Nodes."
}

# Then this machine is seen to also while the controller is away.
knows_controller() { is_enrolled && { [ -z "$controller_url" ] || [ "$controller_url" = "$(identity .controller)" ]; }; }

# Before anything is put on this machine: is there a controller, and is it the right one?
look_at_controller() {
  local trust=() words code
  packages ca-certificates curl jq
  note=''
  if [ -n "$ca" ]; then trust=(--cacert "$ca")
  elif [ -e $controller_ca ]; then trust=(--cacert "$controller_ca"); fi
  [ -z "$pin" ] || trust+=(--pinnedpubkey "${pin//,/;}")
  words=$(curl -sS --noproxy '*' --max-time 15 "${trust[@]}" -w '\n%{http_code} %{redirect_url}' "$controller_url/api/v1/status" 2>&1) || case $? in
    60) fail "The certificate of $controller_url is not trusted here: $(curl_words "$words")" \
      "If it is a lab's certificate: make the command anew in the panel, which carries it; or copy $lab_ca from the controller to this machine and add --ca lab-ca.crt." ;;
    90) fail "The certificate of $controller_url has another key than --pin says." 'Nothing was changed. If the certificate was renewed, make a new command in the panel. If it was not, somebody answers in its place.' ;;
    *) fail "The controller at $controller_url cannot be reached: $(curl_words "$words")" 'Nothing was changed. Check the address, its name in DNS and the firewalls between, and run this again.' ;;
  esac
  code=${words##*$'\n'}
  case $code in
    30?\ https:*) fail "$controller_url sends everybody to HTTPS." "Use --controller $(cut -d/ -f1-3 <<<"${code#* }")" ;;
    200\ *) note=$(jq -er '"version \(.version)"' <<<"${words%$'\n'*}") && return ;;
  esac
  fail "$controller_url does not answer like a Berth controller." 'Nothing was changed. Check the address: it is the one of the panel, without a path.'
}

curl_words() { sed -n 's/^curl: ([0-9]*) //p' <<<"$1" | head -1; }

install_node() {
  local list=(qemu-utils libvirt-daemon-system libvirt-clients nftables iproute2 kmod xorriso openssh-client ca-certificates curl jq swtpm swtpm-tools restic libnbd-bin fuse3 e2fsprogs)
  if [ "$(uname -m)" = x86_64 ]; then list+=(qemu-system-x86 ovmf); else list+=(qemu-system-arm qemu-efi-aarch64); fi
  has_systemd || list+=(tini)
  step 'Packages for a node' packages "${list[@]}"
  ! runs_instances || step 'Container instances with cards' prepare_for_instances
  step 'Network of the guests' make_network
  step 'libvirt' start_libvirt
  step 'Enrolment' enroll
  step 'Service berth-agent' start_agent
}

# Said with --gpu, at this run or an earlier one. A package of Berth is for every machine.
runs_instances() { [ "$mode" != deb ] && { [ -n "$gpu" ] || [ -e $settings/gpu ]; }; }

# The driver and the container toolkit of NVIDIA are the operator's: which ones suit depends on the cards.
prepare_for_instances() {
  local list=(podman crun conmon catatonit netavark iptables dropbear-bin openssh-sftp-server rsync busybox-static patchelf e2fsprogs)
  packages "${list[@]}"
  mkdir -p /etc/cdi
  echo 'This node runs container instances with cards: install.sh --gpu.' | place $settings/gpu 644
  prepare_http_names
  # Without systemd the agent starts the engine itself.
  if has_systemd; then containers_unit | install_service berth-containers; systemctl start --no-block berth-containers; fi
  if ! nvidia_cards; then note="$note; no NVIDIA card is seen on this machine"
  elif [ ! -e /proc/driver/nvidia/version ] || ! command -v nvidia-ctk >/dev/null; then note="$note; NVIDIA's driver or its container toolkit is missing: docs/gpu.md"
  fi
}

# A Caddy that serves something else here has ports 80 and 443, and keeps them. One that the package just began serves a page of its own.
prepare_http_names() {
  local dir=$agent_state/http-names had=''
  [ ! -x /usr/bin/caddy ] || had=yes
  packages caddy
  if [ -e $caddy_site ] || [ -n "$domain" ] || ! is_packaged_page; then note="$note; no names for HTTP ports of instances, because Caddy serves other sites here"; return; fi
  if has_systemd && { [ -z "$had" ] || systemctl is-active --quiet caddy; }; then systemctl disable --now --quiet caddy; fi
  if [ ! -e $dir/caddy.json ]; then
    mkdir -p $dir; chmod 700 $dir
    echo '{"admin":{"listen":"unix//run/berth-http-proxy/admin.sock","config":{"persist":false}}}' >$dir/caddy.json
  fi
  http_proxy_unit | install_service berth-http-proxy
  if has_systemd; then systemctl start --no-block berth-http-proxy; else run_service berth-http-proxy; fi
}

nvidia_cards() { grep -qsx 0x10de /sys/bus/pci/devices/*/vendor; }

make_network() {
  if [ -n "$bridge" ]; then
    [ -d "/sys/class/net/$bridge/bridge" ] || fail "There is no bridge $bridge on this machine." "Make it first, or leave --bridge out: then berthbr0 is made."
    note="$bridge, as it is"
    return
  fi
  bridge=berthbr0
  subnet=${subnet:-$(setting network.env SUBNET)}; subnet=${subnet:-10.88.0.0/24}
  gateway=${gateway:-$(address_in "$subnet" 1)}
  network_script | place $library/network 755
  printf 'BRIDGE="%s"\nSUBNET="%s"\nGATEWAY="%s"\n' "$bridge" "$subnet" "$gateway" | place $settings/network.env 644
  network_unit | { if has_systemd; then install_service berth-network; else add_supervised network; fi; }
  if has_systemd; then systemctl start berth-network; fi
  $library/network up
  note="$bridge, $subnet, NAT to the outside"
}

# address_in CIDR N: its Nth address; negative from the end.
address_in() {
  local a b c d bits=${1#*/} first size place
  IFS=. read -r a b c d <<<"${1%/*}"
  size=$((1 << (32 - bits)))
  first=$((((a << 24) + (b << 16) + (c << 8) + d) / size * size))
  place=$((first + ($2 < 0 ? size + $2 : $2)))
  echo "$((place >> 24 & 255)).$((place >> 16 & 255)).$((place >> 8 & 255)).$((place & 255))"
}

network_script() {
  cat <<'SCRIPT'
#!/bin/bash
# network up|down|is-up: the guests' bridge and their way out. Run at every boot; doing it again changes nothing.
set -euo pipefail
. /etc/berth/network.env
export PATH=$PATH:/usr/sbin:/sbin

up() {
  [ -d "/sys/class/net/$BRIDGE" ] || ip link add name "$BRIDGE" type bridge stp_state 0 forward_delay 0
  ip address replace "$GATEWAY/${SUBNET#*/}" dev "$BRIDGE"
  ip link set "$BRIDGE" up
  echo 1 >/proc/sys/net/ipv4/ip_forward
  # What stays inside the subnet keeps its address, also where bridged packets pass through the IP rules.
  nft -f - <<RULES
table ip berth_uplink
delete table ip berth_uplink
table ip berth_uplink {
  chain out {
    type nat hook postrouting priority 100; policy accept;
    ip saddr $SUBNET ip daddr != $SUBNET masquerade
  }
}
RULES
  # Docker and some firewalls drop what is forwarded unless a rule of theirs says otherwise.
  if command -v iptables >/dev/null && iptables -S FORWARD 2>/dev/null | grep -qx -e '-P FORWARD DROP'; then
    iptables -C FORWARD -i "$BRIDGE" -j ACCEPT 2>/dev/null || iptables -I FORWARD -i "$BRIDGE" -j ACCEPT
    iptables -C FORWARD -o "$BRIDGE" -j ACCEPT 2>/dev/null || iptables -I FORWARD -o "$BRIDGE" -j ACCEPT
  fi
}

down() {
  nft delete table ip berth_uplink 2>/dev/null || true
  iptables -D FORWARD -i "$BRIDGE" -j ACCEPT 2>/dev/null || true
  iptables -D FORWARD -o "$BRIDGE" -j ACCEPT 2>/dev/null || true
  ip link delete "$BRIDGE" 2>/dev/null || true
}

case $1 in
  up) up ;;
  down) down ;;
  is-up) nft list table ip berth_uplink >/dev/null 2>&1 && ip -4 address show dev "$BRIDGE" up 2>/dev/null | grep -q "inet $GATEWAY/" ;;
  *) echo 'network up|down|is-up' >&2; exit 2 ;;
esac
SCRIPT
}

# As packaged, the guests of a machine that goes down are asked one after another, with five minutes for each. The
# packaged file is shown another one instead of being changed, so that updates of libvirt find it as they left it.
shut_guests_down_together() {
  printf '%s\n' "# Written by Berth's install.sh, in place of /etc/default/libvirt-guests." ON_BOOT=ignore ON_SHUTDOWN=shutdown \
    PARALLEL_SHUTDOWN=1000 SHUTDOWN_TIMEOUT=120 | place $settings/libvirt-guests 644
  printf '%s\n' '[Service]' "BindReadOnlyPaths=-$settings/libvirt-guests:/etc/default/libvirt-guests" TimeoutStopSec=180 | place $guests_drop_in 644
  ! has_changed $guests_drop_in || systemctl daemon-reload
}
guests_drop_in=/etc/systemd/system/libvirt-guests.service.d/berth.conf

start_libvirt() {
  if has_systemd; then
    shut_guests_down_together
    libvirt_answers || systemctl start libvirtd.service || systemctl start virtqemud.socket virtlogd.socket
  elif ! libvirt_answers; then
    add_supervised virtlogd; add_supervised libvirtd
    $library/services start virtlogd libvirtd
  fi
  wait_until 20 libvirt_answers || fail 'libvirt does not answer: virsh -c qemu:///system version.' "Its log: $(journal_of libvirtd)"
  note=$(virsh -c qemu:///system version | sed -n 's/^Running hypervisor: //p')
}

libvirt_answers() { virsh -c qemu:///system version >/dev/null 2>&1; }

agent_state=/var/lib/berth-agent controller_ca=$settings/controller-ca.crt
used_token=$agent_state/used-token.sha256

is_enrolled() { [ -e $agent_state/agent.json ]; }
identity() { jq -r "$1" $agent_state/agent.json; }

enroll() {
  local made called=()
  [ "$mode" = agent ] || controller_url=$(local_url)
  if is_enrolled; then if has_new_token; then renew_credential; else stay_enrolled; fi; return; fi
  [ "$mode" = agent ] || { made=$(new_enrolment); token=$(jq -er .token <<<"$made"); }
  [ "$mode" != agent ] || [ -z "$name" ] || called=(--name "$name")
  agent_settings
  join --controller "$controller_url" --token-file - --bridge "$bridge" ${pin:+--pin "$pin"} "${called[@]}"
  note_token
  note=$controller_url
}

# The same line may be run again: a token that made this machine a node, or renewed it, does nothing more.
token_digest() { printf %s "$token" | sha256sum | cut -d' ' -f1; }
note_token() { token_digest | place $used_token 600; }
has_new_token() { [ "$mode" = agent ] && [ -n "$token" ] && knows_controller && [ "$(token_digest)" != "$(cat $used_token 2>/dev/null)" ]; }

# What "Renew credential" in the panel prints. The present key agrees to the new one; data, name and place stay.
renew_credential() {
  local called=() keys=$pin on=$bridge was_used=''
  controller_url=$(identity .controller)
  [ -z "$name" ] || called=(--name "$name")
  [ -n "$keys" ] || keys=$(identity '(.pins // []) | join(",")')
  # The bridge that the operator named once, unless this run names another.
  [ "$on" != berthbr0 ] || on=$(identity '.bridge // "berthbr0"')
  agent_settings
  join --controller "$controller_url" --token-file - --bridge "$on" ${keys:+--pin "$keys"} "${called[@]}"
  note_token
  note="node $(identity .name), $(identity .nodeId), of $controller_url, $([ -n "$was_used" ] && echo 'as before: the token was used already' || echo 'with a new credential')"
}

# A node keeps its identity. Its controller may have got another address: HTTPS since, or another name.
stay_enrolled() {
  local before; before=$(identity .controller)
  if [ -n "$controller_url" ] && [ "$controller_url" != "$before" ]; then
    [ "$mode" != agent ] || [ -z "$token" ] || fail "This machine is a node of $before already, under the name $(identity .name)." \
      "If that controller is at $controller_url now, leave --token-file out. To make this machine a new node: ./install.sh --uninstall --purge, then this line again."
    jq --arg url "$controller_url" '.controller = $url' $agent_state/agent.json | place $agent_state/agent.json 600
  fi
  controller_url=$(identity .controller)
  agent_settings
  note="node $(identity .name), $(identity .nodeId), of $controller_url"
}

join() {
  local words
  words=$(unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY; set -a; . $settings/agent.env; exec $program agent enroll "$@" 2>&1 <<<"$token") && { echo "$words"; return; }
  echo "$words"
  words=${words##*$'\n'}
  case $words in
    # Before install.sh noted which token it had used, the line that made this node may have been run: it does nothing more.
    enrollment_not_valid:*) if is_enrolled && [ ! -e $used_token ]; then was_used=yes; return; fi ;;&
    forbidden:*) fail "The controller refused: ${words#*: }" "On the controller, ./install.sh --controller --domain NAME gives it HTTPS; then use that address here. In a lab, ./install.sh --controller --insecure there.
After that run the same command again; the token was not used." ;;
    *) fail "The controller refused: ${words#*: }" 'What is done already is not done twice: run the command again with what it asks for.' ;;
  esac
}

# On plain HTTP, by the operator's own choice (check_encrypted), or to this machine itself.
agent_settings() {
  [ -z "$ca" ] || place $controller_ca 644 <"$ca"
  {
    echo '# Written by install.sh. Your own settings go into agent.local.env beside this file.'
    case $controller_url in http://*) echo 'PANEL_AGENT_INSECURE="1"' ;; esac
    # The panel of an all-in-one machine: its servers reach no other port of the machine.
    [ "$mode" = agent ] || echo "PANEL_AGENT_HOST_PORTS=\"80,443,${listen##*:}\""
    # As curl above: whom the machine trusts, the agent trusts.
    if [ -e $controller_ca ]; then echo "NODE_EXTRA_CA_CERTS=\"$controller_ca\""
    else case $controller_url in https://*) [ ! -r $system_authorities ] || echo "NODE_EXTRA_CA_CERTS=\"$system_authorities\"" ;; esac; fi
  } | place $settings/agent.env 644
}

# The node of an all-in-one machine joins by itself: the first location is made for it if there is none.
new_enrolment() {
  local location
  location=$(first_of locations)
  [ -n "$location" ] || location=$(berth_admin locations.create '{"name":"Home"}' | jq -er .id)
  berth_admin nodes.enroll "$(jq -n --arg location "$location" --arg bridge "$bridge" '{locationId: $location, bridge: $bridge}')"
}

# first_of NAME [OPERATION]: the identifier of the first in its list, or nothing.
first_of() { berth_admin "${2:-$1.list}" | jq -r '.data[0].id // empty'; }

start_agent() {
  agent_unit | install_service berth-agent
  run_service berth-agent $settings/agent.env $controller_ca $agent_state/agent.json $used_token
}

# ---------------------------------------------------------------- all that a first server needs
create_staff() {
  if [ -e $settings/staff ]; then email=$(cat $settings/staff); note="$email, made earlier"; return; fi
  email=${email:-admin@${domain:-$(hostname -f 2>/dev/null || hostname)}}
  case ${email#*@} in *.*) ;; *) email=admin@localhost.localdomain ;; esac
  password=$(head -c 15 /dev/urandom | base64 -w0 | tr '+/' '-_' | sed 's/.\{5\}/&-/g; s/-$//')
  printf '%s\n' "$password" | berth_admin create-staff --email "$email" --name "${name:-Administrator}"
  echo "$email" | place $settings/staff 644
  note=$email
}

first_server() {
  [ -n "$first_guest" ] || return 0
  step 'Addresses for servers' make_pool
  step 'Package' make_package
  step 'Image' make_image
  step 'Customer' make_customer
  step 'API token' make_token
  step 'Node is connected' wait_for_node
}

make_pool() {
  local resolvers_json
  [ -z "$(first_of pools)" ] || { note='already there'; return; }
  if [ -z "$subnet" ]; then note='none: say --subnet, --gateway and --pool-range, or add a pool in the panel'; return; fi
  [ ${#resolvers[@]} -gt 0 ] || mapfile -t resolvers < <(awk '$1 == "nameserver" && $2 !~ /^127\.|^::1|%/ { print $2 }' /etc/resolv.conf | head -3)
  resolvers_json=$(jq -cn '$ARGS.positional' --args "${resolvers[@]}")
  pool_range=${pool_range:-$(address_in "$subnet" 10)-$(address_in "$subnet" -6)}
  berth_admin pools.create "$(jq -n --arg network "$(address_in "$subnet" 0)/${subnet#*/}" --arg gateway "$gateway" --arg first "${pool_range%-*}" --arg last "${pool_range#*-}" \
    --argjson resolvers "$resolvers_json" --arg node "$(jq -r .nodeId $agent_state/agent.json)" \
    '{name: "Servers", network: $network, gateway: $gateway, first: $first, last: $last, resolvers: $resolvers, nodeIds: [$node]}')"
  note=$pool_range
}

make_package() {
  [ -z "$(first_of packages)" ] || { note='already there'; return; }
  berth_admin packages.create '{"name":"Small","vcpus":1,"memoryMb":1024,"diskGb":10}'
  note='Small: 1 processor, 1 GB, 10 GB'
}

# Debian from the catalogue, as its publishers sign it; without the internet, a small Linux made of Debian's packages.
make_image() {
  [ -z "$(first_of images)" ] || { note='already there'; return; }
  if berth_admin images.add '{"catalogueId":"debian-13"}'; then note='Debian 13 from the catalogue'; return; fi
  install -d -m 750 -o berth -g berth "$data_dir/incoming"
  GUEST_INSTALL_TOOLS=1 "$here/guest/build-tiny-guest.sh" "$data_dir/incoming/berth-tiny.qcow2"
  chown berth:berth "$data_dir/incoming/berth-tiny.qcow2"
  berth_admin images.import '{"file":"berth-tiny.qcow2","name":"Berth Tiny Linux","format":"qcow2","minDiskGb":1,"published":true}'
  note='the catalogue cannot be reached, so a tiny Linux was built from Debian packages'
}

make_customer() {
  local key id
  [ -z "$(first_of customers)" ] || { note='already there'; return; }
  id=$(berth_admin customers.create '{"name":"First customer","email":"customer@example.com"}' | jq -er .id)
  echo "$id" | place $settings/first-customer 644
  note='First customer'
  for key in "$HOME"/.ssh/*.pub; do
    [ -r "$key" ] || continue
    berth_admin ssh-keys.create "$(jq -n --arg id "$id" --rawfile key "$key" '{id: $id, publicKey: ($key | rtrimstr("\n"))}')" && note="$note, with $key" || true
  done
}

make_token() {
  [ ! -e $settings/api-token-made ] || { note='made earlier'; return; }
  api_token=$(berth_admin create-token --account "$email" --name install.sh --preset billing --expires $token_days)
  echo "install.sh made an API token for $email. It is shown once and stored nowhere." | place $settings/api-token-made 644
  note="for $token_days days"
}

token_days=30

wait_for_node() { wait_until 30 node_connected || fail 'The agent was started but the controller does not see it.' "Its journal: $(journal_of berth-agent)"; }
node_connected() { berth_admin nodes.list | jq -e --arg id "$(jq -r .nodeId $agent_state/agent.json)" '.data[] | select(.id == $id) | .connected' >/dev/null; }

# ---------------------------------------------------------------- the end
say_result() {
  printf '\nBerth is ready.\n\n  Panel          %s\n' "$public_url"
  if [ -n "${password-}" ]; then printf '  Staff sign-in  %s\n  Password       %s   (shown only once; change it after signing in)\n' "$email" "$password"
  else printf '  Staff sign-in  %s   (its password was shown when it was made)\n' "$email"; fi
  case $public_url in http://*)
    printf '\n%s\n%s\n' 'This is a lab on plain HTTP: passwords and tokens cross the network readable. Keep it on a network that you trust,' \
      'or run this again with --domain panel.example.com for automatic HTTPS.'
    if nodes_may_come_in_the_clear; then echo 'Nodes may join over plain HTTP too (--insecure): whoever is on that network could give them orders.'
    else echo 'Until then nodes on other machines are refused; --insecure lets them in, in a lab.'; fi ;;
  esac
  [ -z "$lab_certificate" ] || printf '\n%s\n%s\n' "The certificate is a lab's: browsers warn until they trust the authority in $lab_ca." \
    'The command that the panel shows for a node carries it.'
  [ -z "${certificate_missing-}" ] || printf '\n%s\n%s\n' "There is no certificate for $domain yet: the name must point to this machine, and ports 80 and 443 must be open from the internet." \
    "Caddy goes on asking for it; what it says: $(journal_of caddy). For a lab: --lab-certificate."
  has_systemd || printf '\n%s\n' "There is no systemd here: after a restart of this machine run $library/services start"
  [ "$mode" = all-in-one ] && [ -n "$first_guest" ] || return 0
  say_first_server
  say_token
}

# The customer that an earlier run made, or the only one there is. With several, the operator knows which.
first_customer() {
  local made
  made=$(cat $settings/first-customer 2>/dev/null) || true
  [ -n "$made" ] && berth_admin customers.get "{\"id\":\"$made\"}" 2>/dev/null | jq -er .id && return
  berth_admin customers.list | jq -r 'if .total == 1 then .data[0].id else empty end'
}

# Nothing is said once there is a server.
say_first_server() {
  local owner key access='{"mode":"password"}' body
  [ -z "$(first_of servers servers.list-all)" ] || return 0
  printf '\nCreate your first server:\n\n  %s/admin/servers/new\n' "$public_url"
  owner=$(first_customer)
  [ -n "$owner" ] || return 0
  key=$(berth_admin ssh-keys.list "{\"id\":\"$owner\"}" | jq -r '.data[0].id // empty')
  [ -z "$key" ] || access="{\"mode\":\"ssh_keys\",\"sshKeyIds\":[\"$key\"]}"
  body=$(jq -cn --arg owner "$owner" --arg package "$(first_of packages)" --arg group "$(first_of locations)" --arg image "$(first_of images)" \
    --argjson access "$access" '{ownerId: $owner, packageId: $package, nodeGroupId: $group, imageId: $image, hostname: "web01", access: $access}')
  printf '\nor\n\n  curl -sS --fail-with-body%s -X POST '\''%s/api/v1/admin/servers'\'' \\\n' "$(reaching_the_name)" "$public_url"
  printf "    -H '%s' \\\\\n" "Authorization: Bearer ${api_token:-TOKEN}" "Idempotency-Key: first-server-$(date +%s)" 'Content-Type: application/json'
  printf "    -d '%s'\n" "$body"
}

# Flags of curl for a lab's certificate, and for a name that no name server knows.
reaching_the_name() {
  [ -z "$lab_certificate" ] || printf ' --cacert %s' "$lab_ca"
  [ -z "$lab_certificate" ] || getent hosts "${public_url#https://}" >/dev/null ||
    printf ' --resolve %s:443:%s' "${public_url#https://}" "$(listen=0.0.0.0:443 reachable_host)"
}

say_token() {
  local words='sees and changes customers, and orders, resizes, suspends, reinstalls and terminates their servers'
  [ -z "${api_token-}" ] || printf '\n%s\n' "The API token
  $api_token
is for a billing system: it $words.
It ends on $(date -u -d "$token_days days" +%F). End it earlier in the panel under Account, API tokens."
  [ -n "${api_token-}" ] || [ -n "$(first_of servers servers.list-all)" ] || printf '\n%s\n' "For TOKEN, make one that $words:
  sudo berth admin create-token --account $email --name first-server --preset billing --expires $token_days"
}

# ---------------------------------------------------------------- uninstall
uninstall() {
  local kept='' node=''
  ! is_enrolled || node=$(identity '"node \(.name) of \(.controller)"' 2>/dev/null) || true
  data_dir=$(setting controller.env PANEL_DATA_DIR); data_dir=${data_dir:-/var/lib/berth}
  [ -z "$purge" ] || [ -n "$force" ] || [ -z "$(our_guests)" ] ||
    fail "These guests are still here: $(our_guests | tr '\n' ' ')" 'Nothing was changed. Terminate them in the panel first, or add --force: then they are stopped and deleted with all their disks.'
  step 'Stopping the controller and the agent' stop_services
  step 'Removing the program' remove_program
  if [ -z "$purge" ]; then
    kept=$(ls -d "$data_dir" $agent_state 2>/dev/null | paste -sd ' ') || true
    printf '\n%s\n' "Guests keep running. Data stays in ${kept:-no place: there was none}, settings in $settings; ./install.sh continues with them." \
      'To delete all of it: ./install.sh --uninstall --purge'
    return
  fi
  [ -z "$(our_guests)" ] || step 'Deleting guests' delete_guests
  step 'Deleting data, settings and the guests'\'' network' purge_all
  printf '\n%s\n' 'Berth is gone. Packages that were installed for it stay; apt removes them.'
  [ -z "$node" ] || echo "This machine was $node: remove it there too, under Nodes."
  [ -z "${unserved-}" ] || echo "Caddy ran under Berth's supervision: start it yourself for your own sites in $caddy_main."
}

# Berth's guests are named by their server id.
our_guests() { { virsh -c qemu:///system list --all --name 2>/dev/null | grep -E '^srv_[0-9a-z]{26}$' || true; }; our_instances; }

# Container instances are named by their id, in a storage of their own.
our_instances() { [ ! -e $agent_state/containers/containers.conf ] || podman_of_berth ps --all --format '{{.Names}}' 2>/dev/null | grep -E '^[a-z]{2,8}_[0-9a-z]{26}$' || true; }
podman_of_berth() {
  local dir=$agent_state/containers
  CONTAINERS_CONF=$dir/containers.conf CONTAINERS_STORAGE_CONF=$dir/storage.conf CONTAINERS_REGISTRIES_CONF=$dir/registries.conf podman "$@"
}

stop_services() {
  local service
  for service in berth-agent berth-containers berth-http-proxy berth; do
    if has_systemd; then systemctl disable --now --quiet $service 2>/dev/null || true
    elif [ -x $library/services ]; then $library/services stop $service; fi
  done
}

remove_program() {
  rm -f $program /etc/systemd/system/berth.service /etc/systemd/system/berth-agent.service /etc/systemd/system/berth-{containers,http-proxy}.service
  [ ! -e $settings/services ] || sed -i '/^berth\(-agent\|-http-proxy\)\?$/d' $settings/services
  [ ! -e $caddy_site ] || remove_caddy_site
  ! has_systemd || systemctl daemon-reload
}

# The operator's own sites stay, and are served on. Without any, Caddy is as its package brought it, and stopped.
remove_caddy_site() {
  rm $caddy_site
  sed -i "\|^import $caddy_site\$|d" $caddy_main
  if grep -q '[^[:space:]]' $caddy_main; then
    if has_systemd; then systemctl try-reload-or-restart caddy || true; else $library/services restart caddy; fi
    return
  fi
  [ ! -e $caddy_main.before-berth ] || mv $caddy_main.before-berth $caddy_main
  if has_systemd; then systemctl disable --now --quiet caddy || true
  else $library/services stop caddy; sed -i '/^caddy$/d' $settings/services; fi
}

delete_guests() {
  local guest
  [ -z "$(our_instances)" ] || { podman_of_berth rm --all --force --volumes; podman_of_berth network prune --force; }
  for guest in $(our_guests); do
    virsh -c qemu:///system destroy "$guest" || true
    virsh -c qemu:///system undefine --managed-save --snapshots-metadata --checkpoints-metadata --nvram "$guest"
  done
}

# One that is a file system of its own is emptied.
delete_directory() { if mountpoint -q "$1"; then find "$1" -xdev -mindepth 1 -delete; else rm -rf "$1"; fi; }

purge_all() {
  local table directory
  if has_systemd; then systemctl disable --now --quiet berth-network 2>/dev/null || true; rm -f /etc/systemd/system/berth-network.service $guests_drop_in; systemctl daemon-reload
  elif [ -x $library/services ]; then ! grep -qsx caddy $settings/services || unserved=yes; $library/services stop; fi
  [ ! -x $library/network ] || $library/network down
  for table in $(nft list tables 2>/dev/null | awk '$3 ~ /^berth/ { print $2 ":" $3 }'); do nft delete table "${table%:*}" "${table#*:}"; done
  for directory in "$data_dir" $agent_state; do delete_directory "$directory"; done
  rm -rf $settings $library /run/berth /run/berth-http-names /var/lib/berth-http-proxy /etc/cdi/berth-gpu.json
  userdel berth 2>/dev/null || true
  rm -rf $logs
}

main "$@"
