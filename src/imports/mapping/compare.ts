// Compares what is decided with what is here now. Accounts, pools, packages and addresses come and go while an operator
// decides for a week: a choice that does not hold any more is undone and waits for a person, and a server whose
// addresses or billing id something else has is marked, as are those for which a reseller has no quota left. The dry
// run and the start call it; the clock does after each change.
import type { Clock } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { Slices } from '../../kernel/slices.ts'
import { usesOfAddress } from '../../network/ip-pools/queries.ts'
import { type Network, toNumber } from '../../network/ip-pools/ranges.ts'
import { canMeet, isPrivateRange } from '../../network/ip-pools/scope.ts'
import {
  type KeptAddress,
  keptAddresses,
  noteConflict,
  serversInConflict,
  settle,
} from '../import-records/choices/queries.ts'
import { isHeldForImport } from '../import-records/held-addresses.ts'
import {
  everyRow,
  hypervisorRows,
  type ImportHypervisor,
  type ImportPackage,
  type ImportRange,
  ownerRows,
  packageRows,
  rangeRows,
} from '../import-records/inventory/queries.ts'
import type { ImportRecord } from '../import-records/model.ts'
import { changeImport, importById, noteIn, noteMapped } from '../import-records/queries.ts'
import { claimConflicts } from './claims/claims.ts'
import { Facts } from './facts.ts'
import { locationFor, offersOfHypervisor } from './hypervisors.ts'
import { conflictOf, lapsedReason } from './owners.ts'
import { offersOfPackage } from './packages.ts'
import { offersOfRange, poolOf } from './ranges.ts'

const OWNERS_AT_ONCE = 25
const SERVERS_AT_ONCE = 500

/** How many choices were undone, and how many servers something stands against. */
export type Compared = { lapsed: number; conflicts: number }

/** Undefined: the import has ended, or was read anew meanwhile. Others are served between the slices. */
export async function compare(db: Db, app: { clock: Clock }, importId: string): Promise<Compared | undefined> {
  const slices = new Slices()
  const begun = importById(db, importId)
  if (!begun?.read) return undefined
  const isSame = (row: ImportRecord | undefined): row is ImportRecord =>
    row !== undefined && row.reading === begun.reading && row.status !== 'cancelled'
  const change = <T>(work: (tx: Tx, row: ImportRecord) => T): { is: T } | undefined =>
    write(db, (tx): { is: T } | undefined => {
      const row = importById(tx, importId)
      return isSame(row) ? { is: work(tx, row) } : undefined
    })
  let lapsed = change((tx, row) => lapseRows(tx, app, row))?.is ?? 0
  for (let at: string | undefined = ''; at !== undefined; ) {
    const from: string = at
    const turn = change((tx, row) => {
      const rows = ownerRows.from(tx, importId, from, OWNERS_AT_ONCE + 1)
      const n = rows.slice(0, OWNERS_AT_ONCE).filter((one) => lapseOwner(tx, app, row, one)).length
      return { n, next: rows[OWNERS_AT_ONCE]?.sourceId }
    })?.is
    lapsed += turn?.n ?? 0
    at = turn?.next
    if (slices.isOver) await slices.rest()
  }
  const addresses = await conflictsIn(db, importId, slices)
  const claims = await claimConflicts(db, importId, slices)
  const conflicts = new Map<string, { addresses?: string; claims?: string }>()
  for (const [id, words] of addresses) conflicts.set(id, { addresses: words })
  for (const [id, words] of claims) conflicts.set(id, { ...conflicts.get(id), claims: words })
  const before = serversInConflict(db, importId).filter((id) => !conflicts.has(id))
  const now = [...before.map((id) => [id, undefined] as const), ...conflicts]
  for (let i = 0; i < now.length; i += SERVERS_AT_ONCE) {
    change((tx) => {
      for (const [id, words] of now.slice(i, i + SERVERS_AT_ONCE)) noteConflict(tx, id, words)
    })
    if (slices.isOver) await slices.rest()
  }
  change((tx, row) => {
    if (lapsed) noteMapped(tx, importId)
    // A choice that was made meanwhile is compared at the next turn.
    const isLatest = row.mappingVersion === begun.mappingVersion
    changeImport(tx, importId, { comparedVersion: isLatest && lapsed ? row.mappingVersion + 1 : begun.mappingVersion })
  })
  return { lapsed, conflicts: conflicts.size }
}

/** Takes back choices of packages, hypervisors and ranges that are not offered any more; answers how many. */
function lapseRows(tx: Tx, app: { clock: Clock }, target: ImportRecord): number {
  const facts = new Facts(tx, target)
  let n = 0
  const lapse = (name: string, words: string, back: () => void) => {
    back()
    noteIn(tx, target.id, app.clock(), 'warning', `${name} waits for a decision again. ${words}`)
    n++
  }
  for (const row of [...everyRow(tx, 'packages', target.id)]) {
    const words = row.choice && packageLapse(facts, row)
    if (words) lapse(row.name, words, () => packageRows.change(tx, row, { choice: null, packageId: null }))
  }
  for (const row of facts.hypervisors) {
    const words = row.choice && hypervisorLapse(facts, row)
    if (words) lapse(row.name, words, () => hypervisorRows.change(tx, row, { choice: null, locationId: null }))
  }
  if (n) facts.forgetHypervisors()
  for (const row of [...everyRow(tx, 'ranges', target.id)]) {
    const words = row.choice && rangeLapse(facts, row)
    if (words) lapse(row.name, words, () => rangeRows.change(tx, row, { choice: null, poolId: null }))
  }
  if (n) settle(tx, target.id)
  return n
}

function packageLapse(facts: Facts, row: ImportPackage): string | undefined {
  if (row.choice === 'leave_out') return undefined
  const own = facts.packages.find(({ id }) => id === row.packageId)
  if (row.choice === 'own' && !own) return 'The package that was chosen is archived.'
  const one = offersOfPackage(facts, row, own).find(({ choice }) => choice === row.choice)!
  return one.isOffered ? undefined : one.words
}
function hypervisorLapse(facts: Facts, row: ImportHypervisor): string | undefined {
  if (row.choice === 'copy' && !facts.locations.some(({ id }) => id === row.locationId))
    return 'The location that was chosen is gone.'
  const one = offersOfHypervisor(facts, row).find(({ choice }) => choice === row.choice)!
  return one.isOffered ? undefined : one.words
}
function rangeLapse(facts: Facts, row: ImportRange): string | undefined {
  if (row.choice === 'pool' && poolOf(facts, row)?.id !== row.poolId)
    return 'The range is not part of the pool any more that was chosen.'
  // Adopted servers keep their addresses whatever was chosen for copies.
  if (row.choice === 'new' || row.choice === 'leave_out') return undefined
  const one = offersOfRange(facts, row).find(({ choice }) => choice === row.choice)!
  return one.isOffered ? undefined : one.words
}

/** Looks at the owner's conflict again, and takes back a choice that does not hold any more; answers whether it did. */
function lapseOwner(
  tx: Tx,
  app: { clock: Clock },
  target: ImportRecord,
  row: ReturnType<typeof ownerRows.from>[number],
): boolean {
  const found = conflictOf({ tx, target }, row)
  const { conflict, account } = found
  const words = lapsedReason({ tx, target }, row, found)
  const conflictAccountId = account?.id ?? null
  if (words) {
    ownerRows.change(tx, row, { conflict, conflictAccountId, choice: null, accountId: null, lapsed: words })
    settle(tx, target.id, { part: 'owners', sourceIds: [row.sourceId] })
    noteIn(tx, target.id, app.clock(), 'warning', `The owner ${row.name ?? row.email} waits for a decision: ${words}`)
  } else if (conflict !== row.conflict || conflictAccountId !== row.conflictAccountId)
    ownerRows.change(tx, row, { conflict, conflictAccountId })
  return words !== undefined
}

// ---------------------------------------------------------------- addresses
type Held = Network & { serverId: string; hostname: string; text: string }

/** An address or a prefix as the range of single addresses that a server takes. */
function rangeOf({ address, version, prefixLength }: KeptAddress): Network | undefined {
  const found = toNumber(address)
  if (!found || found.version !== version) return undefined
  const width = version === 4 ? 32 : 128
  const bits = version === 6 && prefixLength !== null ? prefixLength : width
  const size = 1n << BigInt(width - bits)
  const first = found.n - (found.n % size)
  return { version, first, last: first + size - 1n, bits }
}

/** Why servers cannot be given the addresses that they keep, by their ids. */
async function conflictsIn(db: Db, importId: string, slices: Slices): Promise<Map<string, string>> {
  const target = importById(db, importId)!
  const facts = new Facts(db, target)
  const places = new Map(facts.hypervisors.map((one) => [one.sourceId, locationFor(facts, one)]))
  const found = new Map<string, string>()
  /** By version and, for private addresses, by location. */
  const held = new Map<string, Held[]>()
  for (let after = ''; ; ) {
    const rows = keptAddresses(db, importId, after, SERVERS_AT_ONCE)
    for (const row of rows) {
      const range = rangeOf(row)
      if (!range) continue
      const text = range.version === 6 && row.prefixLength !== null ? `${row.address}/${row.prefixLength}` : row.address
      const place = places.get(row.hypervisorId)
      const use = usesOfAddress(db, range).find(
        (one) =>
          (place === undefined || canMeet(one.scope, place)) &&
          one.workloadId !== (row.workloadId ?? '') &&
          // The server itself has it, in this import or in an earlier one.
          !(one.workloadId === null && one.holderId === null && isHeldForImport(one.reservedFor)),
      )
      if (use)
        found.set(
          row.serverId,
          use.reservedFor === null
            ? `${text} is in use here${use.workloadId === null ? ' as a floating address' : ''}.`
            : `${text} is reserved here (${use.reservedFor}).`,
        )
      const key = `${range.version} ${isPrivateRange(range) ? (place ?? '') : ''}`
      const list = held.get(key) ?? []
      list.push({ ...range, serverId: row.serverId, hostname: row.hostname, text })
      held.set(key, list)
    }
    if (slices.isOver) await slices.rest()
    // The rows of one server stand together: the last one may have more of them.
    const last = rows.at(-1)?.serverId
    if (rows.length < SERVERS_AT_ONCE || last === undefined) break
    const others = rows.filter(({ serverId }) => serverId !== last)
    after = others.at(-1)?.serverId ?? last
  }
  for (const list of held.values()) {
    list.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
    let widest: Held | undefined
    for (const one of list) {
      if (widest && one.first <= widest.last && one.serverId !== widest.serverId) {
        found.set(one.serverId, `${one.text} belongs to ${widest.hostname} too, in the other panel.`)
        found.set(widest.serverId, `${widest.text} belongs to ${one.hostname} too, in the other panel.`)
      }
      if (!widest || one.last > widest.last) widest = one
    }
    if (slices.isOver) await slices.rest()
  }
  return found
}
