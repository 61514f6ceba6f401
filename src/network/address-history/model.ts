// A holding of an address as the API shows it.
import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { idsStoredAs } from '../ip-pools/queries.ts'
import { countLines, type Line, ofAddress, storedAs } from './queries.ts'
import { holdingKinds } from './tables.ts'

const cause = namedSchema('HoldingCause', {
  action: described(t.String(), 'The id of an operation, or the kind of a job.'),
  by: described(t.String(), 'The name of who called it or started the job.'),
  jobId: nullable(t.String()),
})

export const holdingResponse = namedSchema('AddressHolding', {
  address: described(t.String(), 'An IPv4 address, or the first address of an IPv6 prefix.'),
  prefixLength: t.Integer(),
  version: t.Enum([4, 6]),
  pool: described(
    t.Object({ id: t.String(), name: nullable(t.String()) }),
    'The name is null when the pool was removed since.',
  ),
  kind: t.Enum([...holdingKinds]),
  server: described(
    nullable(
      t.Object({
        id: t.String(),
        kind: described(t.String(), 'server, or another kind of workload.'),
        hostname: t.String(),
        terminatedAt: nullable(time),
      }),
    ),
    'What had it, or where a floating address pointed to; null: nowhere. Until it is released, a terminated server ' +
      'still has its addresses, which nobody uses meanwhile.',
  ),
  floatingIp: nullable(t.Object({ id: t.String(), name: t.String() })),
  owner: t.Object({ id: t.String(), name: t.String(), kind: nullable(t.String()) }),
  from: time,
  fromKnown: described(
    t.Boolean(),
    'False: it was held already when this history began at `from`; since when is not known.',
  ),
  to: described(nullable(time), 'Null: still.'),
  restedUntil: described(nullable(time), 'After it ended, nobody got the address before; null: it did not rest.'),
  began: described(nullable(cause), 'Null where it is not known.'),
  ended: nullable(cause),
})

export type ShownHolding = ReturnType<typeof showHolding>
export const showHolding = (l: Line) => ({
  address: l.address,
  prefixLength: l.prefixLength,
  version: l.version,
  pool: { id: l.poolId, name: l.poolName },
  kind: l.kind,
  server:
    l.workloadId === null
      ? null
      : {
          id: l.workloadId,
          kind: l.workloadKind ?? 'server',
          hostname: l.name ?? l.workloadId,
          terminatedAt: isoOrNull(l.terminatedAt),
        },
  floatingIp: l.floatingIpId === null ? null : { id: l.floatingIpId, name: l.floatingIpName ?? '' },
  owner: { id: l.ownerId, name: l.ownerName, kind: l.ownerKind },
  from: iso(l.since),
  fromKnown: l.sinceKnown === 1,
  to: isoOrNull(l.until),
  restedUntil: isoOrNull(l.restedUntil),
  began: causeOf(l.beganAction, l.beganBy, l.beganJob),
  ended: causeOf(l.endedAction, l.endedBy, l.endedJob),
})
const causeOf = (action: string | null, by: string | null, jobId: string | null) =>
  action === null ? null : { action, by: by ?? '', jobId }

/** The spellings of an address that is in a pool or in the history. Throws `address_not_found`. */
export function knownAddress(tx: Db, text: string) {
  const spellings = storedAs(text)
  if (!spellings)
    throw new ApiError('address_not_found', 'This is no whole IPv4 or IPv6 address. Send one, without a prefix length.')
  const ids = idsStoredAs(tx, spellings)
  if (!ids.length && !countLines(tx, ofAddress(spellings, undefined)))
    throw new ApiError('address_not_found', 'No pool has this address, and nobody had it in the time that is kept.')
  return { spellings, ids }
}
