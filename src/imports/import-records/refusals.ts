// Why a server of another panel cannot be imported.

/**
 * Why a server is refused, in the words that pages show. Those up to `no_hypervisor` are known as soon as the panel was
 * read; the others the dry run finds on the hypervisor.
 */
export const refusals = {
  container: 'OpenVZ or LXC container (stays on source, containers cannot run on KVM)',
  not_kvm: 'Only KVM servers managed by libvirt can be imported',
  windows: 'Windows guest (stays on source, not supported by imports)',
  no_domain: 'The other panel does not tell the name of its libvirt domain',
  no_hypervisor: 'The other panel does not tell on which hypervisor it is',
  uefi: 'UEFI boot (only BIOS servers can be imported)',
  password_refused:
    'root password not accepted (wrong password or root password login disabled; use the manual command)',
  no_login: 'could not log in over SSH (key missing on the source)',
} as const
export type RefusedBecause = keyof typeof refusals
