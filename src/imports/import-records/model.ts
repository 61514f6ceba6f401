// An import: another panel that is read, and what is decided about its servers.
import { type Static, Type as t } from 'typebox'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { SourceCertificate } from '../sources/failure.ts'
import { leftToDecide } from './choices/queries.ts'
import { changeCounts, importServerById, serverStates, serverTotals } from './inventory/queries.ts'
import { type ImportPanels, panelLabel, sourceKinds } from './panels.ts'
import { type ImportRecord, importById } from './queries.ts'
import { disabledReasonOf, importActions, titleOf } from './states.ts'
import {
  type BillingIds,
  type ImportLimits,
  type ImportServer,
  importServerStates,
  importStatuses,
  type MoveMethod,
  moveMethods,
  type OwnerChoice,
  type OwnerConflict,
  ownerChoices,
  ownerConflicts,
  type PackageChanges,
  type ReadProgress,
  type Sent,
  UNNAMED,
} from './tables.ts'

export type {
  BillingIds,
  ImportLimits,
  ImportRecord,
  ImportServer,
  MoveMethod,
  OwnerChoice,
  OwnerConflict,
  PackageChanges,
  ReadProgress,
  Sent,
}
export { importServerStates, importStatuses, moveMethods, ownerChoices, ownerConflicts, UNNAMED }

export const importRecord: Resource<ImportRecord> = {
  name: 'import',
  notFound: 'import_not_found',
  find(tx, actor, id) {
    const row = actor.kind === 'staff' ? importById(tx, id) : undefined
    return row?.status === 'cancelled' ? undefined : row
  },
}

export const importServer: Resource<ImportServer> = {
  name: 'import server',
  notFound: 'import_server_not_found',
  find(tx, actor, id) {
    const row = importServerById(tx, id)
    return row && importRecord.find(tx, actor, row.importId) ? row : undefined
  },
}

export const importAccess = { staff: ['imports:write'] } as const

const certificateResponse = namedSchema('ImportCertificate', {
  sha256: t.String(),
  fingerprint: described(t.String(), 'The same as people compare it: pairs of digits with colons.'),
  subject: t.String(),
  issuer: t.String(),
  validUntil: nullable(time),
  isChanged: described(t.Boolean(), 'Another one was trusted before. Find out why it changed.'),
})
const idOfSource = t.Enum(['none', 'billing_id', 'source_id'])
export const billingFields = {
  externalId: described(idOfSource, 'Of an owner: becomes the external id of the customer.'),
  billingServiceId: described(idOfSource, 'Of a server.'),
  billingProductId: described(idOfSource, 'Of a package that is made like one of the other panel.'),
}
export const usualBilling: BillingIds = {
  externalId: 'billing_id',
  billingServiceId: 'billing_id',
  billingProductId: 'billing_id',
}

/** The limits within which servers move at once. */
const limitsResponse = namedSchema('ImportLimits', {
  perHypervisor: described(t.Integer(), 'Servers that leave one hypervisor at once.'),
  perNode: described(t.Integer(), 'Servers that come to one node at once.'),
  maxMbps: described(nullable(t.Integer()), 'Of each copy. Null: as fast as it goes.'),
  window: described(
    nullable(t.Object({ from: t.String(), to: t.String(), timeZone: t.String() })),
    'Servers begin within these hours alone; those at work come to their end. Null: at any time.',
  ),
  method: described(
    t.Enum([...moveMethods]),
    'short_stop: copied while it runs, and what has changed once it is off. plain: copied while it is off.',
  ),
})

const decisions = t.Object({ rows: t.Integer(), servers: t.Integer() })
const counts = (names: readonly string[]) => t.Object(Object.fromEntries(names.map((name) => [name, t.Integer()])))
export const importResponse = namedSchema('Import', {
  id: t.String(),
  kind: t.Enum([...sourceKinds]),
  panel: described(t.String(), 'The name of the other panel.'),
  address: t.String(),
  name: described(nullable(t.String()), 'It can be changed or cleared at any time.'),
  status: t.Enum([...importStatuses]),
  hasCredentials: described(t.Boolean(), 'They are deleted when the import is finished.'),
  asksFor: described(
    nullable(certificateResponse),
    'The certificate that nobody vouches for. Compare it with the one on the panel, and call trust.',
  ),
  trusted: described(nullable(t.String()), 'SHA-256 of the certificate that is trusted.'),
  trouble: described(
    nullable(t.Object({ code: t.String(), message: t.String(), at: time })),
    'Why the last reading ended early. What was known before still counts.',
  ),
  warnings: described(t.Array(t.String()), 'What the panel said about the credentials.'),
  accountName: nullable(t.String()),
  phase: described(
    nullable(t.Enum(['reading', 'applying'])),
    'While it is discovering. applying: the whole panel was read, and it is compared with what is here.',
  ),
  progress: described(
    t.Array(t.Object({ list: t.String(), read: t.Integer(), total: nullable(t.Integer()) })),
    'Of the reading.',
  ),
  sent: described(
    t.Object({ requests: t.Integer(), refused: t.Integer(), longestMs: t.Integer() }),
    'To the other panel since the import was begun: all of them read. refused: those that failed.',
  ),
  servers: described(counts(['total', ...importServerStates]), 'How many servers are in each state.'),
  diskGb: described(t.Number(), 'GiB of the disks of the servers that are to come over, as the other panel counts.'),
  left: described(
    t.Object({
      decisions: described(t.Integer(), 'Of all parts together.'),
      packages: decisions,
      ranges: decisions,
      hypervisors: decisions,
      owners: decisions,
      conflicts: described(
        t.Integer(),
        'Servers whose addresses or billing ids are in use here or twice there, or exceed the quota of a reseller.',
      ),
    }),
    'What servers wait for.',
  ),
  changes: described(
    t.Object({ new: t.Integer(), gone: t.Integer(), changed: t.Integer() }),
    'Between the last reading and the one before.',
  ),
  billing: t.Object(billingFields),
  mappingVersion: described(t.Integer(), 'Counts changes of what is decided.'),
  isCompared: described(
    t.Boolean(),
    'Owners and addresses were compared with what is here since the last change. It takes seconds.',
  ),
  actions: described(t.Array(t.String()), 'What can be done with it now.'),
  startedBy: t.Object({ id: t.String(), name: t.String() }),
  createdAt: time,
  discoveredAt: nullable(time),
  checkedAt: nullable(time),
  startedAt: nullable(time),
  endedAt: nullable(time),
  limits: limitsResponse,
  emailsOwners: described(t.Boolean(), 'Owners are told by mail, as the messages of the import say.'),
  pausedAt: described(nullable(time), 'No further server begins; those at work come to their end.'),
  stopsAfter: described(nullable(time), 'Servers that had not begun by then stay at the source.'),
  migratedAt: described(nullable(time), 'When the last of its servers came to an end.'),
})

/** `7a410c…` as `7A:41:0C:…`. */
export const fingerprintOf = (sha256: string): string => sha256.toUpperCase().replace(/../g, '$&:').replace(/:$/, '')

const showCertificate = (one: SourceCertificate, trusted: string | null) => ({
  sha256: one.sha256,
  fingerprint: fingerprintOf(one.sha256),
  subject: one.subject,
  issuer: one.issuer,
  validUntil: isoOrNull(one.validUntil),
  isChanged: trusted !== null,
})

type Showing = { tx: Db; importPanels: ImportPanels }
export function showImport({ tx, importPanels }: Showing, row: ImportRecord): Static<typeof importResponse> {
  const states = serverStates(tx, row.id)
  const total = Object.values(states).reduce((sum, n) => sum + n, 0)
  const totals = serverTotals(tx, row.id)
  const left = leftToDecide(tx, row.id)
  const changes = changeCounts(tx, row.id, row.read)
  return {
    id: row.id,
    kind: row.kind,
    panel: panelLabel(importPanels, row.kind),
    address: row.address,
    name: row.name,
    status: row.status,
    hasCredentials: row.encryptedCredentials !== null,
    asksFor: row.askedCertificate && showCertificate(row.askedCertificate, row.trustedSha256),
    trusted: row.trustedSha256,
    trouble: row.trouble && { ...row.trouble, at: iso(row.trouble.at) },
    warnings: [...row.warnings],
    accountName: row.accountName,
    phase: row.phase,
    progress: Object.entries(row.progress).flatMap(([list, one]) => (one ? [{ list, ...one }] : [])),
    sent: row.sent,
    servers: Object.fromEntries([
      ['total', total],
      ...importServerStates.map((state) => [state, states[state] ?? 0]),
    ]) as Record<string, number>,
    diskGb: Math.round(totals.diskGb * 10) / 10,
    left: {
      decisions: Object.values(left).reduce((sum, { rows }) => sum + rows, 0),
      ...left,
      conflicts: totals.conflicts,
    },
    changes: { new: changes.new ?? 0, gone: changes.gone ?? 0, changed: changes.changed ?? 0 },
    billing: row.billing,
    mappingVersion: row.mappingVersion,
    isCompared: row.comparedVersion === row.mappingVersion,
    actions: importActions.filter((action) => !disabledReasonOf(row, action)),
    startedBy: row.startedBy,
    createdAt: iso(row.createdAt),
    discoveredAt: isoOrNull(row.discoveredAt),
    checkedAt: isoOrNull(row.checkedAt),
    startedAt: isoOrNull(row.startedAt),
    endedAt: isoOrNull(row.endedAt),
    limits: row.limits,
    emailsOwners: row.emailsOwners,
    pausedAt: isoOrNull(row.pausedAt),
    stopsAfter: isoOrNull(row.stopsAfter),
    migratedAt: isoOrNull(row.migratedAt),
  }
}
export { titleOf }
