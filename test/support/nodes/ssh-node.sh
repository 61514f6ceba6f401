#!/bin/sh
# ssh-node.sh DIR: the SSH server of a node that libvirt-node.sh has made, with keys of its own. It says "ready", and
# runs until it is killed.
set -eu
dir=$1
mkdir -p "$dir/ssh" "$dir/root-ssh" /run/sshd
chmod 700 "$dir/root-ssh"
mount --bind "$dir/ssh" /etc/ssh
mkdir -p /root/.ssh
mount --bind "$dir/root-ssh" /root/.ssh
ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
printf '%s\n' 'HostKey /etc/ssh/ssh_host_ed25519_key' 'UsePAM no' 'StrictModes no' >/etc/ssh/sshd_config
/usr/sbin/sshd -E "$dir/sshd.log"
# It goes to the background before it listens.
until grep -q 'Server listening' "$dir/sshd.log" 2>/dev/null; do sleep 0.02; done
echo ready
exec sleep infinity
