// Placement looks at few nodes, in an order that the database keeps. It chooses as a look at all of them would.
import { expect, test } from 'bun:test'
import { locationById } from '../../../src/fleet/locations/queries.ts'
import { byRuleOf } from '../../../src/fleet/placement/candidates.ts'
import { capacityIn } from '../../../src/fleet/placement/capacity.ts'
import type { GroupRule } from '../../../src/fleet/placement/group-rule.ts'
import { type Need, placeIn, shortageOn } from '../../../src/fleet/placement/placement.ts'
import { ApiError } from '../../../src/kernel/api/errors.ts'
import { copyNodes, nodesOf } from '../../support/load/many-nodes.ts'
import { seeded } from '../../support/random/seeded.ts'
import { type World, world } from '../../support/world/panel.ts'

const need: Need = { memoryMb: 4096, diskGb: 20, storageClass: null, ipv4: 0, ipv6Prefix: null }

/** The name of the node that is taken, or the code of the refusal. */
function taken(p: World, live: ReturnType<typeof nodesOf>, group?: GroupRule): string {
  try {
    const location = locationById(p.db, p.location)!
    return placeIn(p.db, location, { ...need, group }, { nodes: live, namesNodes: true }).node.name
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.code
  }
}
/** The same by a look at every node. */
function expected(p: World, live: ReturnType<typeof nodesOf>, group?: GroupRule): string {
  const location = locationById(p.db, p.location)!
  const fitting = capacityIn(p.db, p.location)
    .filter((node) => shortageOn(node, need, live) === undefined)
    .toSorted(byRuleOf(location))
  const keeping = fitting.find(({ id }) => group?.brokenBy(id) === undefined)
  if (keeping) return keeping.name
  return (group?.hard ? undefined : fitting[0]?.name) ?? (fitting.length ? 'placement_group_unmet' : 'no_capacity')
}

test('the order of nodes is kept through every change, and the choice is that of a look at all', async () => {
  using p = await world()
  const ids = copyNodes(p, 60)
  const random = seeded(31)
  const below = (n: number) => Math.floor(random() * n)
  const sql = (text: string, ...values: (string | number | null)[]) => p.db.$client.run(text, values)
  const changes: ((id: string) => void)[] = [
    (id) => sql('UPDATE nodes SET open = 1 - open WHERE id = ?', id),
    (id) => sql('UPDATE nodes SET memory_mb = ? WHERE id = ?', below(5) * 4096, id),
    (id) => sql('UPDATE nodes SET reserved_memory_mb = ? WHERE id = ?', below(3) * 2048, id),
    (id) => sql('UPDATE nodes SET name = ? WHERE id = ?', `n${below(1e9)}`, id),
    (id) => sql('UPDATE nodes SET removed_at = iif(removed_at IS NULL, 1, NULL) WHERE id = ?', id),
    (id) =>
      sql(
        'INSERT INTO node_held VALUES (?1, 1, ?2, 0) ON CONFLICT DO UPDATE SET memory_mb = ?2',
        ...[id, below(8) * 2048],
      ),
    (id) => sql('DELETE FROM node_held WHERE node_id = ?', id),
    () => sql("UPDATE locations SET placement = iif(placement = 'spread', 'fill', 'spread')"),
  ]
  const outcomes = new Set<string>()
  for (let round = 0; round < 1500; round++) {
    changes[below(changes.length)]!(ids[below(ids.length)]!)
    if (round % 50 === 0) sql('UPDATE nodes SET memory_mb = ?', round % 100 ? 2048 : 16_384)
    const wrong = p.db.$client
      .query(
        'SELECT * FROM node_spaces EXCEPT SELECT * FROM node_spaces_due UNION ALL ' +
          'SELECT * FROM (SELECT * FROM node_spaces_due EXCEPT SELECT * FROM node_spaces)',
      )
      .all()
    expect(wrong).toEqual([])
    const away = new Set(ids.filter(() => random() < 0.4))
    const live = nodesOf((id) => !away.has(id))
    const members = new Set(ids.filter(() => random() < 0.1))
    const together = below(2) === 1
    const group: GroupRule = {
      name: 'web',
      hard: below(2) === 1,
      nodeIds: together ? [...members] : undefined,
      brokenBy: (id) => (members.has(id) === together ? undefined : 'breaks it'),
    }
    const now = [taken(p, live), taken(p, live, group)]
    expect([round, ...now]).toEqual([round, expected(p, live), expected(p, live, group)])
    for (const one of now) outcomes.add(one)
  }
  expect(outcomes.size).toBeGreaterThan(30)
  expect(outcomes).toContain('no_capacity')
  expect(outcomes).toContain('placement_group_unmet')
}, 60_000)

test('an order in a location of 10,000 nodes reads a few of them', async () => {
  using p = await world()
  copyNodes(p, 10_000)
  const plan = p.db.$client
    .query(
      'EXPLAIN QUERY PLAN SELECT node_id FROM node_spaces WHERE location_id = ? AND (rank, name) > (?, ?) ' +
        'ORDER BY rank, name LIMIT 4',
    )
    .all()
    .map((row: any) => row.detail)
  expect(plan).toEqual([
    'SEARCH node_spaces USING COVERING INDEX node_spaces_in_order (location_id=? AND (rank,name)>(?,?))',
  ])
  const asked = new Set<string>()
  const counted = nodesOf((id) => asked.add(id) !== undefined)
  expect(taken(p, counted)).toBe('copy-00001')
  expect(asked.size).toBeLessThan(10)
}, 60_000)

test('why a large location refuses is judged once for all who ask for the same', async () => {
  using p = await world()
  copyNodes(p, 1001)
  const location = locationById(p.db, p.location)!
  const live = nodesOf(() => true)
  let judged = 0
  const counting = { ...live, heartbeat: () => void judged++ }
  const ask = (memoryMb: number, namesNodes = true) => {
    try {
      return placeIn(p.db, location, { ...need, memoryMb }, { nodes: counting, namesNodes }).node.name
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return error.message
    }
  }
  const tooMuch = 2 ** 29
  const first = ask(tooMuch)
  expect(first).toContain('no memory left')
  expect(judged).toBeGreaterThan(1000)
  judged = 0
  expect(ask(tooMuch)).toBe(first)
  expect(judged).toBe(0)
  // Customers get other words, and another need is judged on its own.
  expect(ask(tooMuch, false)).not.toContain('no memory left')
  expect(ask(tooMuch + 1)).toContain('no memory left')
  expect(judged).toBeGreaterThan(2000)
  // A node that has space is found at once.
  p.db.$client.run('UPDATE nodes SET memory_mb = ? WHERE id = ?', [2 ** 30, p.node.id])
  expect(ask(tooMuch + 1)).toContain('fra-01')
})
