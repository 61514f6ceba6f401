// Moves that wait for a time.
import { expect, test } from 'bun:test'
import { beginDue } from '../../../src/compute/transfers/job/due.ts'
import type { World } from '../../support/world/panel.ts'
import { move, nodeNamed, open, order, where } from './world.ts'

const HOUR = 3_600_000
const at = (p: World, ms: number) => new Date(p.now() + ms).toISOString()
const turn = async (p: World, ms: number) => {
  p.turnClock(ms)
  beginDue(p.controller)
  await p.settle()
}
const shown = (p: World, id: string) => p.admin('GET', `/admin/transfers/${id}`)

test('a move waits for its time, holds nothing before, and is planned again then', async () => {
  using p = await open()
  const id = await order(p)
  const startsAt = at(p, HOUR)
  const later = await move(p, id, { nodeId: null, startsAt })
  expect(later).toMatchObject({ jobId: null, to: { name: 'fra-02' }, startsAt })
  await turn(p, HOUR / 2)
  expect(await where(p, id)).toMatchObject({
    stays: ['home on fra-01'],
    held: ['fra-01 holds 1 2048 20'],
    transfers: ['live queued'],
    events: [],
    openJobs: [],
  })
  // It is free for everything else meanwhile.
  await p.admin('POST', `/servers/${id}/actions/power`, { action: 'restart' })
  await p.settle()
  expect((await p.admin('GET', `/admin/servers/${id}/move-options`)).waiting).toMatchObject({
    transferId: later.transferId,
  })
  await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-02')}`, { open: false })
  await turn(p, HOUR / 2)
  expect(await where(p, id)).toMatchObject({
    stays: ['home on fra-03'],
    transfers: ['live finished'],
    events: ['transfer.started', 'transfer.finished'],
  })
  const after = await shown(p, later.transferId)
  expect(after).toMatchObject({ state: 'finished', to: { name: 'fra-03' }, startedBy: { name: 'System' } })
  expect(after.startsAt).toBe(later.startsAt)
})

test('what refuses it at its time is tried again for an hour, and then fails it', async () => {
  using p = await open()
  const id = await order(p)
  const { transferId } = await move(p, id, { startsAt: at(p, HOUR), nodeId: nodeNamed(p, 'fra-02') })
  await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-02')}`, { open: false })
  await turn(p, HOUR)
  const words = 'web01 fits on no other node: fra-02 closed.'
  expect(await shown(p, transferId)).toMatchObject({ state: 'queued', error: words, cancellable: true })
  await turn(p, HOUR + 1000)
  expect(await shown(p, transferId)).toMatchObject({ state: 'failed', error: words })
  expect(await where(p, id)).toMatchObject({ stays: ['home on fra-01'], running: 1, events: ['transfer.failed'] })
  const second = await move(p, id, { startsAt: at(p, HOUR), nodeId: nodeNamed(p, 'fra-02') }).catch(String)
  expect(second).toMatch(/fra-02 closed/)
  const late = await move(p, id, { startsAt: at(p, HOUR), nodeId: nodeNamed(p, 'fra-03') })
  await turn(p, 3 * HOUR)
  expect(await shown(p, late.transferId)).toMatchObject({
    state: 'failed',
    error: 'The panel was not running at its time.',
  })
})

test('it is cancelled, replaced by another move, and ends with its server', async () => {
  using p = await open()
  const id = await order(p)
  const first = await move(p, id, { startsAt: at(p, HOUR) })
  expect(await p.admin('POST', `/admin/transfers/${first.transferId}/actions/cancel`, {})).toMatchObject({
    state: 'cancelled',
  })
  const again = await p.call(p.owner, 'POST', `/admin/transfers/${first.transferId}/actions/cancel`, {})
  expect([again.status, again.body.error.code]).toEqual([409, 'transfer_ended'])
  const second = await move(p, id, { startsAt: at(p, HOUR) })
  const third = await move(p, id, { startsAt: at(p, 2 * HOUR) })
  expect(await shown(p, second.transferId)).toMatchObject({ state: 'cancelled', error: 'Another move took its place.' })
  await move(p, id)
  await p.settle()
  expect((await where(p, id)).transfers).toEqual([
    'live cancelled',
    'live cancelled',
    'live cancelled',
    'live finished',
  ])
  expect((await shown(p, third.transferId)).state).toBe('cancelled')
  const last = await move(p, id, { startsAt: at(p, HOUR), nodeId: p.node.id })
  await p.admin('DELETE', `/servers/${id}?immediately=true`)
  await p.settle()
  await turn(p, HOUR)
  expect(await shown(p, last.transferId)).toMatchObject({ state: 'cancelled', error: 'The server was terminated.' })
})

test('a time that is over or too far ahead is refused, and a dry run leaves nothing', async () => {
  using p = await open()
  const id = await order(p)
  const before = p.fingerprint(['audit', 'brake_counts'])
  for (const ms of [0, -HOUR, 31 * 24 * HOUR]) {
    const { status, body } = await p.call(p.owner, 'POST', `/admin/servers/${id}/actions/move`, {
      startsAt: at(p, ms),
    })
    expect([status, body.error.details.fields[0].field]).toEqual([422, 'startsAt'])
  }
  const dry = await p.admin('POST', `/admin/servers/${id}/actions/move?dryRun=true`, { startsAt: at(p, HOUR) })
  expect(dry).toMatchObject({ transferId: null, jobId: null, to: { name: 'fra-02' } })
  expect(p.fingerprint(['audit', 'brake_counts'])).toBe(before)
})
