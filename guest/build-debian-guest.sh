#!/bin/bash
# build-debian-guest.sh OUT.qcow2 [SIZE_MIB]
#
# Builds a Debian as hosters offer it: systemd, cloud-init, OpenSSH and the QEMU guest agent, for the long tests. As root;
# needs no loop device and no mount, and uses the network only through apt.
#
#   disk     MBR; a FAT partition with kernel and initramfs; an ext4 root behind it, which cloud-init grows
#   boot     BIOS by syslinux; UEFI by the firmware's own shell, which starts the kernel after five seconds
#   SUITE    the release of Debian, else bookworm
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C

suite=${SUITE:-bookworm}
boot_mib=96 first=2048
options='root=LABEL=root ro console=tty0 console=ttyS0,115200 net.ifnames=0 mitigations=off quiet'
packages=(linux-image-cloud-amd64 initramfs-tools systemd-sysv dbus udev cloud-init cloud-guest-utils netplan.io
  iproute2 iputils-ping openssh-server qemu-guest-agent e2fsprogs fdisk python3 ca-certificates sudo)

fail() { echo "build-debian-guest.sh: $*" >&2; exit 1; }

check_tools() {
  local missing=() pair
  for pair in mmdebstrap:mmdebstrap qemu-img:qemu-utils syslinux:syslinux mcopy:mtools sfdisk:fdisk mke2fs:e2fsprogs; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
  done
  [ -e /usr/lib/syslinux/mbr/mbr.bin ] || missing+=(syslinux-common)
  [ ${#missing[@]} -eq 0 ] || fail "missing tools; install them with: apt-get install ${missing[*]}"
  [ "$(id -u)" = 0 ] || fail 'only root can unpack a Debian with its owners'
}

make_root() {
  mmdebstrap --quiet --variant=minbase --include="$(IFS=,; echo "${packages[*]}")" \
    --aptopt='APT::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    "$suite" "$root" 2>"$work/mmdebstrap" || fail "$(tail -n 20 "$work/mmdebstrap")"
  echo 'LABEL=root / ext4 defaults,discard 0 1' >"$root/etc/fstab"
  # Every server makes its own.
  rm -f "$root"/etc/ssh/ssh_host_*
  : >"$root/etc/machine-id"
  echo debian >"$root/etc/hostname"
  # Its usual locale would have to be generated first.
  printf 'datasource_list: [NoCloud, None]\nlocale: C.UTF-8\n' >"$root/etc/cloud/cloud.cfg.d/90_berth.cfg"
  chroot "$root" passwd --quiet --lock root
}

make_disk() {
  local disk=$work/disk root_start root_kib at
  root_start=$((first + boot_mib * 2048)); root_kib=$(((size * 2048 - root_start) / 2)); at="$disk@@$((first * 512))"
  truncate -s "${size}M" "$disk"
  printf 'label: dos\n%d,%d,e,*\n%d,,L\n' $first $((boot_mib * 2048)) $root_start | sfdisk -q "$disk"
  dd if=/usr/lib/syslinux/mbr/mbr.bin of="$disk" bs=440 count=1 conv=notrunc status=none
  cat >"$work/syslinux.cfg" <<CFG
DEFAULT linux
PROMPT 0
TIMEOUT 0
LABEL linux
  LINUX /linux.efi
  INITRD /initrd
  APPEND $options
CFG
  printf 'fs0:\\linux.efi initrd=\\initrd %s\r\n' "$options" >"$work/startup.nsh"
  export MTOOLS_SKIP_CHECK=1
  mformat -i "$at" -v BOOT -T $((boot_mib * 2048)) -h 255 -s 63 -H $first ::
  mcopy -i "$at" "$root"/boot/vmlinuz-* ::linux.efi
  mcopy -i "$at" "$root"/boot/initrd.img-* ::initrd
  mcopy -i "$at" "$work/syslinux.cfg" ::syslinux.cfg
  mcopy -i "$at" "$work/startup.nsh" ::startup.nsh
  syslinux --install --offset $((first * 512)) "$disk"
  mke2fs -q -t ext4 -L root -m 0 -E "offset=$((root_start * 512)),nodiscard" -d "$root" "$disk" "${root_kib}k" \
    2>"$work/mke2fs" || fail "$(cat "$work/mke2fs")"
  qemu-img convert -f raw -O qcow2 -c -m 4 -W "$disk" "$work/image"
}

main() {
  [ $# -ge 1 ] || fail 'usage: build-debian-guest.sh OUT.qcow2 [SIZE_MIB]'
  local out; out=$(realpath -m "$1"); size=${2:-1536}
  [[ $size =~ ^[0-9]+$ ]] && [ "$size" -ge 1024 ] || fail 'SIZE_MIB must be a number of at least 1024'
  [ "$(dpkg --print-architecture)" = amd64 ] || fail 'only amd64 is supported'
  check_tools
  work=$(mktemp -d); trap 'rm -rf --one-file-system "$work"' EXIT
  root=$work/root
  make_root
  make_disk
  mkdir -p "$(dirname "$out")"
  mv "$work/image" "$out.$$" && mv "$out.$$" "$out"
  echo "$out: $((($(stat -c %s "$out") + 524288) / 1048576)) MB, grows from $size MiB"
}

main "$@"
