// A hypervisor without machines, for tests and demonstrations. Its vms are rows of a database, so they survive kill -9
// of the agent as real ones do. A row that another process changes counts as a change by hand and becomes an event.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { Power, Vm } from '../../protocol/wire.ts'
import type { Disk } from '../storage/storage.ts'
import type { Hypervisor, OffReason, PowerEvent, Seen } from './hypervisor.ts'

type Row = {
  workload: string
  vcpus: number
  disk: string
  seed: string | null
  power: Power
  off: OffReason
  startedAt: number
}

const SCHEMA = `create table if not exists vms (
  workload text primary key, vcpus integer not null, disk text not null, seed text,
  power text not null default 'stopped', off text not null default 'unknown',
  startedAt integer not null default 0, definition text not null) strict`
const EVENTS_EVERY_MS = 100

export class FakeHypervisor implements Hypervisor {
  constructor(
    private db: Database,
    private settings: { bootMs: number } = { bootMs: 20 },
  ) {
    db.run(SCHEMA)
  }

  /**
   * Ends a vm as nobody asked for: its guest shuts it down, or its process is killed. A row that another process
   * changes does the same.
   */
  end(workload: string, off: OffReason) {
    const power = off === 'crashed' ? 'crashed' : 'stopped'
    this.db.run('update vms set power = ?, off = ? where workload = ?', [power, off, workload])
  }

  /** Stops every vm, as a reboot of the host does. */
  powerOff() {
    this.db.run(`update vms set power = 'stopped', off = 'unknown'`)
  }

  async define(vm: Vm, disk: Disk, seedPath: string | undefined) {
    this.db.run(
      `insert into vms (workload, vcpus, disk, seed, definition) values (?1, ?2, ?3, ?4, ?5)
       on conflict (workload) do update set vcpus = ?2, disk = ?3, seed = ?4, definition = ?5`,
      [vm.workload, vm.vcpus, disk.path, seedPath ?? null, JSON.stringify(vm)],
    )
  }

  power = async (workload: string) => this.row(workload)?.power ?? 'absent'

  async start(workload: string) {
    const row = this.row(workload)
    if (!row) throw new Failure('no_vm', `${workload} is not defined on this node`)
    if (row.power === 'running') return
    this.mustHaveFiles(row)
    this.db.run(`update vms set power = 'running', startedAt = ? where workload = ?`, [Date.now(), workload])
  }

  async stop(workload: string, graceSeconds: number) {
    if (graceSeconds > 0 && (await this.power(workload)) === 'running') await Bun.sleep(this.settings.bootMs)
    this.db.run(`update vms set power = 'stopped', off = 'destroyed' where workload = ?`, [workload])
  }

  async growDisk(workload: string, { path }: Disk, sizeBytes: number) {
    if (this.row(workload)?.power !== 'running') throw new Failure('tool_failed', `${workload} is not running`)
    this.db.run('update volumes set sizeBytes = ? where path = ?', [sizeBytes, path])
  }

  async eject(workload: string) {
    this.db.run('update vms set seed = null where workload = ?', [workload])
  }

  async remove(workload: string) {
    this.db.run('delete from vms where workload = ?', [workload])
  }

  async guestAnswers(workload: string) {
    const row = this.row(workload)
    return row?.power === 'running' && Math.abs(Date.now() - row.startedAt) >= this.settings.bootMs
  }

  look = async () => ({ ours: this.rows().map(figuresOf), foreign: [] })

  async *events(signal: AbortSignal): AsyncGenerator<PowerEvent> {
    let known = this.powers()
    while (!signal.aborted) {
      await Bun.sleep(EVENTS_EVERY_MS)
      if (signal.aborted) return
      const now = this.powers()
      for (const workload of new Set([...known.keys(), ...now.keys()])) {
        const power = now.get(workload) ?? 'absent'
        if (power !== (known.get(workload) ?? 'absent'))
          yield { workload, power, at: Date.now(), reason: 'changed on the fake host' }
      }
      known = now
    }
  }

  /**
   * As on a real host, a vm whose disk or seed is missing does not start, so that tests notice a job that forgets one.
   */
  private mustHaveFiles({ workload, disk, seed }: Row) {
    if (!this.db.query('select 1 from volumes where path = ?').get(disk))
      throw new Failure('tool_failed', `${workload}: cannot open ${disk}: no such file`)
    if (seed && !this.db.query('select 1 from seeds where path = ?').get(seed))
      throw new Failure('tool_failed', `${workload}: cannot open ${seed}: no such file`)
  }

  private row = (workload: string) =>
    this.db.query<Row, [string]>('select * from vms where workload = ?').get(workload) ?? undefined
  private rows = () => this.db.query<Row, []>('select * from vms order by workload').all()
  private powers = () => new Map(this.rows().map((row) => [row.workload, row.power]))
}

/** Plausible counters that grow with time, so that graphs and metering have data. */
function figuresOf({ workload, power, off, vcpus, startedAt }: Row): Seen {
  const upMs = power === 'running' ? Math.max(0, Date.now() - startedAt) : 0
  const why = isOff(power) ? { off } : {}
  return {
    id: workload,
    power,
    ...why,
    cpuMs: Math.round(upMs * vcpus * 0.05),
    rxBytes: upMs * 120,
    txBytes: upMs * 480,
  }
}

const isOff = (power: Power) => power === 'stopped' || power === 'crashed'
