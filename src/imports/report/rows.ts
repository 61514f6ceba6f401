// The report about an import for billing systems: each server with its id of before and its id now, and what is to be
// done about it.
import { type Static, Type as t } from 'typebox'
import { packageById } from '../../catalog/packages/queries.ts'
import { serverById } from '../../compute/server-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { list, sentence } from '../../kernel/words.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import {
  addressesOfServer,
  type ImportServer,
  type ImportServerState,
  ownerRows,
  packageRows,
} from '../import-records/inventory/queries.ts'
import { moveOf } from '../import-records/moves/queries.ts'
import { reasonOf } from '../import-records/refusals.ts'

export const outcomes = ['moved', 'failed', 'stays', 'rolled_back', 'open'] as const
export type Outcome = (typeof outcomes)[number]

/** The outcome of each state of a server. `open`: it is not known yet. */
const outcomeOf: Readonly<Record<ImportServerState, Outcome>> = {
  waiting: 'open',
  ready: 'open',
  moving: 'open',
  moved: 'moved',
  failed: 'failed',
  rolled_back: 'rolled_back',
  left_out: 'stays',
  refused: 'stays',
  already_moved: 'stays',
}
export const statesOf = (outcome: Outcome): ImportServerState[] =>
  (Object.keys(outcomeOf) as ImportServerState[]).filter((state) => outcomeOf[state] === outcome)

export const reportRow = namedSchema('ImportReportRow', {
  importServerId: t.String(),
  oldId: described(t.String(), 'Of the server in the other panel.'),
  oldBillingId: described(t.String(), 'Of the server in the billing system, as the other panel has it.'),
  ...{ hostname: t.String(), outcome: t.Enum([...outcomes]) },
  reason: described(nullable(t.String()), 'Why it failed or stays.'),
  nextSteps: described(t.Array(t.String()), 'What is left to do, in words.'),
  oldProduct: t.Object({ id: t.String(), name: t.String(), billingId: t.String() }),
  oldOwner: t.Object({ id: t.String(), email: nullable(t.String()), billingId: t.String() }),
  oldAddresses: t.Array(t.String()),
  server: described(
    nullable(
      t.Object({
        ...{ id: t.String(), hostname: t.String(), billingServiceId: nullable(t.String()) },
        ...{ packageId: t.String(), packageName: t.String(), billingProductId: nullable(t.String()) },
        ...{ ownerId: t.String(), ownerEmail: t.String(), externalId: nullable(t.String()) },
        addresses: t.Array(t.String()),
      }),
    ),
    'The server here. Null: there is none.',
  ),
  isReaddressed: described(t.Boolean(), 'It has other addresses than before.'),
  movedAt: nullable(time),
})
export type ReportRow = Static<typeof reportRow>

const RETRY = 'Try it again, or leave it in the other panel.'
const SWITCH = 'Switch its service in the billing system to Berth: there is a script for it.'
const KEEP = 'Leave its service in the billing system as it is.'
const steps: Readonly<Record<Exclude<Outcome, 'moved'>, readonly string[]>> = {
  failed: [RETRY, KEEP],
  stays: [KEEP],
  rolled_back: ['If its service in the billing system was switched, take that back.'],
  open: ['Wait until it has moved.'],
}

/** The server here as long as it is the import's: one that was rolled back is the source's again. */
function serverHere(tx: Db, workloadId: string) {
  const server = serverById(tx, workloadId)
  const owner = server && accountById(tx, server.ownerId)
  if (!server || !owner) return null
  const pack = packageById(tx, server.packageId)
  return {
    ...{ id: server.id, hostname: server.hostname, billingServiceId: server.billingServiceId },
    ...{ packageId: server.packageId, packageName: pack?.name ?? '', billingProductId: pack?.billingProductId ?? null },
    ...{ ownerId: owner.id, ownerEmail: owner.email, externalId: owner.externalId },
    addresses: addressesOf(tx, server.id).map(({ address }) => address),
    isTerminated: server.lifecycle === 'terminated',
  }
}

/** A server of an import as the report has it. */
export function showReportRow(tx: Db, row: ImportServer): ReportRow {
  const move = moveOf(tx, row.id)
  const outcome = outcomeOf[row.state]
  const pack = packageRows.find(tx, row.importId, row.packageId)
  const owner = ownerRows.find(tx, row.importId, row.ownerId)
  const oldAddresses = addressesOfServer(tx, row.id).map(({ address }) => address)
  const workloadId = outcome === 'moved' ? (row.workloadId ?? move?.workloadId ?? null) : null
  const found = workloadId === null ? null : serverHere(tx, workloadId)
  const { isTerminated, ...server } = found ?? { isTerminated: false }
  const addresses = found?.addresses ?? []
  const isReaddressed = found !== null && !isTerminated && oldAddresses.some((one) => !addresses.includes(one))
  return {
    ...{ importServerId: row.id, oldId: row.sourceId, oldBillingId: row.billingId, hostname: row.hostname, outcome },
    reason: outcome === 'failed' ? (move?.failureWords ?? null) : outcome === 'stays' ? reasonOf(row) : null,
    nextSteps:
      outcome !== 'moved'
        ? [...steps[outcome]]
        : isTerminated
          ? ['It was terminated here since: end its service in the billing system.']
          : [SWITCH, ...(isReaddressed ? [`Change what names its old addresses: ${list(oldAddresses)}.`] : [])],
    oldProduct: { id: row.packageId, name: pack?.name ?? '', billingId: pack?.billingId ?? '' },
    oldOwner: { id: row.ownerId, email: owner?.email ?? null, billingId: owner?.billingId ?? '' },
    oldAddresses,
    server: found === null ? null : (server as ReportRow['server']),
    isReaddressed,
    movedAt: isoOrNull(move?.movedAt ?? null),
  }
}

/** The next steps as one cell of a spreadsheet. */
export const stepsAsText = ({ nextSteps }: ReportRow): string => nextSteps.map(sentence).join(' ')
