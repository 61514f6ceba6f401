// Tickets and open consoles, in memory: neither outlives the controller, as the sockets do not. A ticket is a secret
// that opens one console for the credential that made it; only its hash is here.
import type { ConsoleKind } from '../../../agent/protocol/console.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { digest, randomToken } from '../../kernel/crypto/secrets.ts'
import { type Clock, second } from '../../kernel/db/clock.ts'

export const TICKET_MS = 30 * second
/** Open consoles of one server, of one account's viewers, and of all: each may hold two windows of bytes. */
export const mostConsoles = { perServer: 4, perAccount: 8, all: 300 } as const
/** Tickets of one account that wait; the oldest ends when there are more. */
const MOST_TICKETS = 20

export type Ticket = { serverId: string; kind: ConsoleKind; actor: Actor; expiresAt: number }
/** A console that counts against the limits. */
export type Counted = { serverId: string; accountId: string }

export class Consoles {
  private tickets = new Map<string, Ticket>()
  private open = new Set<Counted>()

  constructor(private clock: Clock) {}

  /** Answers the ticket's value, which is stored nowhere. Throws `limit_reached`. */
  issue(serverId: string, kind: ConsoleKind, actor: Actor): { ticket: string; expiresAt: number } {
    this.mustBeBelowLimit({ serverId, accountId: actor.accountId })
    const now = this.clock()
    for (const [hash, { expiresAt }] of this.tickets) if (expiresAt <= now) this.tickets.delete(hash)
    const own = [...this.tickets].filter(
      ([
        ,
        {
          actor: { accountId },
        },
      ]) => accountId === actor.accountId,
    )
    if (own.length >= MOST_TICKETS) this.tickets.delete(own[0]![0])
    const ticket = randomToken()
    const expiresAt = now + TICKET_MS
    this.tickets.set(digest(ticket), { serverId, kind, actor, expiresAt })
    return { ticket, expiresAt }
  }

  /** The ticket, once; undefined for one that is unknown, used or expired. */
  redeem(value: string): Ticket | undefined {
    const hash = digest(value)
    const ticket = this.tickets.get(hash)
    this.tickets.delete(hash)
    return ticket && ticket.expiresAt > this.clock() ? ticket : undefined
  }

  /** Counts a console until the returned function is called. Throws `limit_reached`. */
  count(counted: Counted): () => void {
    this.mustBeBelowLimit(counted)
    this.open.add(counted)
    return () => void this.open.delete(counted)
  }

  private mustBeBelowLimit({ serverId, accountId }: Counted) {
    const [ofServer, ofAccount] = [[...this.open].filter((o) => o.serverId === serverId), this.ofAccount(accountId)]
    if (ofServer.length >= mostConsoles.perServer)
      throw new ApiError(
        'limit_reached',
        `${mostConsoles.perServer} consoles of this server are open. Close one first.`,
      )
    if (ofAccount >= mostConsoles.perAccount)
      throw new ApiError('limit_reached', `You have ${mostConsoles.perAccount} consoles open. Close one first.`)
    if (this.open.size >= mostConsoles.all)
      throw new ApiError('limit_reached', `${mostConsoles.all} consoles are open in all. Try again in a while.`)
  }

  private ofAccount = (id: string) => [...this.open].filter(({ accountId }) => accountId === id).length
}
