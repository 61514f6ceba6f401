#!/bin/sh
# machine.sh DIR KEPT…: a machine whose files are this one's, in namespaces of its own. Its changes go with it. The folders
# KEPT are seen in it as they are. It is called in new mount, process and network namespaces.
set -eu
dir=$1; shift
mount --make-rprivate /
mount -t tmpfs tmpfs "$dir"
mkdir -p "$dir/upper" "$dir/work" "$dir/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$dir/root"
mount -t proc proc "$dir/root/proc"
mount -t sysfs sysfs "$dir/root/sys"
mount -t tmpfs tmpfs "$dir/root/run"
mount --rbind /dev "$dir/root/dev"
for kept in "$@"; do
  mkdir -p "$dir/root$kept"
  mount --rbind "$kept" "$dir/root$kept"
done
for own in etc/netplan etc/network etc/systemd etc/init.d etc/cron.d etc/cron.daily etc/NetworkManager root/.ssh \
  etc/rc0.d etc/rc1.d etc/rc2.d etc/rc3.d etc/rc4.d etc/rc5.d etc/rc6.d etc/rcS.d var/spool/cron; do
  mv "$dir/root/$own" "$dir/root/tmp/$(echo "$own" | tr / -).$$" 2>/dev/null || rm -rf "${dir:?}/root/$own"
  mkdir -p "$dir/root/$own"
done
rm -f "$dir/root/etc/crontab"
ip link set lo up
echo ready
exec chroot "$dir/root" sleep infinity
