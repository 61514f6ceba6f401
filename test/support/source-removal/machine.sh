#!/bin/sh
# machine.sh HOW DIR KEPT…: a machine whose files are this one's, in namespaces of its own. Its changes go with it. The
# folders KEPT are seen in it as they are. It is called in new mount, process and network namespaces. HOW is `plain`, or
# `systemd`: then systemd runs in it.
set -eu
how=$1; dir=$2; shift 2
mount --make-rprivate /
mount -t tmpfs tmpfs "$dir"
mkdir -p "$dir/upper" "$dir/work" "$dir/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$dir/root"
for own in etc/netplan etc/network etc/systemd etc/init.d etc/cron.d etc/cron.daily etc/NetworkManager root/.ssh \
  etc/rc0.d etc/rc1.d etc/rc2.d etc/rc3.d etc/rc4.d etc/rc5.d etc/rc6.d etc/rcS.d var/spool/cron; do
  mv "$dir/root/$own" "$dir/root/tmp/$(echo "$own" | tr / -).$$" 2>/dev/null || rm -rf "${dir:?}/root/$own"
  mkdir -p "$dir/root/$own"
done
rm -f "$dir/root/etc/crontab"
if [ "$how" = systemd ]; then
  mkdir -p "$dir/root/etc/systemd/system"
  ln -s /lib/systemd/system/basic.target "$dir/root/etc/systemd/system/default.target"
  mount -t proc proc /proc
  for kept in "$@"; do set -- "$@" "--bind=$kept"; shift; done
  exec systemd-nspawn -q --register=no --keep-unit --private-network --console=pipe "$@" -b -D "$dir/root"
fi
mount -t proc proc "$dir/root/proc"
mount -t sysfs sysfs "$dir/root/sys"
mount -t tmpfs tmpfs "$dir/root/run"
mount --rbind /dev "$dir/root/dev"
for kept in "$@"; do
  mkdir -p "$dir/root$kept"
  mount --rbind "$kept" "$dir/root$kept"
done
ip link set lo up
echo ready
exec chroot "$dir/root" sleep infinity
