#!/bin/bash
# build-storage-guest.sh OUT_DIR
#
# Builds a Debian with LVM, ZFS and libvirt for the tests of storage drivers, on hosts whose kernel has no LVM and ZFS:
# OUT_DIR/root.img, vmlinuz and initrd.img. When it boots it unpacks the drive `tests`, runs its run.sh, writes to the
# second serial line and switches itself off. As root; uses the network only through apt. ZFS is compiled, which takes
# some ten minutes.
#
#   SUITE        the release of Debian, else bookworm
#   WITHOUT_ZFS  1: LVM alone, in a minute
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C

suite=${SUITE:-bookworm} size_mib=4096
packages=(linux-image-cloud-amd64 initramfs-tools systemd-sysv udev dbus e2fsprogs lvm2 thin-provisioning-tools qemu-utils
  util-linux qemu-system-x86 libvirt-daemon-system libvirt-clients restic libnbd-bin iproute2)
zfs=(linux-headers-cloud-amd64 zfs-dkms zfsutils-linux)

fail() { echo "build-storage-guest.sh: $*" >&2; exit 1; }

check_tools() {
  local missing=() pair
  for pair in mmdebstrap:mmdebstrap mke2fs:e2fsprogs; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
  done
  [ ${#missing[@]} -eq 0 ] || fail "missing tools; install them with: apt-get install ${missing[*]}"
  [ "$(id -u)" = 0 ] || fail 'only root can unpack a Debian with its owners'
}

make_root() {
  [ -n "${WITHOUT_ZFS:-}" ] || packages+=("${zfs[@]}")
  mmdebstrap --quiet --variant=minbase --components=main,contrib --include="$(IFS=,; echo "${packages[*]}")" \
    --aptopt='APT::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    "$suite" "$root" 2>"$work/mmdebstrap" || fail "$(tail -n 20 "$work/mmdebstrap")"
  [ -n "${WITHOUT_ZFS:-}" ] || find "$root/lib/modules" -name 'zfs.ko*' | grep -q . || fail "$(tail -n 40 "$work/mmdebstrap")"
  echo 'LABEL=root / ext4 defaults 0 1' >"$root/etc/fstab"
  : >"$root/etc/machine-id"
  echo storage >"$root/etc/hostname"
  cat >"$root/usr/local/sbin/run-tests" <<'RUN'
#!/bin/sh
exec >/dev/ttyS1 2>&1
mkdir -p /tests && tar -xf /dev/disk/by-id/virtio-tests -C /tests && sh /tests/run.sh
echo "the tests ended with $?"
sync; sleep 1; poweroff -f
RUN
  chmod 755 "$root/usr/local/sbin/run-tests"
  cat >"$root/etc/systemd/system/run-tests.service" <<'UNIT'
[Unit]
After=systemd-udev-settle.service
[Service]
ExecStart=/usr/local/sbin/run-tests
[Install]
WantedBy=multi-user.target
UNIT
  ln -s /etc/systemd/system/run-tests.service "$root/etc/systemd/system/multi-user.target.wants/"
  chroot "$root" passwd --quiet --lock root
}

main() {
  [ $# -eq 1 ] || fail 'usage: build-storage-guest.sh OUT_DIR'
  [ "$(dpkg --print-architecture)" = amd64 ] || fail 'only amd64 is supported'
  check_tools
  local out; out=$(realpath -m "$1")
  mkdir -p "$out"
  work=$(mktemp -d -p "$out"); trap 'rm -rf --one-file-system "$work"' EXIT
  root=$work/root
  make_root
  cp "$root"/boot/vmlinuz-* "$work/vmlinuz"
  cp "$root"/boot/initrd.img-* "$work/initrd.img"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/dkms/*/*/build
  truncate -s ${size_mib}M "$work/root.img"
  mke2fs -q -t ext4 -L root -m 0 -d "$root" "$work/root.img" 2>"$work/mke2fs" || fail "$(cat "$work/mke2fs")"
  for file in vmlinuz initrd.img root.img; do mv "$work/$file" "$out/$file"; done
  echo "$out: $(du -m "$out/root.img" | cut -f1) MB"
}

main "$@"
