// The key of a move is let in for two hours, and renewed by the clock while the move goes on.
import { expect, test } from 'bun:test'
import { transfersFeature } from '../../../src/compute/transfers/feature.ts'
import { KEY_VALID_MS } from '../../../src/compute/transfers/job/moving.ts'
import { RENEW_EVERY_MS, renewKeys } from '../../../src/compute/transfers/job/renewal.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { move, nodeNamed, open, order, where } from './world.ts'

const renew = (p: World) => renewKeys({ db: p.db, app: p.controller.app, hub: p.controller.hub })
const target = (p: World) => p.agents.get(nodeNamed(p, 'fra-02'))!
/** The end of the key on the target; null without one. */
const endOf = (p: World) => target(p).host.state.transfers()[0]?.receive?.expiresAt ?? null

/** Its end is two hours ahead, but for the moments of this test. */
const isFresh = (p: World) => Math.abs((endOf(p) ?? 0) - p.now() - KEY_VALID_MS) < RENEW_EVERY_MS / 10

/** A move whose copy hangs on the source. */
async function copying(p: World) {
  p.node.agent.fault({ command: 'transfer.mirror', mode: 'hang' })
  const id = await order(p)
  const { transferId } = await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), mode: 'near_live' })
  const isMirroring = () =>
    p.db.$client.query("SELECT 1 FROM jobs WHERE step_name = 'Copying its disks while it runs'").get() !== null
  await eventually(isMirroring)
  expect(isMirroring()).toBe(true)
  return { id, transferId }
}

test('it is renewed long before its end, as often as its feature says', () => {
  const planned = transfersFeature.schedule?.find(({ work }) => work === (renewKeys as unknown))
  expect(planned).toMatchObject({ everyMs: RENEW_EVERY_MS })
  expect(RENEW_EVERY_MS * 6).toBeLessThanOrEqual(KEY_VALID_MS)
})

test('a copy of a day goes on: at each renewal its end is two hours ahead, and it ends with the move', async () => {
  using p = await open()
  const { id } = await copying(p)
  expect(isFresh(p)).toBe(true)
  for (let at = 0; at < 144; at++) {
    p.turnClock(RENEW_EVERY_MS)
    await renew(p)
    expect(isFresh(p)).toBe(true)
  }
  p.node.agent.fault()
  p.node.agent.restart()
  await p.settle()
  expect(await where(p, id)).toMatchObject({ stays: ['home on fra-02'], transfers: ['near_live finished'] })
  expect(endOf(p)).toBeNull()
  await renew(p)
  expect(endOf(p)).toBeNull()
})

test('while the target is away nothing is sent, and a key that has expired meanwhile is let in again', async () => {
  using p = await open()
  await copying(p)
  const before = endOf(p)
  target(p).disconnect()
  p.turnClock(RENEW_EVERY_MS)
  await renew(p)
  expect(endOf(p)).toBe(before)
  target(p).connect()
  await renew(p)
  expect(isFresh(p)).toBe(true)
})

test('a move that waits for others, or for its time, has no key to renew', async () => {
  using p = await open()
  const id = await order(p)
  const startsAt = new Date(p.now() + 3_600_000).toISOString()
  await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), startsAt })
  await renew(p)
  expect(endOf(p)).toBeNull()
  expect(target(p).host.state.transfers()).toEqual([])
})
