// Why a server of another panel cannot be imported, or stays there.
import type { ImportServer } from './tables.ts'

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
  other_machine: 'Its domain is none of KVM on x86_64',
  bad_domain: 'The name of its domain in the other panel is none that libvirt has',
  disks: 'Another number of disks than one; exactly one raw or qcow2 disk can be imported',
  disk_format: 'A disk of another format; exactly one raw or qcow2 disk can be imported',
  backing_file_adopted: 'A disk that is only the changes over another file, which cannot be adopted where it is',
  uefi: 'UEFI boot (only BIOS servers can be imported)',
  password_refused:
    'root password not accepted (wrong password or root password login disabled; use the manual command)',
  no_login: 'could not log in over SSH (key missing on the source)',
} as const
export type RefusedBecause = keyof typeof refusals

/** Why a server stays, in words; null: it comes, or waits for a decision. */
export function reasonOf({ state, refusal, leftOutBy, addressConflict, claimConflict }: ImportServer) {
  if (state === 'already_moved') return 'Already moved by an earlier import'
  if (state === 'refused') return refusals[refusal as keyof typeof refusals] ?? refusal
  if (state === 'left_out')
    return leftOutBy === 'server' ? 'Left out by you' : `Left out of this import with its ${leftOutBy}`
  return addressConflict ?? claimConflict
}
