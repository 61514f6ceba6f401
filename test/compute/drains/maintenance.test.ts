import { expect, test } from 'bun:test'
import type { World } from '../../support/world/panel.ts'
import { nodeNamed } from '../transfers/world.ts'
import { drainOf, open, ordered, played, turn } from './world.ts'

const read = (p: World) => p.admin('GET', `/admin/nodes/${p.node.id}/maintenance`)
type Step = { name: string; done: boolean; at: string | null; by: string | null; words: string | null }
const doneOf = ({ steps }: { steps: Step[] }) => steps.filter(({ done }) => done).map(({ name }) => name)
const step = ({ steps }: { steps: Step[] }, wanted: string) => steps.find(({ name }) => name === wanted)!

test('the steps of maintenance follow what happens to the node, from its closing to its opening', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const held = await ordered(p, 'git01')
  await p.admin('POST', `/servers/${held}/snapshots`, { name: 'before' })
  await p.settle()
  const before = await read(p)
  expect(before).toMatchObject({ drain: null, back: null, stopped: [], rolling: null })
  expect(doneOf(before)).toEqual(['cleared', 'quiet', 'opened'])
  expect(step(before, 'stopped').words).toBe('git01 and web01 run still.')

  const { id } = await drainOf(p, { reason: 'Memory is exchanged' })
  const begun = await read(p)
  expect(begun.drain).toMatchObject({ id, state: 'running' })
  expect(step(begun, 'closed')).toMatchObject({ done: true, by: expect.any(String), words: 'Memory is exchanged' })
  expect(step(begun, 'drained')).toMatchObject({ done: false, words: '0 moved and 2 to go' })
  await played(p, id)
  const left = await read(p)
  expect(step(left, 'drained')).toMatchObject({ done: false, words: '1 moved and 1 could not move' })
  expect(left.back).toMatchObject({ servers: 1, cannot: 0, atOnce: 2 })
  await p.admin('POST', `/admin/drains/${id}/actions/evacuate`, { name: 'fra-01' })
  await p.settle()
  await turn(p)
  const empty = await read(p)
  expect(doneOf(empty)).toEqual(['closed', 'drained', 'stopped', 'cleared', 'quiet'])
  expect(step(empty, 'drained').words).toBe('1 moved and 1 stopped with a notice')
  expect(empty.stopped).toEqual([{ id: held, hostname: 'git01' }])
  expect(step(empty, 'answers').words).toBe('It answers now, and was not restarted yet.')

  p.node.agent.disconnect()
  expect(step(await read(p), 'answers')).toMatchObject({
    done: false,
    words: 'It does not answer now: it restarts, is off, or is cut off.',
  })
  p.node.agent.connect()
  await p.settle()
  p.db.$client.run(
    `UPDATE nodes SET facts = json_set(facts, '$.bootedAt', 1800000000000, '$.kernel', '9.9.9') WHERE id = ?`,
    [p.node.id],
  )
  const back = await read(p)
  expect(doneOf(back)).toEqual(['closed', 'drained', 'stopped', 'cleared', 'quiet', 'restarted', 'answers'])
  expect(step(back, 'restarted')).toMatchObject({ at: '2027-01-15T08:00:00.000Z' })
  expect(step(back, 'restarted').words).toMatch(/^Linux \S+ → 9\.9\.9$/)

  await p.admin('POST', `/admin/nodes/${p.node.id}/actions/end-maintenance`, {})
  await p.settle()
  expect(await read(p)).toMatchObject({ drain: null, back: null, stopped: [] })
})

test('a job on the node keeps it from being called quiet', async () => {
  using p = await open()
  await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web01', nodeId: p.node.id })
  expect(step(await read(p), 'quiet')).toMatchObject({
    done: false,
    words: '1 job is at work, such as a backup. Wait for the end.',
  })
  await p.settle()
  expect(step(await read(p), 'quiet').done).toBe(true)
})

test('a node of several that are maintained names the next one', async () => {
  using p = await open()
  const nodeIds = [p.node.id, nodeNamed(p, 'fra-02')]
  const { id } = await p.admin('POST', '/admin/rolling-maintenance', { nodeIds })
  expect((await read(p)).rolling).toEqual({ id, next: { id: nodeIds[1], name: 'fra-02' } })
})
