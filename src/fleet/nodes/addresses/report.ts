// The addresses that nodes name as in use: their reports come in parts, and what the database does not know of is held.
import type { Addresses } from '../../../../agent/protocol/wire.ts'
import { system } from '../../../kernel/api/actor.ts'
import { auditLine } from '../../../kernel/audit/audit.ts'
import { type Clock, second } from '../../../kernel/db/clock.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { hasEndedSince, isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { Budget } from '../../../kernel/nodes/budget.ts'
import { awaitNoLonger } from '../../../network/ip-pools/awaited.ts'
import { type NamedAddress, takeClaims } from '../../../network/ip-pools/claims.ts'
import { nodeById } from '../../node-records/queries.ts'
import { workloadById } from '../../workloads/queries.ts'
import { stayOn } from '../../workloads/stays/queries.ts'

/** Names of the audit lines: no operation is called for them. */
export const ADDRESSES_HELD = 'nodes.addresses-held'
export const ADDRESSES_FREED = 'nodes.addresses-freed'
/** An audit line names so many addresses, and counts the rest. */
const MOST_AUDITED = 20
/** A node names its addresses when it connects and each five minutes. What it says beyond this is dropped. */
const TURNS = { perSecond: 1 / 30, burst: 10 }
/** The report was gathered, and was on its way, for a moment before it came. */
const AGE_MS = 2 * second

/** A whole report; `at`: when its last part came. */
export type NamedAddresses = { named: NamedAddress[]; at: number }

/** Puts the parts of reports together. Of each node it keeps one report at most. */
export class AddressParts {
  private begun = new Map<string, { next: number; parts: number; named: NamedAddress[] }>()
  private turns = new Map<string, Budget>()
  private tellers = new Set<string>()

  /** Answers the addresses when the last part has come. A part that does not follow the one before is dropped. */
  add(nodeId: string, { part, parts, held }: Addresses): NamedAddress[] | undefined {
    this.tellers.add(nodeId)
    const before = this.begun.get(nodeId)
    this.begun.delete(nodeId)
    const follows = part === 1 ? this.hasTurn(nodeId) : before?.next === part && before.parts === parts
    if (!follows) return undefined
    const named = [...(part === 1 ? [] : before!.named), ...held]
    if (part >= parts) return named
    this.begun.set(nodeId, { next: part + 1, parts, named })
    return undefined
  }

  /** Has the node named addresses in this connection? Agents from before these reports do not. */
  isTeller = (nodeId: string): boolean => this.tellers.has(nodeId)

  /** The connection broke off: the next report begins anew. */
  forget(nodeId: string) {
    this.begun.delete(nodeId)
    this.tellers.delete(nodeId)
  }

  private hasTurn(nodeId: string): boolean {
    let turns = this.turns.get(nodeId)
    if (!turns) this.turns.set(nodeId, (turns = new Budget(TURNS.perSecond, TURNS.burst, () => performance.now())))
    return turns.take(1)
  }
}

/**
 * Holds the addresses of a node that the database does not know of, and frees those that the node does not name any
 * more; then the node is not awaited. False: it names more than can be held, and stays awaited.
 */
export function storeAddresses(tx: Tx, clock: Clock, nodeId: string, { named, at }: NamedAddresses): boolean {
  const name = nodeById(tx, nodeId)?.name ?? nodeId
  const isHere = (id: string) => {
    return stayOn(tx, id, nodeId) && workloadById(tx, id)
  }
  // A job that ended after the node looked knows better than its report.
  const isNews = (id: string) => !hasEndedSince(tx, id, at - AGE_MS)
  const isQuiet = (id: string) => isNews(id) && !isHeldByJob(tx, id)
  const { held, ended, isTooMany } = takeClaims(
    tx,
    nodeId,
    named,
    {
      wordsFor(id) {
        const workload = isHere(id)
        const who = workload ? `${workload.hostname} (${id}), whose record lacks it` : `the unknown server ${id}`
        return `On ${name}, by ${who}`
      },
      isNews,
      // While a job works on it, its addresses are about to be where they belong.
      isElsewhere: (id) => !isHere(id) && workloadById(tx, id) !== undefined && isQuiet(id),
      // A floating address of a known server may be on its way.
      conflicts: (id, holder, isFloating) => isQuiet(holder) && (!isHere(id) || (isQuiet(id) && !isFloating)),
    },
    clock(),
  )
  auditIt(tx, clock, nodeId, ADDRESSES_HELD, held)
  auditIt(tx, clock, nodeId, ADDRESSES_FREED, ended)
  if (!isTooMany) awaitNoLonger(tx, nodeId)
  return !isTooMany
}

function auditIt(tx: Tx, clock: Clock, nodeId: string, operation: string, addresses: readonly string[]) {
  if (!addresses.length) return
  auditLine(
    tx,
    { clock },
    {
      actor: system,
      operation,
      target: nodeId,
      from: '',
      requestId: '',
      result: 'done',
      details: { addresses: addresses.slice(0, MOST_AUDITED), count: addresses.length },
    },
  )
}
