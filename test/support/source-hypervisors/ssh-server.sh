#!/bin/sh
# ssh-server.sh DIR: the SSH server of a source hypervisor. It says "ready", and runs until it is killed.
set -eu
dir=$1
# A shell that starts what this machine has for its own users would be slow.
rm -rf /etc/ssh/ssh_host_* /root/.ssh /root/.bashrc /root/.profile /root/.bash_profile
mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
printf '%s\n' 'HostKey /etc/ssh/ssh_host_ed25519_key' 'UsePAM no' 'PermitRootLogin yes' >/etc/ssh/sshd_config
hash=$(openssl passwd -6 -stdin <"$dir/password")
sed -i "s|^root:[^:]*:|root:$hash:|" /etc/shadow
/usr/sbin/sshd -E "$dir/sshd.log"
# It goes to the background before it listens.
until grep -q 'Server listening' "$dir/sshd.log" 2>/dev/null; do sleep 0.02; done
echo ready
exec sleep infinity
