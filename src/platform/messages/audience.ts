// The recipients of a message: the owners of the servers that its audience names, each once.

import { listedServerIds } from '../../compute/servers/list.ts'
import { locationById } from '../../fleet/locations/queries.ts'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { type OwnedWorkload, ownedWorkloads } from '../../fleet/workloads/lists/queries.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { uiPreferencesOf } from '../../identity/account-records/ui-preferences.ts'
import { choiceOf } from '../../identity/notices/queries.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { dayText } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Filled, Message } from './tables.ts'
import { named, workValues } from './words.ts'

/** Servers of one message. */
const MOST_SERVERS = 100_000

export const NEWS = 'provider_news'
export type Recipient = {
  accountId: string
  name: string
  email: string
  kind: 'reseller' | 'customer'
  servers: number
  filled: Filled
  /** Why it does not get the message; null: it does. */
  leftOut: string | null
}

/** `call` is that of who sends it, or of System when its time has come. */
export function recipientsOf(call: ReadContext, message: Message): Recipient[] {
  const { accountId, serverIds, ...filters } = message.audience
  const places = placeNames(call.tx)
  if (accountId) {
    const servers = ownedWorkloads(call.tx, serverIds ?? [])
    return recipient(call, message, { accountId: readerFor(call.tx, message, accountId), servers, places })
  }
  const query = Object.fromEntries(
    Object.entries(filters).flatMap(([name, value]) => (value ? [[name, value] as const] : [])),
  )
  const found = serverIds?.length ? serverIds : listedServerIds({ ...call, query }, MOST_SERVERS)
  const reader = once((ownerId) => readerFor(call.tx, message, ownerId))
  const byAccount = Map.groupBy(ownedWorkloads(call.tx, found), ({ ownerId }) => reader(ownerId))
  return [...byAccount].flatMap(([accountId, servers]) => recipient(call, message, { accountId, servers, places }))
}

/** Each is looked up once: many servers have one owner, one node, one location. */
function once(find: (id: string) => string): (id: string) => string {
  const known = new Map<string, string>()
  return (id) => {
    const answer = known.get(id) ?? find(id)
    known.set(id, answer)
    return answer
  }
}
const placeNames = (tx: Db) => ({
  location: once((id) => locationById(tx, id)?.name ?? ''),
  node: once((id) => nodeById(tx, id)?.name ?? ''),
})

/** A reseller stands for its customers, whose names its customers see, unless they are written to themselves. */
function readerFor(tx: Db, { toCustomersOfResellers }: Message, ownerId: string): string {
  const owner = accountById(tx, ownerId)
  return (!toCustomersOfResellers && owner?.resellerId) || ownerId
}

type Owned = { accountId: string; servers: readonly OwnedWorkload[]; places: ReturnType<typeof placeNames> }
function recipient(call: ReadContext, message: Message, { accountId, servers, places }: Owned): Recipient[] {
  const { tx, clock } = call
  const account = accountById(tx, accountId)
  if (!account || account.kind === 'staff') return []
  const unique = (names: readonly string[]) => named([...new Set(names)].toSorted())
  return [
    {
      ...{ accountId, name: account.name, email: account.email, kind: account.kind, servers: servers.length },
      filled: {
        customer: account.name,
        servers: named(servers.map(({ hostname }) => hostname)),
        location: unique(servers.map(({ locationId }) => places.location(locationId))),
        node: unique(servers.map(({ nodeId }) => places.node(nodeId))),
        date: dayText(clock()),
        ...workValues(message, uiPreferencesOf(account).timeZone ?? 'UTC'),
      },
      leftOut: leftOutReason(tx, account, message),
    },
  ]
}

/** Why an account gets no message; asked again when its turn comes. A notice reaches those without mail, too. */
export function leftOutReason(
  tx: Db,
  { id, emailPending }: { id: string; emailPending: boolean },
  { isService, alsoNotice }: Pick<Message, 'isService' | 'alsoNotice'>,
): string | null {
  if (emailPending) return 'It has no e-mail address of its own yet.'
  if (isService) return null
  const { inPanel, byMail } = choiceOf(tx, id, NEWS)
  return byMail || (alsoNotice && inPanel) ? null : 'It wants no news by mail.'
}
