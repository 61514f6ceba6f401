// The unix sockets of one migration. Their paths are the same on both nodes: the hypervisor of the source connects to
// the paths at which that of the target listens.
import { chmodSync, chownSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Streams from the source to the target. `libvirt`: the calls of virsh; `control`: questions to the agent; `mig`: the
 * memory; `nbd`: a disk, each in a connection of its own.
 */
export type Word = 'libvirt' | 'control' | 'mig' | 'nbd'

/** The agent's own sockets, which nobody else can reach. */
const OURS = '/run/berth/transfers'
/** Those of QEMU. */
const HYPERVISORS = '/run/libvirt/berth'
/** libvirt gives this directory to the user that QEMU runs as. */
const STATE_OF_QEMU = '/var/lib/libvirt/qemu'

export type MigrationSockets = { transfer: string; workload: string }

/**
 * The path of a socket. The ending of those of QEMU is what libvirt's AppArmor profile of each vm allows
 * (virt-aa-helper: `/run/libvirt/**` with `*.tunnelmigrate.dest.<name>`). At most 107 characters, which is the limit of
 * the kernel.
 */
export function socketPath({ transfer, workload }: MigrationSockets, word: Word): string {
  return word === 'libvirt' || word === 'control'
    ? join(OURS, transfer, `${word}.sock`)
    : join(HYPERVISORS, transfer, `${word}.tunnelmigrate.dest.${workload}`)
}

/** Makes the directories of the sockets, that of QEMU for its user. */
export function makeSocketDirs({ transfer }: MigrationSockets) {
  mkdirSync(join(OURS, transfer), { recursive: true, mode: 0o711 })
  const dir = join(HYPERVISORS, transfer)
  mkdirSync(HYPERVISORS, { recursive: true, mode: 0o711 })
  chmodSync(HYPERVISORS, 0o711)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  giveToQemu(dir)
}

/** Lets QEMU's user use what the agent has made. */
export function giveToQemu(path: string) {
  const { uid, gid } = statSync(STATE_OF_QEMU)
  chownSync(path, uid, gid)
}

/** Removes the sockets. The directory of the transfer itself belongs to the path between the nodes. */
export function removeSockets(sockets: MigrationSockets) {
  for (const word of ['libvirt', 'control'] as const) rmSync(socketPath(sockets, word), { force: true })
  rmSync(join(HYPERVISORS, sockets.transfer), { recursive: true, force: true })
}
