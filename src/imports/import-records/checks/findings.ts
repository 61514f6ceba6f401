// The findings of dry runs, as one closed list: how much each matters, and its words. `{detail}` stands for what was
// found. A finding never has a part of an answer of a hypervisor in it that was not checked.
import { refusals } from '../refusals.ts'

/** From the least to the most; the result of a server is that of its worst finding. */
export const findingLevels = ['remark', 'to_fix', 'stays'] as const
export type FindingLevel = (typeof findingLevels)[number]

type Declared = {
  level: FindingLevel
  words: string
  /** The next step; empty where there is none. */
  remedy: string
}
export const findings = {
  // It stays on the source.
  uefi: { level: 'stays', words: refusals.uefi, remedy: '' },
  other_machine: { level: 'stays', words: refusals.other_machine, remedy: '' },
  disks: {
    level: 'stays',
    words: 'has {detail}; exactly one raw or qcow2 disk can be imported',
    remedy: '',
  },
  disk_format: {
    level: 'stays',
    words: 'its disk is {detail}; exactly one raw or qcow2 disk can be imported',
    remedy: '',
  },
  bad_domain: {
    level: 'stays',
    words: refusals.bad_domain,
    remedy: '',
  },
  snapshots_adopted: {
    level: 'to_fix',
    words: 'has {detail} there, with which its disk cannot be adopted',
    remedy: 'Delete them there, or copy the servers of this hypervisor instead, and run the dry run again.',
  },
  backing_file_adopted: {
    level: 'stays',
    words: 'its disk is only the changes over another file, so it cannot be adopted where it is',
    remedy: 'Copy the servers of this hypervisor instead.',
  },
  // The operator can do something about it.
  undecided: { level: 'to_fix', words: 'waits for a decision: {detail}', remedy: 'Decide it in the mapping.' },
  address_conflict: { level: 'to_fix', words: '{detail}', remedy: 'Free the address, or leave the server out.' },
  claim_conflict: {
    level: 'to_fix',
    words: '{detail}',
    remedy: 'Change what stands against it, decide otherwise, or leave the server out.',
  },
  domain_twice: {
    level: 'to_fix',
    words: 'the panel tells the same domain, {detail}, for another server too',
    remedy: 'Find out which of them it is, correct it there, and discover again.',
  },
  no_login: {
    level: 'to_fix',
    words: refusals.no_login,
    remedy: 'Add the keys with the root password, or by the command that is shown, and run the dry run again.',
  },
  host_key_changed: {
    level: 'to_fix',
    words: 'the SSH server of the hypervisor shows another key than before',
    remedy: 'Find out why it changed before you go on.',
  },
  hypervisor_unreachable: {
    level: 'to_fix',
    words: 'the hypervisor could not be reached over SSH from {detail}',
    remedy: 'Look whether it runs, and whether its firewall lets the node in on port 22.',
  },
  ssh_too_old: {
    level: 'to_fix',
    words: 'the SSH server of the hypervisor speaks nothing that the node still accepts',
    remedy: 'Update OpenSSH there.',
  },
  libvirt_silent: {
    level: 'to_fix',
    words: 'libvirt on the hypervisor does not answer',
    remedy: 'Look there by virsh list.',
  },
  look_failed: {
    level: 'to_fix',
    words: 'the hypervisor could not be looked at: {detail}',
    remedy: 'Run the dry run again.',
  },
  node_away: {
    level: 'to_fix',
    words: '{detail} is not connected, and it would do the work',
    remedy: 'Bring the node back, and run the dry run again.',
  },
  agent_outdated: {
    level: 'to_fix',
    words: 'the agent on {detail} is too old for imports',
    remedy: 'Update the agent, and run the dry run again.',
  },
  not_running: {
    level: 'to_fix',
    words: 'is not running',
    remedy: 'Start it at the source, then run the dry run again.',
  },
  paused: {
    level: 'to_fix',
    words: 'is paused there',
    remedy: 'Resume it at the source, or switch it off, then run the dry run again.',
  },
  no_such_domain: {
    level: 'to_fix',
    words: 'the hypervisor has no domain {detail}',
    remedy: 'Discover again: it was removed there, or is on another hypervisor now.',
  },
  disk_unreadable: {
    level: 'to_fix',
    words: 'its disk could not be looked at: {detail}',
    remedy: 'Look at the disk there, and run the dry run again.',
  },
  disk_too_large: {
    level: 'to_fix',
    words: 'its disk has {detail}',
    remedy: 'Choose a larger package for it: no disk becomes smaller.',
  },
  no_room: {
    level: 'to_fix',
    words: 'no node takes it: {detail}',
    remedy: 'Free a node, or send the servers of this hypervisor to another location.',
  },
  no_addresses: {
    level: 'to_fix',
    words: 'no node has enough free addresses: {detail}',
    remedy: 'Add a pool, or attach one to a node with room.',
  },
  // Nothing has to be done.
  stopped: { level: 'remark', words: 'is off there, and stays off', remedy: '' },
  suspended: { level: 'remark', words: 'is suspended there, and is suspended here too', remedy: '' },
  in_rescue: {
    level: 'remark',
    words: 'runs a rescue system there; here it boots from its disk',
    remedy: '',
  },
  backing_file: {
    level: 'remark',
    words: 'its disk is only the changes over another file; both become one disk',
    remedy: '',
  },
  no_mac: { level: 'remark', words: 'has no network card there, and gets one here', remedy: '' },
  more_cards: { level: 'remark', words: 'has {detail} there; only the first one comes over', remedy: '' },
  other_mac: {
    level: 'remark',
    words: 'its network card has another MAC address than the panel says; that of the card, {detail}, is kept',
    remedy: '',
  },
  other_cpu: { level: 'remark', words: '{detail}', remedy: '' },
  other_bus: {
    level: 'remark',
    words: 'keeps {detail}',
    remedy: 'Its system boots from it as before. A reinstallation brings virtio, which is faster.',
  },
  no_such_device: {
    level: 'remark',
    words: 'has {detail} there, and virtio here',
    remedy: 'Look before the move whether its system has the driver.',
  },
  host_devices: { level: 'remark', words: 'has {detail} of the hypervisor there, which do not come over', remedy: '' },
  snapshots: { level: 'remark', words: 'has {detail} there, which do not come over', remedy: '' },
  maybe_windows: {
    level: 'remark',
    words: 'its definition has settings that only Windows needs, and the panel does not call it Windows',
    remedy: 'Leave it out if it is Windows.',
  },
  no_guest_agent: {
    level: 'remark',
    words: 'has no guest agent: its new addresses are set as soon as one answers',
    remedy: 'Install qemu-guest-agent in it before the move.',
  },
} as const satisfies Record<string, Declared>
export type FindingCode = keyof typeof findings
export const findingCodes = Object.keys(findings) as FindingCode[]

export type Finding = { code: FindingCode; level: FindingLevel; words: string }
/** A finding about a server, with what was found. */
export const finding = (code: FindingCode, detail = ''): Finding => ({
  code,
  level: findings[code].level,
  words: findings[code].words.replace('{detail}', () => detail),
})
/** The worst of all; undefined: nothing was found. */
export const worst = (all: readonly Pick<Finding, 'level'>[]): FindingLevel | undefined =>
  findingLevels.findLast((level) => all.some((one) => one.level === level))
/** Refusals that a dry run has found, and that the next one looks for again. */
export const foundByDryRun: readonly string[] = findingCodes.filter((code) => findings[code].level === 'stays')
