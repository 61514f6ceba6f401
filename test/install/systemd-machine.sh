#!/bin/bash
# systemd-machine.sh make DIR | root DIR | start DIR | run DIR COMMAND | pid DIR | stop DIR | remove DIR
#
# A clean Debian whose first process is its own systemd, in namespaces: Debian 13 with the packages of a node, for
# proving the units, unless SUITE and PACKAGES say otherwise. `make` is `root` and then `start`; `stop` and `start` are
# a reboot. It has no network but its own, and no control of processors and memory where the host's groups are of
# version 1. systemd may do what root may here, so its services that set up hardware are masked. Needs root, mmdebstrap.
# With BASE=DIR its root is a layer over that of DIR, which is one of `root`.
# With CARD="MAC NETWORK BRIDGE" each start gives it a new card eth0, whose other end is in a bridge of that network
# namespace. /sys is read-only then: so the parts of a system that wait for udev know that there is none.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
action=$1 machine=$2 root=$2/root
suite=${SUITE:-trixie}
packages=(systemd-sysv dbus ca-certificates curl jq iproute2 gpgv qemu-utils libvirt-daemon-system libvirt-clients nftables
  kmod xorriso openssh-client swtpm swtpm-tools restic libnbd-bin fuse3 e2fsprogs qemu-system-x86 ovmf)
[ -z "${PACKAGES:-}" ] || read -ra packages <<<"$PACKAGES"
# Another list of packages is another machine.
cache=${XDG_CACHE_HOME:-/var/cache}/berth/systemd-$suite-$(cksum <<<"${packages[*]}" | cut -d ' ' -f 1).tar
masked=(systemd-udevd.service systemd-udevd-kernel.socket systemd-udevd-control.socket systemd-udev-trigger.service
  systemd-sysctl.service systemd-modules-load.service systemd-networkd-wait-online.service)

make_root() {
  mkdir -p "$root" "$(dirname "$cache")"
  [ -e "$cache" ] || {
    mmdebstrap --quiet --variant=minbase --include="$(IFS=,; echo "${packages[*]}")" \
      --aptopt='APT::Install-Recommends "false"' "$suite" "$cache.$$.tar" 2>"$machine/log" ||
      { tail -20 "$machine/log" >&2; exit 1; }
    mv "$cache.$$.tar" "$cache"
  }
  if [ -n "${BASE:-}" ]; then
    mkdir -p "$machine/upper" "$machine/work"
    mount -t overlay -o "lowerdir=$BASE/root,upperdir=$machine/upper,workdir=$machine/work" overlay "$root"
  else
    tar -xf "$cache" -C "$root"
  fi
  : >"$root/etc/machine-id"
  for unit in "${masked[@]}"; do ln -sf /dev/null "$root/etc/systemd/system/$unit"; done
  # Files are limited to what this machine may give.
  mkdir -p "$root/etc/systemd/system/berth.service.d"
  printf '[Service]\nLimitNOFILE=%s\n' "$(ulimit -Hn)" >"$root/etc/systemd/system/berth.service.d/machine.conf"
}

start() {
  setsid "$0" boot "$machine" >"$machine/log" 2>&1 &
  for _ in $(seq 600); do
    # It ends with an error where the system is degraded.
    run_in 'systemctl is-system-running || true' 2>/dev/null | grep -qE 'running|degraded' && return
    sleep 0.2
  done
  cat "$machine/log" >&2; exit 1
}

group() { echo "/sys/fs/cgroup$([ ! -d /sys/fs/cgroup/unified ] || echo /unified)/$(basename "$machine")"; }

boot() {
  mkdir -p "$(group)"; echo $$ >"$(group)/cgroup.procs"
  exec unshare --mount --uts --ipc --net --pid --cgroup --fork "$0" inside "$machine"
}

inside() {
  local name major minor i
  mount --make-rprivate /
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs ${CARD:+-o ro} sysfs "$root/sys"; mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"; mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  mkdir "$root"/dev/{pts,shm,net}
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"; ln -s pts/ptmx "$root/dev/ptmx"
  mount -t tmpfs tmpfs "$root/dev/shm"
  for i in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 net/tun:10:200 fuse:10:229; do
    IFS=: read -r name major minor <<<"$i"; mknod -m 666 "$root/dev/$name" c "$major" "$minor"
  done
  ln -s /proc/self/fd "$root/dev/fd"
  for i in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${i#*:}" "$root/dev/${i%:*}"; done
  hostname node; ip link set lo up
  [ -z "${CARD:-}" ] || add_card $CARD
  cd "$root"; mkdir -p .old; pivot_root . .old; umount -l .old
  mount --make-rshared /
  exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd systemd.unit=multi-user.target </dev/null
}

add_card() {
  # That of the boot before is there as long as its namespace.
  ip -n "$2" link del to-guest 2>/dev/null || true
  ip link add eth0 address "$1" type veth peer name to-guest netns "$2"
  ip -n "$2" link set to-guest master "$3" up
}

# The one process that the shell of `boot` became has one child, which is systemd.
first() { pgrep -P "$(pgrep -fx "unshare .*inside $machine")"; }

run_in() {
  mkdir -p "$(group)/shell"; echo $BASHPID >"$(group)/shell/cgroup.procs"
  nsenter --target "$(first)" --mount --uts --ipc --net --pid --cgroup -- env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -c "$1"
}

stop() {
  local pid
  pid=$(first) && kill -KILL "$pid" || true
  for _ in $(seq 50); do [ -z "$(first 2>/dev/null || true)" ] && break; sleep 0.1; done
}

remove() {
  stop
  echo $$ >"$(dirname "$(group)")/cgroup.procs"
  find "$(group)" -depth -type d -exec rmdir {} + 2>/dev/null || true
  umount "$root" 2>/dev/null || true
  rm -rf --one-file-system "$machine"
}

case $action in
  make) make_root; start ;;
  root) make_root ;;
  start) start ;;
  boot) boot ;;
  inside) inside ;;
  run) run_in "$3" ;;
  pid) first ;;
  stop) stop ;;
  remove) remove ;;
esac
