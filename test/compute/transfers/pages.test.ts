import { expect, test } from 'bun:test'
import { move, open, order } from './world.ts'

test('the page of a move says how far it is, and what is left', async () => {
  using p = await open()
  const id = await order(p)
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/receive:before') for (const agent of p.agents.values()) agent.disconnect()
    },
  })
  const { jobId, transferId } = await move(p, id)
  await Bun.sleep(50)
  const GIB = 1024 ** 3
  const { liveCopies } = p.controller.app
  liveCopies.take(jobId, { copiedBytes: GIB, totalBytes: 4 * GIB })
  p.turnClock(10_000)
  liveCopies.take(jobId, { copiedBytes: 2 * GIB, totalBytes: 4 * GIB })
  const shown = await p.admin('GET', `/admin/transfers/${transferId}`)
  expect(shown).toMatchObject({ state: 'copying', bytesCopied: 2 * GIB, bytesTotal: 4 * GIB })
  expect(shown.bytesPerSecond).toBeGreaterThan(GIB / 11)
  expect(shown.secondsLeft).toBeGreaterThanOrEqual(19)
  expect(shown.secondsLeft).toBeLessThan(23)
})
