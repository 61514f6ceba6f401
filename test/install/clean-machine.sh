#!/bin/bash
# clean-machine.sh make DIR SUITE [DISK_GB] | run DIR COMMAND… | restart DIR | remove DIR
#
# A clean machine without systemd, for proving install.sh: a minimal Debian with namespaces of its own for processes,
# mounts, network and control groups, and a way out to the package registries that this machine is set to. With DISK_GB
# servers' disks have a file system of their own. `restart` is that of a container: the boot id stays. Needs root,
# debootstrap, tini.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
action=$1 machine=$2 root=$2/root
cache=${XDG_CACHE_HOME:-/var/cache}/berth

make_room() {
  local suite=$1 disk_gb=${2-}
  echo "$suite" >"$machine/suite"
  if [ -n "$disk_gb" ]; then
    truncate -s "${disk_gb}G" "$machine/disk"
    mkfs.ext4 -q -F -m 0 -T largefile4 -J size=64 "$machine/disk"
  fi
  mkdir -p "$root" "$cache/debs-$suite"
  [ -e "$cache/root-$suite.tar" ] || bootstrap "$suite"
  tar -xf "$cache/root-$suite.tar" -C "$root"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  echo 'node-under-test' >"$root/etc/hostname"
  printf '127.0.0.1 localhost\n127.0.1.1 node-under-test\n' >"$root/etc/hosts"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/machine" # a machine is not kept, so its packages need not reach the disk
  cp "$(command -v tini-static)" "$root/.init"
  cat /proc/sys/net/ipv4/ip_forward >"$machine/ip_forward"
  boot
}

# Its first process, in new namespaces, with the address that it had before.
boot() {
  local suite started
  suite=$(cat "$machine/suite")
  connect
  started=$(mktemp -u "$machine/started.XXXX")
  (
    for group in $(control_groups); do mkdir -p "$group"; prepare_cpuset "$group"; echo $BASHPID >"$group/cgroup.procs"; done
    exec nsenter --net="/run/netns/$(name)" unshare --mount --uts --ipc --pid --cgroup --fork "$0" inside "$machine" "$cache/debs-$suite" "$started"
  ) >"$machine/log" 2>&1 &
  for _ in $(seq 100); do [ -e "$started" ] && break; sleep 0.1; done
  [ -e "$started" ] || { cat "$machine/log" >&2; exit 1; }
  pgrep -P $! >"$machine/pid"
}

# From the mirror that this machine's apt uses.
bootstrap() {
  local mirror
  mirror=$({ sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources; awk '$1 == "deb" { print $2 }' /etc/apt/sources.list /etc/apt/sources.list.d/*.list || true; } 2>/dev/null |
    grep -m1 'debian/*$') || { echo 'no Debian mirror in /etc/apt' >&2; exit 1; }
  debootstrap --variant=minbase --include=ca-certificates --cache-dir="$cache/debs-$1" "$1" "$machine/new" "$mirror" >"$machine/log" 2>&1 || { tail -5 "$machine/log" >&2; exit 1; }
  # A registry may be reached through a proxy whose certificate this machine trusts.
  cp /etc/ssl/certs/ca-certificates.crt "$machine/new/etc/ssl/certs/ca-certificates.crt"
  tar -cf "$cache/root-$1.tar.new" -C "$machine/new" . && mv "$cache/root-$1.tar.new" "$cache/root-$1.tar"
  rm -rf "$machine/new"
}

name() { echo "machine-$(basename "$machine" | tr -cd 'a-zA-Z0-9' | tail -c 8)"; }

# One directory in every hierarchy, so that its libvirt and another on this machine do not meet.
control_groups() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo "/sys/fs/cgroup/$(name)"; return; fi
  local hierarchy
  for hierarchy in /sys/fs/cgroup/*/; do [ ! -e "$hierarchy/cgroup.procs" ] || echo "$hierarchy$(name)"; done
}

prepare_cpuset() {
  case $1 in */cpuset/*) for f in cpus mems; do cat "${1%/*}/cpuset.$f" >"$1/cpuset.$f"; done; echo 1 >"$1/cgroup.clone_children" ;; esac
}

# A point-to-point link: to the outside behind this machine's own address, to other machines as it is.
connect() {
  local n third; n=$(name)
  if [ -e "$machine/address" ]; then IFS=. read -r _ _ third _ <"$machine/address"
  else until third=$((RANDOM % 250)) && [ -z "$(ip -4 address show to "10.213.$third.0/30")" ]; do :; done; fi
  ip netns add "$n"
  ip link add "${n:0:13}-h" type veth peer name up0 netns "$n"
  ip address add "10.213.$third.1/30" dev "${n:0:13}-h"; ip link set "${n:0:13}-h" up
  ip -n "$n" address add "10.213.$third.2/30" dev up0
  ip -n "$n" link set lo up; ip -n "$n" link set up0 up
  ip -n "$n" route add default via "10.213.$third.1"
  echo "10.213.$third.2" >"$machine/address"
  echo 1 >/proc/sys/net/ipv4/ip_forward
  nft -f - <<RULES
table ip $n {
  chain out {
    type nat hook postrouting priority 100
    ip saddr 10.213.$third.2 ip daddr != 10.213.0.0/16 masquerade
  }
}
RULES
}

# The first process, in its new namespaces: mounts what a container engine would, then only collects orphans.
inside() {
  local debs=$1 started=$2 device group
  mount --make-rprivate /
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys"
  mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
  for group in $(control_groups); do
    case $group in /sys/fs/cgroup/"$(name)") mount --bind "$group" "$root/sys/fs/cgroup"; continue ;; esac
    device=$root${group%/*}; mkdir -p "$device"; mount --bind "$group" "$device"
  done
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  mount -t tmpfs -o mode=755,size=1m tmpfs "$root/dev"
  mkdir "$root"/dev/{pts,shm,net}
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"; ln -s pts/ptmx "$root/dev/ptmx"
  mount -t tmpfs tmpfs "$root/dev/shm"
  for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 net/tun:10:200; do
    IFS=: read -r file major minor <<<"$device"; mknod -m 666 "$root/dev/$file" c "$major" "$minor"
  done
  [ ! -e /dev/kvm ] || mknod -m 600 "$root/dev/kvm" c 10 232
  ln -s /proc/self/fd "$root/dev/fd"
  for file in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${file#*:}" "$root/dev/${file%:*}"; done
  if [ -e "$machine/disk" ]; then
    mkdir -p "$root/var/lib/berth-agent"
    mount -o loop "$machine/disk" "$root/var/lib/berth-agent"
  fi
  mkdir -p "$root/var/cache/apt/archives"; mount --bind "$debs" "$root/var/cache/apt/archives"
  # Machines share what was downloaded, and install at the same time.
  touch "$debs/lock" "$root/.apt-lock"; mount --bind "$root/.apt-lock" "$root/var/cache/apt/archives/lock"
  hostname node-under-test
  touch "$started"
  cd "$root"; mkdir -p .old; pivot_root . .old; umount -l .old
  exec /.init -s -- sleep infinity </dev/null
}

# Only what an operator's shell would have; the settings of the registries' clients come along.
run_in() {
  local setting keep=()
  for setting in NODE_EXTRA_CA_CERTS SSL_CERT_FILE; do [ -z "${!setting-}" ] || keep+=("$setting=${!setting}"); done
  for group in $(control_groups); do echo $$ >"$group/cgroup.procs"; done
  exec nsenter --target "$(cat "$machine/pid")" --all -- env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${keep[@]}" "$@"
}

# Every process is killed, and the network goes with its links and rules.
halt() {
  local n pids; n=$(name)
  for _ in $(seq 20); do
    pids=$(ip netns pids "$n" 2>/dev/null) && [ -n "$pids" ] || break
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null || true
    sleep 0.2
  done
  ip link delete "${n:0:13}-h" 2>/dev/null || true
  ip netns delete "$n" 2>/dev/null || true
  nft delete table ip "$n" 2>/dev/null || true
}

remove_room() {
  halt
  [ ! -e "$machine/ip_forward" ] || cat "$machine/ip_forward" >/proc/sys/net/ipv4/ip_forward
  for group in $(control_groups); do find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true; done
  rm -rf --one-file-system "$machine"
}

shift 2
case $action in
  make) make_room "$@" ;;
  inside) inside "$@" ;;
  run) run_in "$@" ;;
  restart) halt; boot ;;
  remove) remove_room ;;
esac
