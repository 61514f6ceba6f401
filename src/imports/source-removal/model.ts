// The software of the other panel on the nodes whose servers an import adopted: what is chosen, what stands against it.

import { type Static, Type as t } from 'typebox'
import { escapedLines } from '../../../agent/protocol/text.ts'
import {
  LeftAlone,
  RemovalBridge,
  RemovalItem,
  type RemovalPanel,
  type RemovalPreview,
  type RemovalScope,
  removalPanels,
} from '../../../agent/protocol/values/source-removal.ts'
import { capacityRowOf } from '../../fleet/node-records/queries.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { type AdoptedNode, adoptedNodes, canBeRolledBack, stillAtSource } from '../import-records/adopted/queries.ts'
import { hypervisorRows } from '../import-records/inventory/queries.ts'
import type { ImportRecord } from '../import-records/model.ts'
import { removalChoices, removalOf, type SourceRemoval } from './queries.ts'
import { removalStates } from './tables.ts'

/** A removal never touches these, in words for people. */
export const NEVER_TOUCHED =
  'QEMU, libvirt, SSH, Docker itself, the network settings, Berth’s agent and the folders with the disks of servers.'

const warningCodes = ['servers_at_source', 'panel_runs_here', 'roll_back_open'] as const
const item = namedSchema('SourceRemovalItem', { ...RemovalItem.properties })
const left = namedSchema('SourceRemovalLeft', { ...LeftAlone.properties })
const bridge = namedSchema('SourceRemovalBridge', { ...RemovalBridge.properties })

export const previewResponse = namedSchema('SourceRemovalPreview', {
  items: described(t.Array(item), 'Every file and service that a removal touches.'),
  left: described(t.Array(left), 'What looks like the panel’s and stays, and why.'),
  bridges: t.Array(bridge),
  networkStays: described(t.Boolean(), 'The network service and the folders stay until each bridge is defined.'),
  foreign: described(
    t.Array(t.String()),
    'Domains of libvirt that are none of Berth: nothing is changed while one is.',
  ),
  runningServers: t.Integer(),
  rootKeys: described(
    t.Array(t.Object({ type: t.String(), comment: t.String(), fingerprint: t.String(), isOurs: t.Boolean() })),
    'Keys of root on the node, to compare: nothing is decided about them but for the control server’s.',
  ),
  commands: described(nullable(t.String()), 'Run as root they do the same as the agent.'),
})
export const removalResponse = namedSchema('SourceRemoval', {
  node: t.Object({ id: t.String(), name: t.String() }),
  hypervisor: t.Object({ id: t.String(), name: t.String(), address: t.String() }),
  servers: described(t.Integer(), 'That the import adopted there.'),
  isMaster: described(t.Boolean(), 'The panel itself has its address.'),
  choice: described(nullable(t.Enum([...removalChoices])), 'Null: nobody has chosen yet. It can be changed.'),
  chosenAt: nullable(time),
  controlKey: described(nullable(t.String()), 'The key of the control server, where a person has named it.'),
  state: t.Enum([...removalStates]),
  jobId: nullable(t.String()),
  warnings: t.Array(t.Object({ code: t.Enum([...warningCodes]), words: t.String() })),
  blocked: described(t.Array(t.String()), 'Why the agent removes nothing now.'),
  preview: described(nullable(previewResponse), 'Null: the node does not answer; see previewProblem.'),
  previewProblem: nullable(t.String()),
  result: described(
    nullable(t.Object({ folder: t.String(), items: t.Array(item), left: t.Array(left) })),
    'Of the last removal: where everything is now.',
  ),
  removedAt: nullable(time),
  restoredAt: nullable(time),
  failure: nullable(t.Object({ code: t.String(), words: t.String() })),
  canRestore: t.Boolean(),
})
export type ShownRemoval = Static<typeof removalResponse>

/** The look of a node; a text: why there is none. */
export type Looked = ReadonlyMap<string, RemovalPreview | string>

export function showRemoval(
  tx: Db,
  target: ImportRecord,
  adopted: AdoptedNode,
  looked: Looked = new Map(),
): ShownRemoval {
  const { nodeId, servers } = adopted
  const row = removalOf(tx, target.id, nodeId)
  const found = looked.get(nodeId) ?? 'It was not looked at.'
  const preview = typeof found === 'string' ? null : found
  const hypervisor = hypervisorRows.find(tx, target.id, adopted.hypervisorId)
  return {
    node: { id: nodeId, name: capacityRowOf(tx, nodeId)?.name ?? nodeId },
    hypervisor: {
      id: adopted.hypervisorId,
      name: hypervisor?.name ?? adopted.hypervisorId,
      address: hypervisor?.address ?? '',
    },
    servers,
    isMaster: hypervisor?.isPanel ?? false,
    choice: row?.choice ?? null,
    chosenAt: isoOrNull(row?.chosenAt ?? null),
    controlKey: row?.controlKey ?? null,
    state: row?.state ?? 'idle',
    jobId: row?.jobId ?? null,
    warnings: warningsOf(tx, target, adopted, preview),
    blocked: [...blockedBy(tx, target, adopted), ...foreignIn(preview)],
    preview: preview && withoutCounts(preview),
    previewProblem: typeof found === 'string' ? found : null,
    result: row?.result ? { folder: row.result.folder, items: row.result.items, left: row.result.left } : null,
    removedAt: isoOrNull(row?.removedAt ?? null),
    restoredAt: isoOrNull(row?.restoredAt ?? null),
    failure: row?.failure ? { code: row.failure, words: row.failureWords ?? '' } : null,
    canRestore: canRestore(row),
  }
}
/** Commands are lines of the node's own making: characters that nobody can read are shown as their codes. */
const withoutCounts = ({ foreignCount: _, panelRunsHere: __, ...preview }: RemovalPreview) => ({
  ...preview,
  bridges: preview.bridges.map((one) => ({ ...one, commands: one.commands && escapedLines(one.commands) })),
  commands: preview.commands && escapedLines(preview.commands),
})

/** The state of a removal that a restore can undo. */
export const canRestore = (row: SourceRemoval | undefined): boolean =>
  row?.removal != null &&
  (row.state === 'removed' || (row.state === 'failed' && row.failure === 'removal_half_restored'))

function foreignIn(preview: RemovalPreview | null): string[] {
  if (!preview?.foreignCount) return []
  const { foreign, foreignCount } = preview
  const are = foreignCount === 1 ? 'is' : 'are'
  const names = foreign.slice(0, 5).join(', ')
  return [`libvirt there holds ${count(foreignCount, 'domain')} that ${are} not Berth’s: ${names}.`]
}

/** Of the master while servers on other hypervisors depend on it. */
function blockedBy(tx: Db, target: ImportRecord, { hypervisorId }: AdoptedNode): string[] {
  if (!hypervisorRows.find(tx, target.id, hypervisorId)?.isPanel) return []
  const { elsewhere } = stillAtSource(tx, target.id, hypervisorId)
  if (!elsewhere) return []
  const depend = elsewhere === 1 ? 'depends' : 'depend'
  return [`${count(elsewhere, 'server')} on other hypervisors still ${depend} on the master.`]
}

function warningsOf(
  tx: Db,
  target: ImportRecord,
  { nodeId, hypervisorId }: AdoptedNode,
  preview: RemovalPreview | null,
) {
  const found: ShownRemoval['warnings'] = []
  const { here } = stillAtSource(tx, target.id, hypervisorId)
  if (here)
    found.push({
      code: 'servers_at_source',
      words: `${count(here, 'server')} of it ${here === 1 ? 'is' : 'are'} still on the source.`,
    })
  if (hypervisorRows.find(tx, target.id, hypervisorId)?.isPanel || preview?.panelRunsHere)
    found.push({ code: 'panel_runs_here', words: 'The source’s own panel runs on this node.' })
  const open = canBeRolledBack(tx, nodeId)
  if (open)
    found.push({
      code: 'roll_back_open',
      words: `${count(open, 'server')} here can still be rolled back in an import that is not finished.`,
    })
  return found
}

/** The node that a body names. Throws `validation_failed` for one where the import has adopted nothing. */
export function adoptedNode(tx: Db, target: ImportRecord, nodeId: string): AdoptedNode {
  const found = adoptedNodes(tx, target.id).find((one) => one.nodeId === nodeId)
  if (!found) throw invalid({ field: 'nodeId', message: 'is no node on which this import has adopted servers.' })
  return found
}

/** Throws when the master is needed still, or the panel is none whose software is known. */
export function mustBeRemovable(tx: Db, target: ImportRecord, adopted: AdoptedNode) {
  const [words] = blockedBy(tx, target, adopted)
  if (words) throw new ApiError('source_still_needed', `${words} Move them first: the master is the last.`)
  scopeOf(tx, target, adopted.nodeId)
}

/** The panel, as its node is told about it. Throws `source_unknown` for a panel that leaves nothing that is known. */
export function scopeOf(tx: Db, target: ImportRecord, nodeId: string): RemovalScope {
  if (!isKnown(target)) throw new ApiError('source_unknown', UNKNOWN_PANEL)
  const panels = [...hypervisorRows.from(tx, target.id, '', 1000)].filter(({ isPanel }) => isPanel)
  const own = [hostOf(target.address), ...panels.flatMap(({ addresses }) => addresses)]
  const panelAddresses = [...new Set(own.filter((address) => /^[0-9a-fA-F.:]+$/.test(address)))].slice(0, 40)
  const key = removalOf(tx, target.id, nodeId)?.controlKey
  return { panel: target.kind, panelAddresses, controlKeys: key ? [key] : [] }
}
export const UNKNOWN_PANEL = 'What this panel leaves on a hypervisor is not known. Remove it by hand.'
export const isKnown = (target: ImportRecord): target is ImportRecord & { kind: RemovalPanel } =>
  (removalPanels as readonly string[]).includes(target.kind)
const hostOf = (address: string) => new URL(address).hostname.replace(/^\[|\]$/g, '')
