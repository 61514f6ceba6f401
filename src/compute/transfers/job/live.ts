// Whether a server that runs can move to a node with its memory, by what both nodes have said of themselves. A guest
// goes on with the processor and the devices that it was started with, so the other node must have the same ones.
import type { Facts } from '../../../../agent/protocol/wire.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Server } from '../../server-records/model.ts'

/**
 * `mayAsk`: it can move so, and is only moved so where that is asked for: it stands still while all of its memory is
 * sent.
 */
type Against = { words: string; mayAsk: boolean }
/** Answers in words what keeps it from moving with its memory; undefined: nothing. */
type Check = (here: Facts, there: Facts, server: Server) => string | undefined

const checks: readonly Check[] = [
  ({ virtualisation: here }, { virtualisation: there }) =>
    here.kind === there.kind
      ? undefined
      : `that node has ${kindWords[there.kind]}, and this one ${kindWords[here.kind]}`,
  (_, __, { cpuPending }) => (cpuPending ? 'its CPU model changes at its next start' : undefined),
  // With a CPU model of its own it goes to nodes alone that have that, as placement judges.
  ({ cpu: here, virtualisation }, { cpu: there }, { cpuModel }) =>
    virtualisation.kind !== 'kvm' || here.model === there.model || cpuModel !== null
      ? undefined
      : `that node has another processor, ${there.model}`,
  // An emulated processor is that of the emulator's version.
  ({ virtualisation, versions: here }, { versions: there }) =>
    virtualisation.kind !== 'emulation' || releaseOf(here['qemu']) === releaseOf(there['qemu'])
      ? undefined
      : `that node has another QEMU, ${there['qemu'] ?? 'of a version that is not known'}`,
  notOlder('qemu', 'QEMU'),
  notOlder('libvirt', 'libvirt'),
]

/** Before 9.0, QEMU loses what an emulated processor writes while the memory is sent: nodes stop the guest for that. */
const longStops: readonly Check[] = [
  ({ virtualisation }) =>
    virtualisation.kind === 'emulation'
      ? 'its processor is emulated, so it would stand still while all of its memory is sent'
      : undefined,
]

const kindWords: Record<Facts['virtualisation']['kind'], string> = {
  kvm: 'KVM',
  emulation: 'emulated processors',
  none: 'no virtual machines',
}

function notOlder(program: string, name: string): Check {
  return ({ fake, versions: here }, { versions: there }) => {
    if (fake) return undefined
    const [ours, theirs] = [here[program], there[program]]
    if (!ours || !theirs) return `the version of ${name} is not known`
    return Bun.semver.order(whole(theirs), whole(ours)) < 0
      ? `that node has an older ${name}, ${theirs}, and this one ${ours}`
      : undefined
  }
}

/** `8.2` of `8.2.2`. */
const releaseOf = (version: string | undefined) => version?.split('.').slice(0, 2).join('.')
const whole = (version: string) => [...version.split('.'), '0', '0'].slice(0, 3).join('.')

/** The reason not to move the server to this node with its memory, such as `it is off`; undefined: there is none. */
export function againstLive(tx: Db, server: Server, nodeId: string): Against | undefined {
  if (server.power !== 'running' || server.suspendedAt !== null) return { words: 'it is off', mayAsk: false }
  const [here, there] = [nodeById(tx, server.nodeId)?.facts, nodeById(tx, nodeId)?.facts]
  if (!here || !there) return { words: 'nothing is known of one of the nodes', mayAsk: false }
  const first = (of: readonly Check[], mayAsk: boolean) => {
    const [words] = of.flatMap((check) => check(here, there, server) ?? [])
    return words === undefined ? undefined : { words, mayAsk }
  }
  return first(checks, false) ?? first(longStops, true)
}
