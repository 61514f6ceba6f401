// An ISO: staff's, which everybody may put into a server, or an account's own.
import { eq, isNull, or, type SQL } from 'drizzle-orm'
import { Type as t } from 'typebox'
import type { IsoSource } from '../../../agent/protocol/wire.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { type AppContext, described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso as isoTime } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { isoById } from './queries.ts'
import { type Iso, isos } from './tables.ts'

export type { Iso }

/** ISOs of its own that an account can have. */
export const MOST_ISOS = 10
/** The largest that a node downloads. */
export const MOST_ISO_BYTES = 16e9

/** Staff see those of customers with the right to see all servers, resellers those of theirs. */
const isVisible = (actor: Actor, iso: Iso): boolean => iso.ownerId === null || seesAll(actor) || isOwn(actor, iso)
const isOwn = (actor: Actor, { ownerId, resellerId }: Iso): boolean =>
  ownerId === actor.accountId || (actor.kind === 'reseller' && resellerId === actor.accountId)
const seesAll = (actor: Actor) => actor.kind === 'staff' && actor.permissions.has('servers.see_all')

/** The same rule for lists; undefined: all. */
export const visibleTo = (actor: Actor): SQL | undefined =>
  seesAll(actor)
    ? undefined
    : or(
        isNull(isos.ownerId),
        eq(isos.ownerId, actor.accountId),
        actor.kind === 'reseller' ? eq(isos.resellerId, actor.accountId) : undefined,
      )

const found = (tx: Db, id: string): Iso | undefined => {
  const row = isoById(tx, id)
  return row?.removedAt === null ? row : undefined
}
export const iso: Resource<Iso> = {
  name: 'ISO',
  notFound: 'iso_not_found',
  find: (tx, actor, id) => {
    const row = found(tx, id)
    return row && isVisible(actor, row) ? row : undefined
  },
}
/** For changes: those of the library are staff's alone. */
export const ownIso: Resource<Iso> = {
  ...iso,
  find: (tx, actor, id) => {
    const row = iso.find(tx, actor, id)
    return row && (actor.kind === 'staff' || isOwn(actor, row)) ? row : undefined
  },
}

/** The part of an ISO that a node needs to fetch and recognise it. */
export const isoSource = ({ id, url, checksum, ownerId }: Iso): IsoSource => ({
  id,
  url,
  format: 'raw',
  checksum,
  mostBytes: MOST_ISO_BYTES,
  publicOnly: ownerId !== null,
})

export const isoResponse = namedSchema('Iso', {
  id: t.String(),
  name: t.String(),
  owner: described(
    nullable(t.Object({ id: t.String(), name: t.String() })),
    'Null: it is in the library of the provider, for everybody.',
  ),
  url: described(nullable(t.String()), 'Only for its owner and staff.'),
  checksum: t.String(),
  sizeBytes: t.Integer(),
  servers: described(t.Integer(), 'In the drives of how many servers it is.'),
  createdAt: time,
})
declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Counts this feature's drives with the ISO in them. */
    drivesWithIso?(tx: Db, isoId: string): number
  }
}
type IsoContext = Pick<AppContext, 'registry'> & { tx: Db; actor: Actor }
/** How many drives the ISO is in. */
export const drivesWith = ({ tx, registry }: Omit<IsoContext, 'actor'>, isoId: string): number =>
  registry.features.reduce((n, { drivesWithIso }) => n + (drivesWithIso?.(tx, isoId) ?? 0), 0)

export const showIso = ({ tx, actor, registry }: IsoContext, iso: Iso) => ({
  id: iso.id,
  name: iso.name,
  owner: iso.ownerId === null ? null : { id: iso.ownerId, name: accountById(tx, iso.ownerId)?.name ?? '' },
  // An address may have a secret in it.
  url: actor.kind === 'staff' || isOwn(actor, iso) ? iso.url : null,
  checksum: iso.checksum,
  sizeBytes: iso.sizeBytes,
  servers: iso.ownerId === null && actor.kind !== 'staff' ? 0 : drivesWith({ tx, registry }, iso.id),
  createdAt: isoTime(iso.createdAt),
})
