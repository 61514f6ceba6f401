// Transfers of one disk between the two nodes of a lab, by the commands of their agents.
import type { Input, Volume } from '../../../agent/protocol/wire.ts'
import { addresses, type transferLab } from '../../support/nodes/transfer-lab.ts'
import { missing } from '../tools.ts'

const programs = ['libvirtd', 'virtlogd', 'tini', 'unshare', 'nsenter', 'sshd']

/** Why this machine can have no such lab. */
export async function noTransferLab(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'not root'
  const absent = programs.filter((program) => !Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }))
  return absent.length ? `no ${absent.join(', ')}` : await missing('qemu-img', 'qemu-nbd', 'ssh', 'ssh-keygen', 'ip')
}

export function random(bytes: number): Buffer {
  const content = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))
  return content
}

let numbers = 0
/** Answers a function that opens a transfer of this disk at its target. */
export const transfersIn =
  (lab: Awaited<ReturnType<typeof transferLab>>) =>
  async (volume: Volume, sizeBytes: number, expiresAt = Date.now() + 600_000) => {
    const ids = { transfer: `trf_${String(++numbers).padStart(26, '0')}`, workload: volume.workload }
    const { publicKey } = await lab.a.agent.obey('transfer.key', ids)
    const receive: Input<'transfer.receive'> = {
      ...{ ...ids, from: [addresses.a], publicKey, by: 'copy', expiresAt },
      disks: [{ volume, sizeBytes }],
    }
    const to = { address: addresses.b, ...(await lab.b.agent.obey('transfer.receive', receive)) }
    const copy: Input<'transfer.copy'> = { ...ids, to, disks: [volume], maxMbps: null }
    const checksums = () =>
      Promise.all([lab.a, lab.b].map(({ agent }) => agent.obey('transfer.checksum', { ...ids, disks: [volume] })))
    const end = async (discard = false) => {
      for (const { agent } of [lab.a, lab.b]) await agent.obey('transfer.end', { ...ids, discard })
    }
    return { ids, receive, copy, checksums, end }
  }

/**
 * The first sector of a disk whose guest does nothing until its power button is pressed, and shuts down then: it lets
 * the button set its bit in the ACPI status (0x600), waits for that, and orders the soft off (0x604).
 */
export function buttonSector(): Buffer {
  const code = [
    ...[0xfb, 0xba, 0x02, 0x06, 0xb8, 0x00, 0x01, 0xef, 0xba, 0x00, 0x06],
    ...[0xf4, 0xed, 0xf6, 0xc4, 0x01, 0x74, 0xf9],
    ...[0xba, 0x04, 0x06, 0xb8, 0x00, 0x20, 0xef, 0xf4],
  ]
  const sector = Buffer.alloc(512)
  sector.set(code)
  sector.set([0x55, 0xaa], 510)
  return sector
}
