// A message to owners of servers, as the API shows it.
import { Type as t } from 'typebox'
import { packageById } from '../../catalog/packages/queries.ts'
import { locationById } from '../../fleet/locations/queries.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import {
  described,
  line,
  namedSchema,
  nullable,
  type ReadContext,
  type Resource,
  time,
} from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { deliveryById } from '../../kernel/queue/queries.ts'
import { poolById } from '../../network/ip-pools/queries.ts'
import { type Recipient, recipientsOf } from './audience.ts'
import { type Message, type MessageRecipient, messageById, recipientCounts } from './queries.ts'
import { type Audience, messageStates, recipientStates } from './tables.ts'
import { namesWithoutTime, unknownNames } from './words.ts'

export const message: Resource<Message> = {
  name: 'message',
  notFound: 'message_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? messageById(tx, id) : undefined),
}

const MOST_SERVERS = 500
const one = (prefix: Parameters<typeof idOf>[0], words: string) => t.Optional(nullable(idOf(prefix, words)))
export const audienceSchema = t.Object(
  {
    nodeId: one('nod', 'Owners of servers on this node.'),
    locationId: one('grp', 'Owners of servers in this location.'),
    packageId: one('pkg', 'Owners of servers with this package.'),
    ipPoolId: one('pool', 'Owners of servers with an address of this pool.'),
    label: t.Optional(nullable(line(40))),
    resellerId: one('usr', 'This reseller and its customers.'),
    accountId: one(
      'usr',
      'This account alone, or its reseller: the other fields do not count, and `serverIds` are those that it is about.',
    ),
    serverIds: t.Optional(
      nullable(
        described(
          t.Array(idOf('srv', ''), { maxItems: MOST_SERVERS }),
          'Owners of these servers; the other fields do not count then.',
        ),
      ),
    ),
  },
  { additionalProperties: false, description: 'Servers that fit all of it; an empty one is every server.' },
)

const thing = t.Object({ id: t.String(), name: t.String() })
export const messageResponse = namedSchema('Message', {
  id: t.String(),
  state: t.Enum([...messageStates]),
  audience: described(
    t.Object({
      node: t.Optional(thing),
      location: t.Optional(locationReferred),
      package: t.Optional(thing),
      ipPool: t.Optional(thing),
      label: t.Optional(t.String()),
      reseller: t.Optional(thing),
      account: t.Optional(thing),
      serverIds: t.Optional(t.Array(t.String())),
    }),
    'The servers whose owners get it: those that fit all of it.',
  ),
  toCustomersOfResellers: described(
    t.Boolean(),
    'Customers of resellers get it themselves, from the sender of their reseller. False: their resellers get it once.',
  ),
  subject: t.String(),
  text: t.String(),
  isService: described(t.Boolean(), 'About their servers: it has no link to unsubscribe. False: news.'),
  alsoNotice: described(t.Boolean(), 'Also as a notice in the panel.'),
  workStartsAt: described(nullable(time), 'When the work that it announces begins: fills {start} and {duration}.'),
  workEndsAt: described(nullable(time), 'When it ends: fills {end} and {duration}.'),
  sendAt: nullable(time),
  testedAt: described(nullable(time), 'When a test of this text was sent last.'),
  unknownNames: described(t.Array(t.String()), 'Names in braces that nothing fills: it cannot be sent with them.'),
  namesWithoutTime: described(
    t.Array(t.String()),
    'Names in braces that the time of the work fills, while there is none: it cannot be sent with them.',
  ),
  counts: described(
    t.Object({
      recipients: described(t.Integer(), 'Those who get it, or have got it.'),
      servers: described(t.Integer(), 'Theirs that it is about; 0 once it is sent.'),
      resellers: t.Integer(),
      waiting: t.Integer(),
      sent: t.Integer(),
      leftOut: t.Integer(),
    }),
    'Of a draft, as the servers are now.',
  ),
  jobId: nullable(t.String()),
  writtenBy: t.Object({ id: t.String(), name: t.String() }),
  createdAt: time,
  changedAt: time,
  finishedAt: nullable(time),
})

/** A draft counts those who would get it; a list does not. */
export function showMessage(call: ReadContext, row: Message, { inList = false } = {}) {
  const { tx } = call
  const { words, changedAt, ...shown } = row
  const isOpen = row.state === 'draft' || row.state === 'scheduled'
  return {
    ...shown,
    audience: showAudience(tx, row.audience),
    text: words,
    workStartsAt: isoOrNull(row.workStartsAt),
    workEndsAt: isoOrNull(row.workEndsAt),
    sendAt: isoOrNull(row.sendAt),
    testedAt: isoOrNull(row.testedAt),
    unknownNames: unknownNames(row),
    namesWithoutTime: namesWithoutTime(row),
    counts: isOpen ? (inList ? none : planned(recipientsOf(call, row))) : counted(tx, row),
    createdAt: iso(row.createdAt),
    changedAt: iso(changedAt),
    finishedAt: isoOrNull(row.finishedAt),
  }
}
function showAudience(tx: Db, audience: Audience) {
  const { nodeId, locationId, packageId, ipPoolId, label, resellerId, accountId, serverIds } = audience
  const thing = (id: string, of: { name: string } | null | undefined) => ({ id, name: of?.name ?? '' })
  return {
    ...(nodeId && { node: thing(nodeId, nodeById(tx, nodeId)) }),
    ...(locationId && { location: thing(locationId, locationById(tx, locationId)) }),
    ...(packageId && { package: thing(packageId, packageById(tx, packageId)) }),
    ...(ipPoolId && { ipPool: thing(ipPoolId, poolById(tx, ipPoolId)) }),
    ...(label && { label }),
    ...(resellerId && { reseller: thing(resellerId, accountById(tx, resellerId)) }),
    ...(accountId && { account: thing(accountId, accountById(tx, accountId)) }),
    ...(serverIds?.length && { serverIds }),
  }
}

const none = { recipients: 0, servers: 0, resellers: 0, waiting: 0, sent: 0, leftOut: 0 }

function planned(all: readonly Recipient[]) {
  const gets = all.filter(({ leftOut }) => leftOut === null)
  return {
    ...none,
    recipients: gets.length,
    servers: gets.reduce((sum, { servers }) => sum + servers, 0),
    resellers: gets.filter(({ kind }) => kind === 'reseller').length,
    waiting: gets.length,
    leftOut: all.length - gets.length,
  }
}
function counted(tx: Db, { id }: Message) {
  const { waiting = 0, sent = 0, left_out: leftOut = 0 } = recipientCounts(tx, id)
  return { ...none, recipients: waiting + sent, waiting, sent, leftOut }
}

export const recipientResponse = namedSchema('MessageRecipient', {
  id: t.String(),
  name: t.String(),
  email: t.String(),
  servers: described(t.String(), 'Those that it is about.'),
  state: described(
    t.Enum([...recipientStates, 'delivered', 'failed']),
    'sent: it waits for the mail server. delivered: the mail server took it. failed: it was tried for hours.',
  ),
  reason: nullable(t.String()),
  at: nullable(time),
})
export function showRecipient(tx: Db, { accountId, filled, state, reason, deliveryId, at }: MessageRecipient) {
  const account = accountById(tx, accountId)
  const delivery = deliveryId === null ? undefined : deliveryById(tx, deliveryId)
  const isOver = state === 'sent' && delivery && delivery.state !== 'waiting'
  return {
    id: accountId,
    name: account?.name ?? filled['customer'] ?? '',
    email: account?.email ?? '',
    servers: filled['servers'] ?? '',
    state: isOver ? (delivery.state as 'delivered' | 'failed') : state,
    reason: reason ?? delivery?.error ?? null,
    at: isoOrNull(at),
  }
}
export const showPlanned = ({ accountId, name, email, filled, leftOut }: Recipient) => ({
  ...{ id: accountId, name, email, servers: filled['servers'] ?? '' },
  ...{ state: leftOut === null ? ('waiting' as const) : ('left_out' as const), reason: leftOut, at: null },
})
