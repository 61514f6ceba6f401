#!/bin/bash
# Installs Berth: the controller, a node, or both on one machine. Nothing is asked; every choice has a flag (--help).
# Run it again at any time: what is there already stays, a newer build replaces the program, guests keep running.
# This script checks the flags and brings the program; what is done to the machine is `berth host` (host/ of the source).
set -euo pipefail
shopt -s lastpipe # so that what is set at the end of a pipe is not forgotten with a subshell
# Where things are.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=/usr/local/bin/berth
library=/usr/local/lib/berth
settings=/etc/berth
logs=/var/log/berth
agent_state=/var/lib/berth-agent
controller_ca=$settings/controller-ca.crt
lab_ca=$settings/lab-ca.crt # of a controller, for words

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
  --uplink INTERFACE     the network card or bond that leads out of this machine: it is watched, and carries the VLANs of pools
  --vlans LIST           with --uplink: the VLANs that its switch port has for servers; all, or such as 20,100-199
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
    deb) begin; build; run_program "$here/dist/berth" deb ;;
    uninstall) begin; guard_folder; find_program; run_program "$from" uninstall ${purge:+--purge} ${force:+--force} ;;
    *) begin; guard_folder; install ;;
  esac
}

install() {
  step 'Looking at this machine' look_at_machine
  if [ "$mode" != agent ]; then step 'Packages for the controller' packages ca-certificates curl jq iproute2 gpgv
  else knows_controller || step "Controller $controller_url" look_at_controller; fi
  find_program
  collect_flags
  run_program "$from" install "--$mode" "${collected[@]}"
}

# What was said, checked, for the program.
collect_flags() {
  local flag
  collected=()
  for flag in controller_url domain listen public_url data_dir email name ca pin bridge uplink vlans subnet gateway pool_range; do
    [ -z "${!flag}" ] || collected+=("--${flag//_/-}" "${!flag}")
  done
  for flag in lab_certificate insecure gpu; do [ -z "${!flag}" ] || collected+=("--${flag//_/-}"); done
  for flag in "${resolvers[@]}"; do collected+=(--resolver "$flag"); done
  [ -n "$first_guest" ] || collected+=(--no-first-guest)
  [ -z "$token" ] || collected+=(--token-file -)
}

# The program goes on in place of this script, with the token on its standard input: no process has it on its command line.
run_program() {
  local found=$1; shift
  trap - EXIT
  exec "$found" host "$@" --source "$here" --log "$log" <<<"$token" 4>&-
}

# ---------------------------------------------------------------- flags
read_flags() {
  mode='' domain='' listen='' public_url='' data_dir='' email='' name='' bridge='' uplink='' vlans='' subnet='' gateway='' pool_range=''
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
      --domain | --listen | --public-url | --data-dir | --email | --name | --bridge | --uplink | --vlans | --subnet | --gateway | --pool-range | --token | --token-file | --ca | --pin | --resolver)
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
  [[ -z $uplink || $uplink =~ ^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$ ]] || wrong_use "--uplink $uplink is not an interface name."
  [ -z "$vlans" ] || [ -n "$uplink" ] || wrong_use '--vlans needs --uplink: the interface on which they are carried.'
  [ -z "$vlans" ] || are_vlans "$vlans" || wrong_use "--vlans takes all, or numbers and ranges from 1 to 4094 such as 20,100-199."
  [ -z "$uplink" ] || [ "$mode" = agent ] || [ "$mode" = all-in-one ] || wrong_use '--uplink is for a node: it goes with --agent or --all-in-one.'
  [[ -z $subnet || $subnet =~ ^[0-9]+(\.[0-9]+){3}/(1[6-9]|2[0-8])$ ]] || wrong_use '--subnet is an IPv4 network from /16 to /28, for example 10.88.0.0/24.'
  [[ -z $pool_range || $pool_range =~ ^[0-9.]+-[0-9.]+$ ]] || wrong_use '--pool-range is FIRST-LAST, for example 10.88.0.10-10.88.0.250.'
  [ -z "$gpu" ] || [ "$mode" = agent ] || [ "$mode" = all-in-one ] || wrong_use '--gpu is for a node: it goes with --agent or --all-in-one.'
  [ -z "$purge" ] || [ "$mode" = uninstall ] || wrong_use '--purge goes with --uninstall.'
}

# `all`, or numbers and ranges of VLANs.
are_vlans() {
  local range first last
  [ "$1" != all ] || return 0
  [[ $1 =~ ^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$ ]] || return 1
  for range in ${1//,/ }; do
    first=$((10#${range%-*})) last=$((10#${range#*-}))
    [ $first -ge 1 ] && [ $last -le 4094 ] && [ $first -le $last ] || return 1
  done
}

# What a controller tells a node is done as root: nobody on the way may change it.
check_encrypted() {
  ! is_own_panel || return 0
  case $controller_url in '' | https://* | http://127.* | http://localhost | http://localhost:* | http://\[::1\]*) return ;; esac
  [ -n "$insecure" ] || [ "$(setting agent.env PANEL_AGENT_INSECURE)" = 1 ] || wrong_use "$controller_url is not encrypted: whoever is on the way could give this machine orders.
Use the panel's https:// address; on the controller, ./install.sh --controller --domain NAME makes it.
In a lab, on a network that you trust, add --insecure here and on the controller."
}

wrong_use() { printf '%s\n%s\n' "install.sh: $1" 'See ./install.sh --help.' >&2; exit 2; }

# ---------------------------------------------------------------- steps
begin() {
  log=$(mktemp) current=''
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
  rm -f "${partial[@]}"
  [ "$1" != 0 ] && [ -n "$current$problem" ] || return 0
  exec >&4 2>&4
  [ ! -t 2 ] || printf '\r\033[K'
  [ -z "$current" ] || printf '✗ %s\n' "$current"
  if [ -n "$problem" ]; then printf '\n%s\n' "$problem"; else printf '\nThe last lines of %s:\n' "$log"; last_lines; fi
  printf '%s\n' "${remedy:-Everything is in $log. Put it right and run the same command again: what is done already is not done twice.}"
}
# Files that are not whole: they go when the script ends, also when somebody ends it.
problem='' remedy='' partial=()

# Of the step that failed, fifteen at most.
last_lines() { awk '/^-- / { n = 0 } { line[n++] = $0 } END { for (i = n > 16 ? n - 15 : 1; i < n; i++) print "  " line[i] }' "$log"; }

# ---------------------------------------------------------------- the machine
look_at_machine() {
  local ID='' VERSION_ID='' PRETTY_NAME=''
  [ ! -r /etc/os-release ] || . /etc/os-release
  case $ID:$VERSION_ID in
    debian:12 | debian:13 | ubuntu:24.04 | ubuntu:26.04) ;;
    *) fail "Berth installs on Debian 12 and 13 and Ubuntu 24.04 and 26.04. This is ${PRETTY_NAME:-something else}." \
      'Nothing was changed. Elsewhere, build the program with ./install.sh --build-only and follow docs/install.md, "By hand".' ;;
  esac
  [ -z "$gpu" ] && [ ! -e $settings/gpu ] || case $ID:$VERSION_ID in
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
  apt-get install -y --no-install-recommends "${missing[@]}"
}

# ---------------------------------------------------------------- the program
# A release brings the program beside this script; a checkout builds it. This script alone, as the controller serves it,
# fetches the program for a new node; elsewhere the one that is installed stays.
find_program() {
  local found
  from=''
  if [ -f "$here/berth" ] && [ -x "$here/berth" ]; then from=$here/berth
  elif [ "$mode" = uninstall ]; then
    for found in "$here/dist/berth" $library/berth-host $program /usr/bin/berth; do take_if_able "$found"; done
    [ -n "$from" ] || [ ! -e "$here/src/main.ts" ] || { build; from=$here/dist/berth; }
  elif [ -e "$here/src/main.ts" ]; then build; from=$here/dist/berth
  elif [ "$mode" = agent ] && ! is_enrolled; then take_from_controller
  else
    for found in $program $library/berth-host; do take_if_able "$found"; done # an uninstallation left the second
    [ -n "$from" ] || [ "$mode" != agent ] || [ -z "$token" ] || take_from_controller
  fi
  [ -n "$from" ] || fail 'There is no program for this script, or none as new as it.' 'Run ./install.sh of a release, which has the program beside it, or of a checkout, with the same flags.'
}

# What lies beside this script is run as root, so not where everybody may put things, and not beside a fetched script.
guard_folder() {
  local name=${BASH_SOURCE[0]##*/}
  if [ "$name" != berth-install.sh ]; then
    [[ $(stat -Lc %A "$here") == ????????w* ]] || return 0
    [ ! -e "$here/berth" ] && [ ! -e "$here/src/main.ts" ] ||
      fail "Everybody can write into $here, so nothing there is run as root." 'Nothing was changed. Move its files into a folder of your own and run the same command there.'
  fi
  here=/nonexistent
}

# Programs of before have no `berth host`.
take_if_able() { [ -n "$from" ] || [ ! -x "$1" ] || ! "$1" host help >/dev/null 2>&1 </dev/null || from=$1; }

take_from_controller() {
  local controller_url=${controller_url:-$(controller_of_node)}
  check_encrypted
  from=$library/fetched
  step "Program from $controller_url" fetch_program "$from"
}

program_mib=300

# A node that has this script alone takes the program from its controller, whose orders it is going to carry out as root anyway.
fetch_program() {
  local trust=() kind digest
  packages ca-certificates curl jq
  if [ -n "$ca" ]; then trust=(--cacert "$ca")
  elif [ -e $controller_ca ]; then trust=(--cacert "$controller_ca"); fi
  [ -z "$pin" ] || trust+=(--pinnedpubkey "${pin//,/;}")
  kind=$(uname -m); kind=${kind/x86_64/x64}
  mkdir -p $library
  [ "$(df -Pm $library | awk 'NR == 2 { print $4 }')" -ge $program_mib ] ||
    fail "$library has less than $program_mib MiB free, so the program does not fit." 'Nothing was changed. Free some space there and run the same command again.'
  partial=("$1" "$1.head")
  # The token stands in no list of processes.
  curl -sS --noproxy '*' --fail-with-body --max-time 900 "${trust[@]}" -H @- -D "$1.head" -o "$1" "$controller_url/agent/v1/program/$kind" <<<"Authorization: Bearer $token" || {
    [ $? != 23 ] || fail "The disk of $library is full." 'What had arrived was removed. Free some space there and run the same command again.'
    [ ! -e "$1" ] || problem=$(jq -er .error.message "$1" 2>/dev/null) || problem=''
    fail "The controller gave no program: ${problem:-the connection broke.}" 'What is done already is not done twice: put that right and run this again, or run ./install.sh of a release, which has the program beside it, with the same flags.'
  }
  digest=$(sed -n 's/^[Rr]epr-[Dd]igest: *sha-256=:\([^:]*\):.*/\1/p' "$1.head")
  rm "$1.head"
  [ "$(sha_of 256 "$1")" = "$digest" ] || fail 'The program did not arrive as the controller has it (SHA-256 differs).' 'Run the same command again.'
  chmod 755 "$1"
  partial=()
  note="$("$1" version), checksum verified"
}

# sha_of BITS FILE: its checksum in base64.
sha_of() { printf '%b' "$("sha$1sum" <"$2" | cut -d' ' -f1 | sed 's/../\\x&/g')" | base64 -w0; }

# A checkout brings the script that builds.
build() {
  [ -e "$here/src/main.ts" ] || fail "There is neither a program nor its source beside $here/install.sh." 'Run it from a release or a checkout.'
  . "$here/packaging/build.sh"
  build_program
}

# ---------------------------------------------------------------- the controller of a node
is_enrolled() { [ -e $agent_state/agent.json ]; }
controller_of_node() { sed -n 's/.*"controller": *"\([^"]*\)".*/\1/p' $agent_state/agent.json | head -1; }

# setting FILE NAME: what an earlier run wrote.
setting() { sed -n "s/^$2=\"\(.*\)\"$/\1/p" "$settings/$1" 2>/dev/null || true; }

# Then this machine is seen to also while the controller is away.
knows_controller() { is_enrolled && { [ -z "$controller_url" ] || [ "$controller_url" = "$(controller_of_node)" ] || is_own_panel; }; }

# The panel of this very machine, by its public address.
is_own_panel() { [ -n "$controller_url" ] && [ "$controller_url" = "$(setting controller.env PANEL_PUBLIC_URL)" ]; }

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


main "$@"
