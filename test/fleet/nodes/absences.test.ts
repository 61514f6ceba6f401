// Nodes that are away: the list finds them, and when each was away is kept, and only so much of it.
import { expect, test } from 'bun:test'
import { world } from '../../support/world/panel.ts'

test('each time without connection is kept with its begin and end, the newest first', async () => {
  using p = await world()
  const absences = async (): Promise<{ from: string; to: string | null }[]> =>
    (await p.admin('GET', `/admin/nodes/${p.node.id}`)).absences
  expect(await absences()).toEqual([])
  p.node.agent.disconnect()
  const [begun] = await absences()
  expect([begun!.to, Math.abs(Date.parse(begun!.from) - p.now()) < 1000]).toEqual([null, true])
  p.turnClock(90_000)
  p.node.agent.connect()
  const [over] = await absences()
  expect(over!.from).toBe(begun!.from)
  expect(Math.round((Date.parse(over!.to!) - Date.parse(over!.from)) / 1000)).toBe(90)
  p.turnClock(1000)
  p.node.agent.disconnect()
  const again = await absences()
  expect([again.length, again[0]!.to, again[1]]).toEqual([2, null, over])
})

test('the newest 100 of a node are kept, and none of one that is removed', async () => {
  using p = await world()
  const { $client } = p.db
  const flip = (at: number) => {
    $client.run('UPDATE nodes SET connected_at = NULL, seen_at = ? WHERE id = ?', [at, p.node.id])
    $client.run('UPDATE nodes SET connected_at = ? WHERE id = ?', [at + 1, p.node.id])
  }
  for (let at = 0; at < 250; at += 2) flip(at)
  const kept = () =>
    $client
      .query<{ n: number; first: number; open: number }, []>(
        'SELECT count(*) AS n, min(since) AS first, count(*) FILTER (WHERE until IS NULL) AS open FROM node_absences',
      )
      .get()
  expect(kept()).toEqual({ n: 100, first: 50, open: 0 })
  $client.run('UPDATE nodes SET removed_at = 1 WHERE id = ?', [p.node.id])
  expect(kept()).toMatchObject({ n: 0 })
})

test('the list of nodes is narrowed to those that are away, or to those that are connected', async () => {
  using p = await world()
  const second = p.addNode(p.location, 'fra-02')
  second.agent.disconnect()
  const names = async (query: string) => {
    const { data, total } = await p.admin('GET', `/admin/nodes?${query}`)
    expect(total).toBe(data.length)
    return data.map(({ name }: { name: string }) => name)
  }
  expect(await names('state=away')).toEqual(['fra-02'])
  expect(await names(`state=connected&locationId=${p.location}`)).toEqual(['fra-01'])
  expect(await names('')).toEqual(['fra-01', 'fra-02'])
  second.agent.connect()
  expect(await names('state=away')).toEqual([])
})
