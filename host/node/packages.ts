// The packages of the distribution that a node needs.
import type { Machine } from '../machine/machine.ts'

const emulator = process.arch === 'arm64' ? ['qemu-system-arm', 'qemu-efi-aarch64'] : ['qemu-system-x86', 'ovmf']

export const nodePackages = ({ hasSystemd }: Pick<Machine, 'hasSystemd'>) => [
  ...['qemu-utils', 'libvirt-daemon-system', 'libvirt-clients', 'nftables', 'iproute2', 'kmod', 'xorriso'],
  ...['openssh-client', 'ca-certificates', 'curl', 'jq', 'swtpm', 'swtpm-tools', 'restic', 'libnbd-bin', 'fuse3'],
  ...['e2fsprogs', ...emulator, ...(hasSystemd ? [] : ['tini'])],
]

/** More than a node of virtual servers has: for container instances with cards. */
export const instancePackages = [
  ...['podman', 'crun', 'conmon', 'catatonit', 'netavark', 'iptables', 'dropbear-bin', 'openssh-sftp-server', 'rsync'],
  ...['busybox-static', 'patchelf', 'e2fsprogs'],
]
