#!/bin/bash
# build-tiny-guest.sh OUT.qcow2 [SIZE_MIB]
#
# Builds a small bootable Linux from packages of the distribution: kernel, busybox, dropbear (SSH), QEMU guest agent, and
# a reader of the NoCloud seeds that Berth writes. install.sh uses it where the image catalogue cannot be reached, and the
# tests use it. Needs no root rights, no loop device and no mount; uses the network only through apt.
#
#   disk     MBR; a FAT partition with syslinux, kernel and initramfs; an ext4 root that grows to the disk at every boot
#   cache    $XDG_CACHE_HOME/berth, else /var/cache/berth (root) or ~/.cache/berth; the same inputs are built once
#   GUEST_NAME, GUEST_VERSION, GUEST_ID     values in /etc/os-release, for images that must differ
#   GUEST_INSTALL_TOOLS=1                   (as root) installs missing tools with apt instead of refusing
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=${GUEST_NAME:-Berth Tiny Linux} version=${GUEST_VERSION:-1} id=${GUEST_ID:-berth-tiny}
boot_mib=24 # kernel and initramfs take about 13
programs=(usr/sbin/qemu-ga usr/sbin/dropbear usr/bin/dropbearkey usr/sbin/resize2fs)
modules=(virtio_pci virtio_blk virtio_scsi virtio_net virtio_console virtio_rng virtio_balloon
  ext4 sd_mod sr_mod isofs ata_piix ahci button evdev)

fail() { echo "build-tiny-guest.sh: $*" >&2; exit 1; }

cache_directory() {
  if [ -n "${XDG_CACHE_HOME:-}" ]; then echo "$XDG_CACHE_HOME/berth"
  elif [ "$(id -u)" = 0 ]; then echo /var/cache/berth
  else echo "$HOME/.cache/berth"; fi
}

check_tools() {
  local missing=() pair
  for pair in qemu-img:qemu-utils syslinux:syslinux mcopy:mtools sfdisk:fdisk mke2fs:e2fsprogs cpio:cpio lz4:lz4 \
    depmod:kmod readelf:binutils xz:xz-utils; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
  done
  [ -e /usr/lib/syslinux/mbr/mbr.bin ] || missing+=(syslinux-common)
  [ "$(id -u)" = 0 ] || command -v fakeroot >/dev/null || missing+=(fakeroot)
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "${GUEST_INSTALL_TOOLS:-}" = 1 ] || fail "missing tools; install them with: apt-get install ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# ---------------------------------------------------------------- packages
# Container images often disable apt's index, and then each query takes a second.
apt_cache() { apt-cache -o "Dir::Cache::pkgcache=$cache/apt-index" -o "Dir::Cache::srcpkgcache=" "$@"; }

# Debian's cloud kernel; Ubuntu has its modules in a second package.
kernel_packages() {
  local kernel
  for kernel in linux-image-cloud-amd64 linux-image-virtual; do
    kernel=$(apt_cache depends --important "$kernel" 2>/dev/null |
      sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
    [ -n "$kernel" ] || continue
    echo "$kernel"
    case $kernel in *-generic) echo "linux-modules-${kernel#linux-image-}" ;; esac
    return
  done
  fail 'apt knows no kernel for virtual machines; run "apt-get update" first'
}

# Packages of the programs and of their libraries; names differ by release (libglib2.0-0, libglib2.0-0t64, ...).
program_packages() {
  local wanted=(busybox-static dropbear-bin qemu-guest-agent e2fsprogs)
  printf '%s\n' "${wanted[@]}"
  apt_cache depends --recurse --important --no-conflicts --no-breaks --no-replaces "${wanted[@]}" |
    sed -n 's/^\(\(lib\|zlib\)[a-z0-9.+-]*\)$/\1/p' | grep -v -e '-dev$' -e '^libperl' | sort -u
}

# A package's file name contains its version, so this list identifies the content of the image.
package_files() { apt_cache show --no-all-versions "$@" | sed -n 's/^Filename: .*\///p' | sort -u; }

# Downloads once per list of packages and deletes older lists.
fetch_packages() {
  local directory=$cache/debs-$1; shift
  [ ! -e "$directory/complete" ] || return 0
  rm -rf "$cache"/debs-*; mkdir -p "$directory"
  (cd "$directory" && apt-get -qq -o APT::Sandbox::User=root download "$@" && touch complete)
}

# Both trees get a merged /usr, also from packages with files in /lib.
merged_tree() {
  local d
  mkdir -p "$1"/usr/{bin,sbin,lib,lib64}
  for d in bin sbin lib lib64; do ln -s "usr/$d" "$1/$d"; done
}

# Unpacks in parallel, the largest package (the kernel) first.
unpack() {
  # shellcheck disable=SC2011  # package files have plain names
  ls -S "$2"/*.deb | xargs -P "$(nproc)" -I DEB \
    sh -c 'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"' unpack DEB "$1"
}

# ---------------------------------------------------------------- the root
copy_with_libraries() {
  local library file
  for library in $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    [ ! -e "$root/usr/lib/$library" ] && [ ! -e "$root/usr/lib64/$library" ] || continue
    file=$(find "$unpacked/usr/lib" "$unpacked/usr/lib64" -name "$library" | head -1)
    [ -n "$file" ] || fail "$1 needs $library, which no package brought"
    cp -L "$file" "$root/usr/lib/$library"
    copy_with_libraries "$file"
  done
}

make_root() {
  local applet program
  merged_tree "$root"
  mkdir -p "$root"/{etc/dropbear,proc,sys,dev,tmp,run,root,home,mnt,var/log,var/lib}
  chmod 1777 "$root/tmp"; chmod 700 "$root/root"; ln -s /run "$root/var/run"
  cp "$unpacked/usr/bin/busybox" "$root/usr/bin/"
  for applet in $("$unpacked/usr/bin/busybox" --list); do
    case $applet in busybox | dpkg | dpkg-deb | rpm) ;;
      init | halt | poweroff | reboot | getty) ln -s ../bin/busybox "$root/usr/sbin/$applet" ;;
      *) ln -s busybox "$root/usr/bin/$applet" ;; esac
  done
  cp -L "$(find "$unpacked/usr/lib64/" "$unpacked/usr/lib" -name ld-linux-x86-64.so.2 | head -1)" "$root/usr/lib64/"
  for program in "${programs[@]}"; do
    cp -L "$unpacked/$program" "$root/$program"
    copy_with_libraries "$unpacked/$program"
  done
  cp -r "$here/root/." "$root/"
  chmod 755 "$root"/usr/lib/berth/* "$root"/usr/sbin/{shutdown,chpasswd} "$root"/etc/acpi/PWRF/*
  chmod 644 "$root"/usr/lib/berth/json.awk
  write_etc "$root/etc"
}

write_etc() {
  printf 'PRETTY_NAME="%s %s"\nNAME="%s"\nVERSION_ID="%s"\nVERSION="%s"\nID=%s\n' \
    "$name" "$version" "$name" "$version" "$version" "$id" >"$1/os-release"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$1/passwd"
  echo 'root:*:19000:0:99999:7:::' >"$1/shadow"; chmod 600 "$1/shadow"
  echo 'root:x:0:' >"$1/group"
  echo /bin/sh >"$1/shells"
  echo localhost >"$1/hostname"
  echo "$name $version \\n \\l" >"$1/issue"
  printf '127.0.0.1 localhost\n::1 localhost\n' >"$1/hosts"
  : >"$1/resolv.conf"
}

# ---------------------------------------------------------------- kernel and initramfs
make_initramfs() {
  local tree=$work/initramfs release=$1 file number=10
  mkdir -p "$tree"/{bin,dev,proc,sys,new,modules}
  cp "$unpacked/usr/bin/busybox" "$tree/bin/"; ln -s busybox "$tree/bin/sh"
  cp "$here/initramfs-init" "$tree/init"; chmod 755 "$tree/init"
  depmod -b "$unpacked" "$release"
  for file in $(for m in "${modules[@]}"; do
    modprobe -d "$unpacked" -S "$release" --show-depends "$m" 2>/dev/null || true
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'); do
    case $file in
      *.xz) xz -dc "$file" >"$tree/modules/$number-$(basename "$file" .xz)" ;;
      *.zst) zstd -qdc "$file" >"$tree/modules/$number-$(basename "$file" .zst)" ;;
      *) cp "$file" "$tree/modules/$number-$(basename "$file")" ;;
    esac
    number=$((number + 1))
  done
  [ $number -gt 15 ] || fail "the kernel's modules were not found"
  (cd "$tree" && find . | sort | cpio --quiet -o -H newc --owner 0:0) | lz4 -l -9 -c >"$work/initrd"
}

# ---------------------------------------------------------------- the disk
make_disk() {
  local disk=$work/disk kernel=$1 first=2048 root_start root_kib at
  root_start=$((first + boot_mib * 2048)); root_kib=$(((size * 2048 - root_start) / 2)); at="$disk@@$((first * 512))"
  truncate -s "${size}M" "$disk"
  printf 'label: dos\n%d,%d,e,*\n%d,,L\n' $first $((boot_mib * 2048)) $root_start | sfdisk -q "$disk"
  dd if=/usr/lib/syslinux/mbr/mbr.bin of="$disk" bs=440 count=1 conv=notrunc status=none
  cat >"$work/syslinux.cfg" <<'CFG'
DEFAULT linux
PROMPT 0
TIMEOUT 0
LABEL linux
  LINUX /linux
  INITRD /initrd
  APPEND console=tty0 console=ttyS0,115200 quiet loglevel=3 panic=10 mitigations=off no_timer_check random.trust_cpu=on
CFG
  export MTOOLS_SKIP_CHECK=1
  mformat -i "$at" -v BOOT -T $((boot_mib * 2048)) -h 255 -s 63 -H $first ::
  mcopy -i "$at" "$kernel" ::linux
  mcopy -i "$at" "$work/initrd" ::initrd
  mcopy -i "$at" "$work/syslinux.cfg" ::syslinux.cfg
  syslinux --install --offset $((first * 512)) "$disk"
  as_root mke2fs -q -t ext4 -L root -m 0 -E "offset=$((root_start * 512)),root_owner=0:0,nodiscard" -d "$root" \
    "$disk" "${root_kib}k" 2>"$work/mke2fs" ||
    fail "$(cat "$work/mke2fs")"
  qemu-img convert -f raw -O qcow2 -c -m 4 -W "$disk" "$work/image"
}

# Files in the image belong to root, also when another user builds it.
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else fakeroot "$@"; fi; }

build() {
  local kernel packages_key
  packages_key=$(sha256sum <<<"$files" | cut -c1-16)
  unpacked=$work/unpacked root=$work/root
  fetch_packages "$packages_key" "${packages[@]}"
  merged_tree "$unpacked"
  unpack "$unpacked" "$cache/debs-$packages_key"
  kernel=$(ls "$unpacked"/boot/vmlinuz-*)
  make_root
  make_initramfs "${kernel##*/vmlinuz-}"
  make_disk "$kernel"
}

main() {
  [ $# -ge 1 ] || fail 'usage: build-tiny-guest.sh OUT.qcow2 [SIZE_MIB]'
  local out key
  out=$(realpath -m "$1"); size=${2:-96}
  [[ $size =~ ^[0-9]+$ ]] && [ "$size" -ge 80 ] || fail 'SIZE_MIB must be a number of at least 80'
  [ "$(dpkg --print-architecture)" = amd64 ] || fail 'only amd64 is supported'
  check_tools
  cache=$(cache_directory)
  mkdir -p "$cache" "$(dirname "$out")"
  mapfile -t packages < <(kernel_packages && program_packages)
  files=$(package_files "${packages[@]}")
  key=$( (echo "$size $name $version $id $files"; cat "$here/initramfs-init" "${BASH_SOURCE[0]}"
    find "$here/root" -type f | sort | xargs cat) | sha256sum | cut -c1-16)
  if [ ! -e "$cache/guest-$key.qcow2" ]; then
    work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
    build
    find "$cache" -name 'guest-*.qcow2' -mtime +30 -delete
    mv "$work/image" "$cache/guest-$key.qcow2.$$" && mv "$cache/guest-$key.qcow2.$$" "$cache/guest-$key.qcow2"
  fi
  cp "$cache/guest-$key.qcow2" "$out.$$" && mv "$out.$$" "$out"
  echo "$out: $((($(stat -c %s "$out") + 524288) / 1048576)) MB, grows from $size MiB"
}

main "$@"
