// Traffic and usage stay exact over random moves that work, fail, are cancelled, suspended and cut short by crashes and
// lost nodes, while nodes report late and twice, over borders of hours and days. BERTH_LONG=1: 1,000 moves.
import { expect, test } from 'bun:test'
import { day as DAY, hour, minute } from '../../../src/kernel/db/clock.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { seeded } from '../../support/random/seeded.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { withEverything } from './scenarios.ts'
import { move, open, where } from './world.ts'

const isLong = process.env['BERTH_LONG'] === '1'
const MOVES = isLong ? 100 : 25
/** Those of the usual run have suspensions and lost nodes. */
const SEEDS = isLong ? Array.from({ length: 10 }, (_, i) => i + 1) : [2, 3]
const steps = ['key', 'receive', 'define', 'mirror', 'stop', 'copy', 'switch', 'give', 'start', 'settle'] as const
/** Of one of these the first fails, where the move sends it. */
const failing = ['transfer.copy', 'transfer.begin-migration', 'transfer.mirror', 'vm.stop'] as const

for (const seed of SEEDS)
  test(`no byte and no second is lost or doubled in ${MOVES} random moves (seed ${seed})`, async () => {
    using p = await open()
    const next = seeded(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!
    const id = await withEverything(p)
    const { number } = p.server(id)
    type Span = { state: string; since: number; until: number }
    const intervals = () =>
      p.db.$client
        .query<Span, [string]>(
          `SELECT state, since, until FROM usage_intervals
           WHERE workload_id = ? AND until IS NOT NULL ORDER BY since, id`,
        )
        .all(id)
    const closed = intervals()
    const sent = { rxBytes: 0, txBytes: 0 }
    const nodes = [...p.agents.keys()]
    let finished = 0
    let suspended = 0
    let lost = 0
    let used = 0

    function flow() {
      const { nodeId } = p.server(id)
      const [sentBytes, receivedBytes] = [Math.floor(next() * 1e6), Math.floor(next() * 1e6)]
      p.agents.get(nodeId)!.flow(number, sentBytes, receivedBytes)
      sent.txBytes += sentBytes
      sent.rxBytes += receivedBytes
    }
    /** Every node says that it has the server: the word of its home counts, and no other. */
    function use() {
      const { metrics } = p.controller.app
      const taken = nodes.filter((nodeId) => {
        const before = metrics.recent.taken
        p.agents.get(nodeId)!.say({ type: 'metrics', samples: [{ id, ms: 10_000, fast: [1000, 1, 1, 1, 1] }] })
        return metrics.recent.taken > before
      })
      expect(taken).toEqual([p.server(id).nodeId])
      used++
    }
    for (let i = 0; i < MOVES; i++) {
      for (let n = next() * 4; n > 0; n--) {
        flow()
        use()
        p.turnClock(minute)
        const reporting = p.agents.get(pick(nodes))!
        if (next() < 0.5) await reporting.meter()
        if (next() < 0.2) await reporting.meter()
      }
      if (next() < 0.1) p.turnClock(DAY)
      // The last moment of an hour, so that what follows is in two.
      if (next() < 0.2) p.turnClock(hour - 1 - (p.now() % hour))
      const isSuspended = next() < 0.15
      if (isSuspended) {
        suspended++
        await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
        await p.settle()
      }
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
      else if (trouble < 0.5) p.agents.get(from)!.fault({ command: pick(failing), mode: 'fail', times: 1 })
      const to = pick(nodes.filter((one) => one !== from))
      const isLost = trouble > 0.8 && trouble < 0.86
      if (isLost) {
        // It tells all that it counted before it is lost.
        await p.agents.get(to)!.meter()
        await p.reported()
        p.arm({ failpoints: (at) => void (at === 'move/give:before' && p.agents.get(to)!.disconnect()) })
      }
      const { transferId, jobId } = await move(p, id, {
        nodeId: to,
        mode: pick(['auto', 'near_live', 'cold'] as const),
      })
      if (trouble > 0.9) await p.admin('POST', `/admin/transfers/${transferId}/actions/cancel`, {}).catch(() => {})
      // Past its pivot a move waits for a lost node until it is declared lost.
      const isAway = () => isLost && !p.controller.hub.connected(to)
      const isOver = () => p.job(jobId).finishedAt !== null
      if (isLost) await eventually(() => isAway() || isOver())
      else await p.settle()
      expect(isLost && !isAway() && !isOver()).toBe(false)
      if (cut) await p.crash()
      const lostName = isAway() ? (await p.admin('GET', `/admin/nodes/${to}`)).name : undefined
      if (lostName) await p.admin('POST', `/admin/nodes/${to}/actions/declare-lost`, { name: lostName })
      for (let n = 0; n < 4; n++) await p.settle()
      if (lostName) {
        lost++
        // The real one is refused from now on.
        p.agents.get(to)!.close()
        p.agents.delete(to)
        nodes.splice(nodes.indexOf(to), 1, p.addNode(p.location, `${lostName}-${i}`).id)
        await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: nodes })
      }
      p.arm({})
      for (const agent of p.agents.values()) agent.fault()
      const { state } = await p.admin('GET', `/admin/transfers/${transferId}`)
      expect(['finished', 'failed', 'cancelled']).toContain(state)
      const isMoved = state === 'finished'
      if (isMoved) finished++
      const { status, nodeId } = p.server(id)
      expect({ status, nodeId }).toEqual({ status: isSuspended ? 'suspended' : 'running', nodeId: isMoved ? to : from })
      if (isSuspended) {
        await p.admin('POST', `/servers/${id}/actions/unsuspend`)
        await p.settle()
      }
      expect((await where(p, id)).openJobs).toEqual([])
      expect(await p.agents.get(p.server(id).nodeId)!.host.hypervisor.power(id)).toBe('running')
    }
    for (const agent of p.agents.values()) {
      await agent.meter()
      p.turnClock(minute)
      await agent.meter()
    }
    await p.reported()
    const sum = 'SELECT sum(rx_bytes) AS rxBytes, sum(tx_bytes) AS txBytes FROM traffic_days WHERE workload_id = ?'
    expect(p.db.$client.query(sum).get(id)).toEqual(sent)
    expect(finished).toBeGreaterThan(MOVES / 4)
    expect([suspended, lost].every(Boolean)).toBe(true)
    if (isLong) console.error('seed', seed, { finished, suspended, lost, used })
    // Moves divide no interval; each suspension divides one into three, without a gap.
    const spans = intervals().slice(closed.length)
    const states = Array.from({ length: suspended }, () => ['active', 'suspended']).flat()
    expect(spans.map(({ state }) => state)).toEqual(states)
    for (const [i, { since }] of spans.entries()) if (i) expect(since).toBe(spans[i - 1]!.until)
    for (const nodeId of nodes) expect((await p.admin('GET', `/admin/nodes/${nodeId}`)).misconduct).toEqual([])
  })
