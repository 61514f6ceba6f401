// S57: at each moment of every kind of job the disk is full from then on. Whatever is refused meanwhile, the job goes
// on by itself when there is space again and ends as if nothing had been: nothing is undone, lost or done twice.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { scenarios } from '../../support/crash-matrix/every-scenario.ts'
import { invariants } from '../../support/crash-matrix/invariants.ts'
import { quickly } from '../../support/quick.ts'
import { world } from '../../support/world/panel.ts'

/** Every moment of every job; without it a fifth of each, and of different ones. */
const long = process.env['BERTH_LONG'] === '1'

const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })

for (const [n, s] of scenarios.entries())
  describe(s.name, () => {
    const { steps } = registry.jobs.find((saga) => saga.kind === s.kind)!
    const moments = steps.flatMap((step) =>
      ['before', ...(step.kind === 'command' ? ['answered'] : []), 'noted'].map((at) => `${s.kind}/${step.name}:${at}`),
    )
    for (const moment of long
      ? moments
      : quickly(
          moments.filter((_, i) => i % 5 === n % 5),
          3,
          n,
        ))
      test(`goes on by itself after the disk was full at ${moment}`, async () => {
        using p = await (s.open ?? world)()
        const before = await s.before(p)
        let was = false
        p.arm({
          failpoints: (at) => {
            if (was || at !== moment) return
            was = true
            p.db.$client.health.met(full)
          },
        })
        const { jobId, serverId } = await s.start(p, before)
        for (let i = 0; i < 100; i++) {
          await p.settle()
          if (p.db.$client.health.trouble) {
            expect(['queued', 'running']).toContain(p.job(jobId!).state)
            p.db.$client.health.check()
          }
          const { state } = p.job(jobId!)
          if (state === 'succeeded' || state === 'failed') break
          await Bun.sleep(1)
        }
        await p.settle()
        expect(p.job(jobId!).state).toBe('succeeded')
        expect(p.controller.runner.interrupted()).toEqual([])
        expect(await (s.measure ?? invariants)(p, serverId)).toMatchObject(s.succeeds)
      })
  })
