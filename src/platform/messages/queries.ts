// The statements about messages to owners of servers.
import { and, eq, inArray, lte } from 'drizzle-orm'
import { newest, paginate } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { day } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import { type Message, type MessageRecipient, messageRecipients, messages, type RecipientState } from './tables.ts'

export type { Message, MessageRecipient, RecipientState }

export const messageTarget: AuditTarget = { prefix: 'msg', scope: 'customers:read' }
export const messageById = rowBy(messages, messages.id)
export const insertMessage = inserting(messages)
export const changeMessage = updating(messages, messages.id)
export const deleteMessage = (tx: Tx, id: string) => void tx.delete(messages).where(eq(messages.id, id)).run()
export const pageOfMessages = <Shown>(call: ReadContext, show: (row: Message) => Shown) =>
  newest({ call, name: 'messages', table: messages, where: undefined, show })
/** Scheduled ones whose time has come, and those that are being sent. */
export const messagesAtWork = (tx: Db, now: number): Message[] => [
  ...tx
    .select()
    .from(messages)
    .where(and(eq(messages.state, 'scheduled'), lte(messages.sendAt, now)))
    .orderBy(messages.id)
    .all(),
  ...tx.select().from(messages).where(eq(messages.state, 'sending')).orderBy(messages.id).all(),
]

export const insertRecipient = inserting(messageRecipients)
export const changeRecipient = (
  tx: Tx,
  { messageId, accountId }: Pick<MessageRecipient, 'messageId' | 'accountId'>,
  values: Partial<MessageRecipient>,
) =>
  void tx
    .update(messageRecipients)
    .set(values)
    .where(and(eq(messageRecipients.messageId, messageId), eq(messageRecipients.accountId, accountId)))
    .run()
const ofMessage = (id: string, state: RecipientState | undefined) =>
  and(eq(messageRecipients.messageId, id), state === undefined ? undefined : inArray(messageRecipients.state, [state]))
/** The next ones that wait. */
export const waitingRecipients = (tx: Db, id: string, most: number): MessageRecipient[] =>
  tx.select().from(messageRecipients).where(ofMessage(id, 'waiting')).limit(most).all()
export const cancelRecipients = (tx: Tx, id: string, now: number) =>
  void tx.update(messageRecipients).set({ state: 'cancelled', at: now }).where(ofMessage(id, 'waiting')).run()
export const recipientByLink = rowBy(messageRecipients, messageRecipients.unsubscribeHash)

const statements = prepared(({ $client }) => ({
  counts: $client.prepare<{ state: RecipientState; n: number }, [string]>(
    'SELECT state, count(*) AS n FROM message_recipients WHERE message_id = ? GROUP BY state',
  ),
}))
/** How many of its recipients are in each state. */
export const recipientCounts = (tx: Db, id: string): Partial<Record<RecipientState, number>> =>
  Object.fromEntries(
    statements(tx)
      .counts.all(id)
      .map(({ state, n }) => [state, n]),
  )

/** A page of its recipients, by their ids. */
export function pageOfRecipients<Shown>(
  call: ReadContext,
  { id, state }: { id: string; state: RecipientState | undefined },
  show: (row: MessageRecipient) => Shown,
) {
  const all = call.tx
    .select()
    .from(messageRecipients)
    .where(ofMessage(id, state))
    .orderBy(messageRecipients.accountId)
    .all()
  return paginate({
    call,
    name: `recipients of ${id} ${state}`,
    rows: ({ after, skip, limit }) =>
      all.filter(({ accountId }) => after === undefined || accountId > after).slice(skip, skip + limit),
    keyOf: ({ accountId }) => accountId,
    show,
    total: () => all.length,
  })
}

const KEPT_MS = 400 * day
export const expiringMessages = expiring(messages, (now) => lte(messages.finishedAt, now - KEPT_MS))
