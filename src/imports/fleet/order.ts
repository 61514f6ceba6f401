// A fleet is moved hypervisor by hypervisor, each by an import of its own, and the panel's own machine last: what runs
// on the others depends on it. Pure functions over what the panel has.
import { count } from '../../kernel/words.ts'
import type { StateCounts } from '../import-records/fleet/queries.ts'
import type { ImportHypervisor } from '../import-records/inventory/queries.ts'

/**
 * `now`: this import moves its servers. `done`: no server is left on it. `next`: the one for the next import. `later`:
 * after that one. `last`: it is the panel itself, and others go first. `stays`: none of its servers can come.
 */
export const turns = ['now', 'next', 'later', 'last', 'done', 'stays'] as const
export type Turn = (typeof turns)[number]

export type FleetRow = {
  row: Pick<ImportHypervisor, 'sourceId' | 'name' | 'address' | 'isPanel' | 'choice'>
  /** Moved by this import, and by earlier ones. */
  moved: number
  movedBefore: number
  /** Still at the other panel: it depends on it. */
  left: number
  /** Of those, the ones that this import or another can take. */
  canCome: number
  turn: Turn
  words: string
  /** Why the software of the other panel must not be removed there yet; empty: it may be. */
  keep: string[]
}

type Known = Pick<FleetRow, 'row' | 'moved' | 'movedBefore' | 'left' | 'canCome'>
function known(row: FleetRow['row'], counts: StateCounts | undefined): Known {
  const of = (state: Exclude<keyof StateCounts, 'leftOutWithIt'>) => counts?.[state] ?? 0
  const open = of('waiting') + of('ready') + of('moving') + of('failed') + of('rolled_back')
  return {
    row,
    ...{ moved: of('moved'), movedBefore: of('already_moved') },
    left: open + of('left_out') + of('refused'),
    canCome: open + (counts?.leftOutWithIt ?? 0),
  }
}

/** The hypervisors in the order in which they are moved. `isEnded`: the import is finished. */
export function fleetOrder(
  rows: readonly FleetRow['row'][],
  counts: ReadonlyMap<string, StateCounts>,
  isEnded: boolean,
): FleetRow[] {
  const all = rows.map((row) => known(row, counts.get(row.sourceId)))
  const isNow = ({ row, canCome, moved }: Known) =>
    !isEnded && row.choice !== 'leave_out' && row.choice !== null && canCome + moved > 0
  const waiting = all.filter((one) => one.canCome > 0 && !isNow(one))
  const others = waiting.filter(({ row }) => !row.isPanel)
  // The smallest first: less is away while the way is still new.
  const next = (others.length ? others : waiting).toSorted(
    (a, b) => a.canCome - b.canCome || (a.row.name < b.row.name ? -1 : 1),
  )[0]
  const turnOf = (one: Known): Turn => {
    if (isNow(one)) return 'now'
    if (one.left === 0) return 'done'
    if (one.canCome === 0) return 'stays'
    if (one === next) return 'next'
    return one.row.isPanel ? 'last' : 'later'
  }
  return all
    .map((one): FleetRow => {
      const turn = turnOf(one)
      const elsewhere = all.filter((other) => other !== one).reduce((sum, { left }) => sum + left, 0)
      return { ...one, turn, words: wordsOf(one, turn), keep: keepWords(one, elsewhere, isEnded) }
    })
    .toSorted(
      (a, b) =>
        turns.indexOf(a.turn) - turns.indexOf(b.turn) || a.canCome - b.canCome || (a.row.name < b.row.name ? -1 : 1),
    )
}

function wordsOf({ left, canCome, moved, movedBefore }: Known, turn: Turn): string {
  const gone = moved + movedBefore
  switch (turn) {
    case 'now':
      return `This import moves it: ${count(moved, 'server')} moved, ${canCome} still to come.`
    case 'next':
      return `The next one, with ${count(canCome, 'server')}: start a new import, and leave the others out of it.`
    case 'later':
      return `Later, with ${count(canCome, 'server')}.`
    case 'last':
      return 'The panel itself, last: the other hypervisors depend on it.'
    case 'done':
      return gone ? `Empty: ${count(gone, 'server')} moved.` : 'Empty.'
    case 'stays':
      return `Nothing more of it can come: ${count(left, 'server stays', 'servers stay')} there.`
  }
}

function keepWords({ row, left, moved }: Known, elsewhere: number, isEnded: boolean): string[] {
  return [
    ...(left ? [`${count(left, 'server is', 'servers are')} still on it.`] : []),
    ...(row.isPanel && elsewhere
      ? [
          `It is the panel itself, and ${count(elsewhere, 'server', 'servers')} on other hypervisors still ` +
            `${elsewhere === 1 ? 'depends' : 'depend'} on it.`,
        ]
      : []),
    ...(moved && !isEnded ? ['Its servers can still be rolled back, until the import is finished.'] : []),
  ]
}
