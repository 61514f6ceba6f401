// Suggestions on random fleets: they never make a fleet worse, never break a hard group, and come to an end.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fullness, type Load, relieve } from '../../../src/fleet/placement/relief.ts'

type Placed = { id: string; memoryMb: number; diskGb: number; nodeId: string; group: number | null }

const fleet = fc.record({
  nodes: fc.array(fc.record({ memoryMb: fc.integer({ min: 4, max: 40 }), diskGb: fc.integer({ min: 10, max: 200 }) }), {
    minLength: 2,
    maxLength: 6,
  }),
  servers: fc.array(
    fc.record({
      memoryMb: fc.integer({ min: 1, max: 8 }),
      diskGb: fc.integer({ min: 1, max: 30 }),
      // Most are on the first node, so that it is full where others are not.
      node: fc.constantFrom(0, 0, 0, 1, 2),
      group: fc.option(fc.nat({ max: 2 })),
    }),
    { minLength: 6, maxLength: 25 },
  ),
  limit: fc.constantFrom(0.5, 0.8, 0.9),
  most: fc.integer({ min: 1, max: 5 }),
})

/** Servers that fit on their node are there; a group has one of each node at most. */
function placed({ nodes, servers }: typeof fleet extends fc.Arbitrary<infer F> ? F : never) {
  const loads: Load[] = nodes.map((node, i) => ({ id: `n${i}`, ...node, heldMemoryMb: 0, heldDiskGb: 0 }))
  const there: Placed[] = []
  for (const [i, { memoryMb, diskGb, node, group }] of servers.entries()) {
    const load = loads[node % loads.length]!
    if (load.heldMemoryMb + memoryMb > load.memoryMb || load.heldDiskGb + diskGb > load.diskGb) continue
    if (group !== null && there.some((other) => other.group === group && other.nodeId === load.id)) continue
    load.heldMemoryMb += memoryMb
    load.heldDiskGb += diskGb
    there.push({ id: `s${i}`, memoryMb, diskGb, nodeId: load.id, group })
  }
  return { loads, there }
}

const fullest = (loads: readonly Load[]) => Math.max(...loads.map(fullness))
const above = (loads: readonly Load[], limit: number) =>
  loads.reduce((sum, load) => sum + Math.max(0, fullness(load) - limit), 0)

const RUNS = 2000

test('suggested moves relieve the full nodes, fill no other up to the limit, and never go back', () => {
  let suggested = 0
  fc.assert(
    fc.property(fleet, (given) => {
      const { limit, most } = given
      const { loads: begun, there } = placed(given)
      let loads: Load[] = begun
      const movedOnce = new Set<string>()
      for (let round = 0; ; round++) {
        expect(round).toBeLessThan(30)
        const isAt = new Map(there.map((server) => [server.id, server]))
        const { moves, loads: after } = relieve<Load, Placed>({
          loads,
          limit,
          most,
          weightsOn: (nodeId) => there.filter((server) => server.nodeId === nodeId),
          takerOf: (server, may) =>
            loads
              .map(({ id }) => id)
              .filter(may)
              .find((id) => !there.some((o) => o.group !== null && o.group === server.group && o.nodeId === id)),
          take: (server, to) => {
            isAt.get(server.id)!.nodeId = to
          },
        })
        expect(moves.length).toBeLessThanOrEqual(most)
        if (!moves.length) return
        suggested += moves.length
        expect(fullest(after)).toBeLessThanOrEqual(fullest(loads))
        expect(above(after, limit)).toBeLessThan(above(loads, limit))
        for (const { weight, to } of moves) {
          expect(movedOnce.has(weight.id)).toBe(false)
          movedOnce.add(weight.id)
          expect(fullness(loads.find(({ id }) => id === to)!)).toBeLessThan(limit)
          expect(fullness(after.find(({ id }) => id === to)!)).toBeLessThan(limit)
        }
        // The sums add up, and no group has two servers on one node.
        for (const { id, heldMemoryMb, heldDiskGb } of after) {
          const here = there.filter(({ nodeId }) => nodeId === id)
          expect([heldMemoryMb, heldDiskGb]).toEqual([
            here.reduce((sum, server) => sum + server.memoryMb, 0),
            here.reduce((sum, server) => sum + server.diskGb, 0),
          ])
          const groups = here.flatMap(({ group }) => (group === null ? [] : [group]))
          expect(new Set(groups).size).toBe(groups.length)
        }
        loads = after
      }
    }),
    { numRuns: RUNS },
  )
  expect(suggested).toBeGreaterThan(RUNS / 4)
})
