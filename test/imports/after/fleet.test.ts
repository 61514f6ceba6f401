// Moving a fleet: hypervisor by hypervisor, the panel itself last.
import { expect, test } from 'bun:test'
import { fleetOrder } from '../../../src/imports/fleet/order.ts'
import type { StateCounts } from '../../../src/imports/import-records/fleet/queries.ts'

const row = (sourceId: string, values: object = {}) => ({
  ...{ sourceId, name: `kvm-${sourceId}`, address: `192.0.2.${sourceId}`, isPanel: false },
  ...{ choice: 'leave_out' as const, ...values },
})
const leftOut = (n: number): StateCounts => ({ left_out: n, leftOutWithIt: n })
const order = (rows: ReturnType<typeof row>[], counts: Record<string, StateCounts>, isEnded = false) =>
  fleetOrder(rows, new Map(Object.entries(counts)), isEnded)
const turnsOf = (rows: ReturnType<typeof order>) => rows.map(({ row, turn }) => `${row.name} ${turn}`)

const master = row('1', { isPanel: true })
const now = row('2', { choice: 'copy' })

test(
  'Use Leave out of this import on every hypervisor except the one being moved; migrate, verify, finish; start a new ' +
    'import for the next one',
  () => {
    const rows = [master, now, row('3'), row('4')]
    const counts = { '1': leftOut(5), '2': { ready: 3, leftOutWithIt: 0 }, '3': leftOut(9), '4': leftOut(2) }
    const found = order(rows, counts)
    expect(turnsOf(found)).toEqual(['kvm-2 now', 'kvm-4 next', 'kvm-3 later', 'kvm-1 last'])
    expect(found[1]!.words).toBe('The next one, with 2 servers: start a new import, and leave the others out of it.')
  },
)

test(
  'Do the master last: the source software is not removed from the master while any server on other hypervisors ' +
    'still depends on it.',
  () => {
    const rows = [master, now, row('3')]
    const before = order(
      rows,
      { '1': { moved: 4, leftOutWithIt: 0 }, '2': leftOut(1), '3': { refused: 2, leftOutWithIt: 0 } },
      true,
    )
    expect(before.find(({ row }) => row.isPanel)).toMatchObject({
      turn: 'done',
      keep: ['It is the panel itself, and 3 servers on other hypervisors still depend on it.'],
    })
    const after = order(
      rows,
      { '1': { already_moved: 4, leftOutWithIt: 0 }, '2': { moved: 1, leftOutWithIt: 0 } },
      true,
    )
    expect(after.find(({ row }) => row.isPanel)!.keep).toEqual([])
    expect(turnsOf(order(rows, { '1': leftOut(4), '2': { moved: 1, leftOutWithIt: 0 } }, true))[0]).toBe('kvm-1 next')
  },
)

test('servers moved earlier count as moved, and leave nothing to do', () => {
  const [found] = order([row('2')], { '2': { already_moved: 7, leftOutWithIt: 0 } })
  expect(found).toMatchObject({ turn: 'done', movedBefore: 7, left: 0, keep: [], words: 'Empty: 7 servers moved.' })
})

test('while its servers can be rolled back, or are there, the software of the other panel stays', () => {
  const counts = { '2': { moved: 3, refused: 1, leftOutWithIt: 0 } }
  expect(order([now], counts)[0]!.keep).toEqual([
    '1 server is still on it.',
    'Its servers can still be rolled back, until the import is finished.',
  ])
  expect(order([now], counts, true)[0]).toMatchObject({ turn: 'stays', keep: ['1 server is still on it.'] })
})
