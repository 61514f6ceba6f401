#!/bin/sh
# libvirt-node.sh DIR COMMAND…: runs a command beside a libvirt of its own, with DIR for its files. It is called as the
# first process of new mount and process namespaces, so that libvirt and its guests end with it.
set -eu
dir=$1; shift
mkdir -p "$dir/etc" "$dir/cgroup"
cp -r /etc/libvirt/. "$dir/etc"
rm -rf "$dir/etc/qemu/networks/autostart"
printf '%s\n' 'user = "root"' 'group = "root"' 'security_driver = "none"' 'remember_owner = 0' >"$dir/etc/qemu.conf"
printf 'host_uuid = "%s"\n' "$(cat /proc/sys/kernel/random/uuid)" >"$dir/etc/libvirtd.conf"
mount --make-rprivate /
# A new /sys shows the interfaces of this network; the control groups of the old one stay.
mount --rbind /sys/fs/cgroup "$dir/cgroup"
mount -t sysfs sysfs /sys
mount --rbind "$dir/cgroup" /sys/fs/cgroup
for path in /run /var/lib/libvirt /var/log/libvirt /var/cache/libvirt; do mount -t tmpfs tmpfs "$path"; done
mount --bind "$dir/etc" /etc/libvirt
mkdir -p /run/libvirt /run/lock
virtlogd -d >"$dir/virtlogd.log" 2>&1
libvirtd -d >"$dir/libvirtd.log" 2>&1
tries=0
until virsh -c qemu:///system version >/dev/null 2>"$dir/virsh.log"; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || { cat "$dir"/*.log >&2; exit 1; }
  sleep 0.1
done
# The first process of a namespace collects what libvirt leaves behind.
exec tini -s -- "$@"
