// The traffic of each vm by day, added up on the node from counters that may begin anew at any time. The sums are
// cumulative and stay until the controller has stored them: a report that is lost or sent twice changes nothing.
import { randomBytes } from 'node:crypto'
import { openDatabase } from '../database.ts'
import type { TrafficCounters } from '../drivers/traffic/traffic.ts'
import { MOST_TRAFFIC_DAYS, type Traffic } from '../protocol/wire.ts'
import { sleep } from '../sleep.ts'
import type { State } from '../state.ts'

/** Divides a day, so that a sample falls on each midnight in UTC. */
const SAMPLE_EVERY_MS = 30_000
const DAY_MS = 86_400_000
/** Days that the controller has stored are kept so long beside. */
const KEPT_DAYS = 3
/** After so long without a sample nobody knows when the bytes flowed: they are spread evenly, as an estimate. */
const ESTIMATE_AFTER_MS = 300_000
/** The controller takes no older days. */
const MOST_DAYS_SPREAD = 60

const SCHEMA = `
  create table if not exists meter (id text not null, seq integer not null, stored integer not null) strict;
  create table if not exists last (
    workload text primary key, epoch text not null, sent integer not null, received integer not null,
    at integer not null) strict;
  create table if not exists days (
    workload text not null, day integer not null, sent integer not null, received integer not null,
    measured_ms integer not null, seq integer not null, primary key (workload, day)) strict;
  create index if not exists days_seq on days (seq);
  create table if not exists estimates (
    workload text not null, day integer not null, ms integer not null, primary key (workload, day)) strict;
`
type Last = { epoch: string; sent: number; received: number; at: number }
type Day = {
  workload: string
  day: number
  sent: number
  received: number
  measuredMs: number
  estimatedMs: number
  seq: number
}

export class Metering {
  private db
  private sampling: Promise<void> = Promise.resolve()

  constructor(
    path: string,
    private counters: TrafficCounters,
    private state: Pick<State, 'portRules'>,
    private now: () => number = Date.now,
  ) {
    this.db = openDatabase(path, SCHEMA)
    if (!this.db.query('select 1 from meter').get())
      this.db.run('insert into meter values (?, 0, 0)', [randomBytes(8).toString('hex')])
  }

  /** Samples at every half minute of the day until `signal` aborts; `failed` hears of errors. */
  async stay(signal: AbortSignal, failed: (error: unknown) => void) {
    while (!signal.aborted) {
      await this.sample().catch(failed)
      await sleep(SAMPLE_EVERY_MS - (this.now() % SAMPLE_EVERY_MS), signal)
    }
  }

  /** Adds what the counters have counted since the last sample. Throws when they cannot be read. */
  sample(): Promise<void> {
    const turn = this.sampling.catch(() => {}).then(() => this.add())
    this.sampling = turn
    return turn
  }

  /** The last sample of a vm whose rules are removed. */
  async forget(workload: string) {
    const tap = this.state.portRules().find((rules) => rules.workload === workload)?.tap
    if (tap === undefined) return
    await this.sample()
    await this.counters.forget(tap)
    this.db.run('delete from last where workload = ?', [workload])
  }

  /** The days that the controller has not stored yet, oldest change first; undefined where there is none. */
  report(): Traffic | undefined {
    const { id, stored } = this.db.query<{ id: string; stored: number }, []>('select id, stored from meter').get()!
    const days = this.db
      .query<Day, [number, number]>(
        `select workload, day, sent, received, measured_ms as measuredMs, coalesce(ms, 0) as estimatedMs, seq
         from days left join estimates using (workload, day) where seq > ? order by seq limit ?`,
      )
      .all(stored, MOST_TRAFFIC_DAYS)
    const last = days.at(-1)
    if (!last) return undefined
    return {
      type: 'traffic',
      meter: id,
      seq: last.seq,
      days: days.map(({ workload, day, sent, received, measuredMs, estimatedMs }) => ({
        workload,
        day,
        rxBytes: received,
        txBytes: sent,
        measuredSeconds: Math.floor(measuredMs / 1000),
        estimatedSeconds: Math.floor(estimatedMs / 1000),
      })),
    }
  }

  /** The controller has stored everything up to this number. */
  stored(seq: number) {
    this.db.transaction(() => {
      this.db.run('update meter set stored = max(stored, min(?, seq))', [seq])
      this.db.run('delete from days where day < ? and seq <= (select stored from meter)', [
        Math.floor(this.now() / DAY_MS) - KEPT_DAYS,
      ])
      this.db.run(
        `delete from estimates where day < ?
         and not exists (select 1 from days where workload = estimates.workload and day = estimates.day)`,
        [Math.floor(this.now() / DAY_MS) - KEPT_DAYS],
      )
    })()
  }

  close() {
    this.db.close()
  }

  private note(workload: string, { day, ms, sent, received }: Part, isEstimate: boolean) {
    this.db.run('update meter set seq = seq + 1')
    this.db.run(
      `insert into days values (?1, ?2, ?3, ?4, ?5, (select seq from meter)) on conflict (workload, day) do update
       set sent = sent + ?3, received = received + ?4, measured_ms = measured_ms + ?5, seq = (select seq from meter)`,
      [workload, day, sent, received, ms],
    )
    if (isEstimate)
      this.db.run('insert into estimates values (?1, ?2, ?3) on conflict (workload, day) do update set ms = ms + ?3', [
        workload,
        day,
        ms,
      ])
  }

  private async add() {
    const { epoch, ports } = await this.counters.read()
    const now = this.now()
    const last = this.db.query<Last, [string]>('select epoch, sent, received, at from last where workload = ?')
    this.db.transaction(() => {
      for (const { workload, tap } of this.state.portRules()) {
        const { sentBytes = 0, receivedBytes = 0 } = ports.get(tap) ?? {}
        const before = last.get(workload)
        // Counters that began anew lost what they counted since the last sample: that time is not measured.
        const goesOn = before?.epoch === epoch && sentBytes >= before.sent && receivedBytes >= before.received
        const grown = {
          sent: sentBytes - (goesOn ? before.sent : 0),
          received: receivedBytes - (goesOn ? before.received : 0),
        }
        if (goesOn && now > before.at) {
          const isEstimate = now - before.at > ESTIMATE_AFTER_MS
          for (const part of spread(grown, before.at, now)) this.note(workload, part, isEstimate)
        } else {
          const day = Math.floor(((before?.at ?? now) + now) / 2 / DAY_MS)
          this.note(workload, { day, ms: 0, ...grown }, false)
        }
        this.db.run('insert or replace into last values (?, ?, ?, ?, ?)', [
          workload,
          epoch,
          sentBytes,
          receivedBytes,
          now,
        ])
      }
    })()
  }
}

type Bytes = { sent: number; received: number }
type Part = Bytes & { day: number; ms: number }
/** The bytes of a time by its days in UTC, each by its length. Together the parts are all bytes. */
function spread({ sent, received }: Bytes, from: number, to: number): Part[] {
  const since = Math.max(from, to - MOST_DAYS_SPREAD * DAY_MS)
  const share = (bytes: number, until: number) => Math.round(bytes * ((until - since) / (to - since)))
  const parts: Part[] = []
  for (let at = since; at < to; ) {
    const day = Math.floor(at / DAY_MS)
    const until = Math.min(to, (day + 1) * DAY_MS)
    parts.push({
      day,
      ms: until - at,
      sent: share(sent, until) - share(sent, at),
      received: share(received, until) - share(received, at),
    })
    at = until
  }
  return parts
}
