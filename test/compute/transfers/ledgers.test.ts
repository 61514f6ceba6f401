// Traffic and usage stay exact over random moves that work, fail, are cancelled and cut short by crashes, while nodes
// report late.
import { expect, test } from 'bun:test'
import { day as DAY, minute } from '../../../src/kernel/db/clock.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { seeded } from '../../support/random/seeded.ts'
import { withEverything } from './scenarios.ts'
import { move, open, where } from './world.ts'

const MOVES = process.env['BERTH_LONG'] === '1' ? 250 : 25
const steps = ['key', 'receive', 'define', 'mirror', 'stop', 'copy', 'switch', 'give', 'start', 'settle'] as const

for (const seed of [1, 2, 3, 4])
  test(`no byte and no second is lost or doubled in ${MOVES} random moves (seed ${seed})`, async () => {
    using p = await open()
    const next = seeded(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!
    const id = await withEverything(p)
    const { number } = p.server(id)
    const intervals = () => p.db.$client.query('SELECT * FROM usage_intervals WHERE until IS NOT NULL').all()
    const closed = intervals()
    const sent = { rxBytes: 0, txBytes: 0 }
    const nodes = [...p.agents.keys()]
    let finished = 0

    function flow() {
      const { nodeId } = p.server(id)
      const [sentBytes, receivedBytes] = [Math.floor(next() * 1e6), Math.floor(next() * 1e6)]
      p.agents.get(nodeId)!.flow(number, sentBytes, receivedBytes)
      sent.txBytes += sentBytes
      sent.rxBytes += receivedBytes
    }
    for (let i = 0; i < MOVES; i++) {
      for (let n = next() * 4; n > 0; n--) {
        flow()
        p.turnClock(minute)
        if (next() < 0.5) await p.agents.get(pick(nodes))!.meter()
      }
      if (next() < 0.1) p.turnClock(DAY)
      const from = p.server(id).nodeId
      const trouble = next()
      const moment = `move/${pick(steps)}:${pick(['before', 'noted'])}`
      let cut = false
      if (trouble < 0.3)
        p.arm({
          failpoints: (at) => {
            if (cut || at !== moment) return
            cut = true
            throw new InjectedCrash(at)
          },
        })
      else if (trouble < 0.5)
        p.agents
          .get(from)!
          .fault({ command: pick(['transfer.copy', 'transfer.mirror', 'vm.stop']), mode: 'fail', times: 1 })
      const to = pick(nodes.filter((one) => one !== from))
      const { transferId } = await move(p, id, { nodeId: to, mode: pick(['auto', 'cold'] as const) })
      if (trouble > 0.9) await p.admin('POST', `/admin/transfers/${transferId}/actions/cancel`, {}).catch(() => {})
      await p.settle()
      if (cut) await p.crash()
      for (let n = 0; n < 4; n++) await p.settle()
      p.arm({})
      for (const agent of p.agents.values()) agent.fault()
      const { state } = await p.admin('GET', `/admin/transfers/${transferId}`)
      expect(['finished', 'failed', 'cancelled']).toContain(state)
      const isMoved = state === 'finished'
      if (isMoved) finished++
      expect(p.server(id)).toMatchObject({ status: 'running', nodeId: isMoved ? to : from })
      expect(await where(p, id)).toMatchObject({ running: 1, openJobs: [] })
    }
    for (const agent of p.agents.values()) {
      await agent.meter()
      p.turnClock(minute)
      await agent.meter()
    }
    await Bun.sleep(600)
    const sum = 'SELECT sum(rx_bytes) AS rxBytes, sum(tx_bytes) AS txBytes FROM traffic_days WHERE workload_id = ?'
    expect(p.db.$client.query(sum).get(id)).toEqual(sent)
    expect(finished).toBeGreaterThan(MOVES / 4)
    expect(intervals()).toEqual(closed)
    for (const nodeId of nodes) expect((await p.admin('GET', `/admin/nodes/${nodeId}`)).misconduct).toEqual([])
  })
