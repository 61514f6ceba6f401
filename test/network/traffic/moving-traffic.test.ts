// Traffic stays exact while a workload moves: random sequences of stays that open, switch and close, while the nodes'
// reports come late, twice and out of order.
import { expect, test } from 'bun:test'
import { closeStay, openArriving, switchHome } from '../../../src/fleet/workloads/stays/stays.ts'
import { day as DAY } from '../../../src/kernel/db/clock.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { ledgerFaults } from '../../support/ledger.ts'
import { stayFaults } from '../../support/nodes/stays.ts'
import { seeded } from '../../support/random/seeded.ts'
import { type World, world } from '../../support/world/panel.ts'

type Sums = { rxBytes: number; txBytes: number; measuredSeconds: number }
type Report = { nodeId: string; meter: string; days: { workload: string; day: number }[] }

/** A move by hand: `runsOn` is where the guest is, before the record says so and after. */
class Moves {
  home: string
  arriving: string | undefined
  leaving: string[] = []
  runsOn: string
  /** By node and meter: the sums of each day. */
  private meters = new Map<string, { meter: string; days: Map<number, Sums> }>()
  private replaced: Report[] = []
  private waiting: Report[] = []
  private seq = 0
  sent = { rxBytes: 0, txBytes: 0 }

  constructor(
    private p: World,
    private id: string,
    private next: () => number,
  ) {
    this.home = this.runsOn = p.node.id
  }

  private pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.next() * list.length)]
  }

  private meterOf(nodeId: string) {
    let known = this.meters.get(nodeId)
    const meter = Math.floor(this.next() * 2 ** 48)
      .toString(16)
      .padStart(16, '0')
    if (!known) this.meters.set(nodeId, (known = { meter, days: new Map() }))
    return known
  }

  private reportOf(nodeId: string): Report {
    const { meter, days } = this.meterOf(nodeId)
    return { nodeId, meter, days: [...days].map(([day, sums]) => ({ workload: this.id, day, ...sums })) }
  }

  private readonly steps: Record<string, () => void> = {
    flow: () => {
      const [rxBytes, txBytes] = [Math.floor(this.next() * 1e6), Math.floor(this.next() * 1e6)]
      const { days } = this.meterOf(this.runsOn)
      const day = Math.floor(this.p.now() / DAY)
      const before = days.get(day) ?? { rxBytes: 0, txBytes: 0, measuredSeconds: 0 }
      days.set(day, {
        rxBytes: before.rxBytes + rxBytes,
        txBytes: before.txBytes + txBytes,
        measuredSeconds: before.measuredSeconds + 1,
      })
      this.sent.rxBytes += rxBytes
      this.sent.txBytes += txBytes
      this.p.turnClock(1000)
    },
    open: () => {
      const free = [...this.p.agents.keys()].filter((id) => id !== this.home && !this.leaving.includes(id))
      const to = this.arriving === undefined ? this.pick(free) : undefined
      if (to === undefined) return
      write(this.p.db, (tx) => openArriving(tx, this.id, { nodeId: to, pool: 'local', spareDiskGb: 0 }, this.p.now()))
      this.arriving = to
    },
    cutOver: () => {
      if (this.arriving) this.runsOn = this.arriving
    },
    switch: () => {
      if (!this.arriving || this.runsOn !== this.arriving) return
      const home = { nodeId: this.arriving, locationId: this.p.location }
      write(this.p.db, (tx) => switchHome(tx, this.id, home))
      this.leaving.push(this.home)
      this.home = this.arriving
      this.arriving = undefined
    },
    giveUp: () => {
      if (!this.arriving) return
      this.runsOn = this.home
      this.close(this.arriving)
      this.arriving = undefined
    },
    leave: () => {
      const from = this.pick(this.leaving)
      if (from === undefined) return
      this.close(from)
      this.leaving = this.leaving.filter((id) => id !== from)
    },
    measure: () => {
      const nodeId = this.pick([...this.meters.keys()])
      if (nodeId) this.waiting.push(this.reportOf(nodeId))
    },
    deliver: () => {
      const report = this.pick(this.waiting)
      if (!report) return
      this.deliver(report)
      if (this.next() < 0.7) this.waiting.splice(this.waiting.indexOf(report), 1)
    },
    // The node lost its data and counts anew.
    newMeter: () => {
      const nodeId = this.pick([...this.meters.keys()])
      if (!nodeId || this.next() > 0.02) return
      this.replaced.push(this.reportOf(nodeId))
      this.meters.delete(nodeId)
    },
    night: () => {
      if (this.next() < 0.02) this.p.turnClock(DAY)
    },
  }

  private close = (nodeId: string) => write(this.p.db, (tx) => closeStay(tx, this.id, nodeId, this.p.now()))

  private deliver({ nodeId, meter, days }: Report) {
    if (!days.length) return
    const { reports } = this.p.controller
    const inside = reports as unknown as { turns: Map<string, unknown>; write(): void }
    inside.turns.clear()
    reports.take(nodeId, { type: 'traffic', meter, seq: ++this.seq, days } as never)
    while (reports.isBehind) {
      inside.turns.clear()
      inside.write()
    }
  }

  play(steps: number) {
    const names = Object.keys(this.steps)
    for (let i = 0; i < steps; i++) this.steps[this.pick(names)!]!()
    // At last each node is heard of once more, wherever the workload is by then.
    for (const report of [...this.replaced, ...[...this.meters.keys()].map((id) => this.reportOf(id))])
      this.deliver(report)
  }
}

for (const seed of [1, 2, 3, 4])
  test(`no byte is counted twice and none is lost in 1,500 random steps (seed ${seed})`, async () => {
    using p = await world()
    for (let i = 2; i <= 6; i++) p.attach(p.pool, p.addNode(p.location, `fra-0${i}`).id)
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const moves = new Moves(p, serverId, seeded(seed))
    const intervals = () => p.db.$client.query('SELECT count(*) AS n FROM usage_intervals').get()
    const before = intervals()
    moves.play(1500)
    const sum = `SELECT sum(rx_bytes) AS rxBytes, sum(tx_bytes) AS txBytes FROM traffic_days WHERE workload_id = ?`
    expect(p.db.$client.query(sum).get(serverId)).toEqual(moves.sent)
    expect(moves.sent.rxBytes).toBeGreaterThan(1e7)
    const switched = p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM workload_past_stays').get()!.n
    expect(switched).toBeGreaterThan(3)
    // A move by hand has no job.
    expect(stayFaults(p.db).filter((words) => !words.includes('no job works on it'))).toEqual([])
    expect([intervals(), ledgerFaults(p.db)]).toEqual([before, []])
    for (const [id] of p.agents) expect((await p.admin('GET', `/admin/nodes/${id}`)).misconduct).toEqual([])
  })
