// The source hypervisors as nodes reach them, and which nodes copy from each.
import { createHash } from 'node:crypto'
import { manualKeyCommand, type SourceHost } from '../../../agent/protocol/values/source-hosts.ts'
import type { CommandFailure } from '../../../agent/protocol/wire.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type Finding, finding } from '../import-records/checks/findings.ts'
import { hostOf, nodeKeys } from '../import-records/checks/queries.ts'
import type { ImportHypervisor } from '../import-records/inventory/queries.ts'
import type { Facts } from '../mapping/facts.ts'

/** Root signs in there, as the specification says. */
const SSH_PORT = 22

/** The address by which nodes reach it: the one that the panel shows, or the first that its name leads to. */
export const addressOf = ({ address, addresses }: Pick<ImportHypervisor, 'address' | 'addresses'>) =>
  addresses.includes(address) ? address : addresses[0]

/** Undefined: its name leads nowhere. */
export function sourceHost(tx: Db, row: ImportHypervisor): SourceHost | undefined {
  const address = addressOf(row)
  if (address === undefined) return undefined
  const known = hostOf(tx, row.importId, row.sourceId)
  // Another address may be another machine: the contact to it is the first one.
  return { address, port: SSH_PORT, hostKey: known?.address === address ? known.hostKey : null }
}

export type CopyingNode = { id: string; name: string }
/** The nodes that copy from it: those of the location to which its servers go. */
export const copyingNodes = (facts: Facts, { choice, locationId }: ImportHypervisor): CopyingNode[] =>
  choice === 'copy' ? facts.nodes.filter((node) => node.locationId === locationId) : []

/** The keys of these nodes, as far as they are known. A node may come through another address than its own. */
export function keysOf(tx: Db, nodes: readonly CopyingNode[]) {
  const known = nodeKeys(
    tx,
    nodes.map(({ id }) => id),
  )
  return nodes.flatMap(({ id }) => {
    const key = known.get(id)
    return key ? [{ nodeId: id, publicKey: key.publicKey, from: [] }] : []
  })
}

/** Of an SSH host key, as `ssh-keygen -l` shows it. */
export const fingerprintOf = (hostKey: string): string => {
  const bytes = Buffer.from(hostKey.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')}`
}

/** The command that a person runs there as root; safe to run twice. Null: no key is known yet. */
export function keyCommand(tx: Db, nodes: readonly CopyingNode[]): string | null {
  const keys = keysOf(tx, nodes)
  return keys.length ? manualKeyCommand(keys) : null
}

type LookFailure = CommandFailure<'source-host.look' | 'source-servers.look'>
const findingOf: Partial<Record<LookFailure | OwnFailure, (node: string, words: string) => Finding>> = {
  source_login_refused: () => finding('no_login'),
  source_unreachable: (node) => finding('hypervisor_unreachable', node),
  source_host_key_changed: () => finding('host_key_changed'),
  source_ssh_too_old: () => finding('ssh_too_old'),
  source_no_libvirt: () => finding('libvirt_silent'),
  agent_outdated: (node) => finding('agent_outdated', node),
  invalid_command: (node) => finding('agent_outdated', node),
  node_removed: (node) => finding('node_away', node),
  node_away: (node) => finding('node_away', node),
  no_answer: () => finding('look_failed', 'no answer came in time'),
  bad_answer: () => finding('look_failed', 'the answer is none of those that were asked for'),
  source_invalid: () => finding('look_failed', 'the answer is none of those that were asked for'),
}
/** Codes of the controller's own: the node said nothing, or something else. */
type OwnFailure = 'agent_outdated' | 'node_removed' | 'node_away' | 'no_answer' | 'bad_answer'

const MOST_WORDS = 200
/** The finding about the servers of a hypervisor that a failed look stands for. */
export const findingOfFailure = (code: string, node: string, words: string): Finding =>
  findingOf[code as OwnFailure]?.(node, words) ?? finding('look_failed', words.slice(0, MOST_WORDS))
