// Container instances without an engine, for tests and demonstrations. They are rows of a database, so they survive
// kill -9 of the agent as real ones do. A row that another process changes counts as a change by hand and is an event.
import type { Database } from 'bun:sqlite'
import { progress, say } from '../../controller-link/job-log.ts'
import { Failure } from '../../failure.ts'
import type { Container, ContainerEnd, ContainerEngine, ContainerImage } from '../../protocol/gpu.ts'
import type { Power } from '../../protocol/wire.ts'
import type { OffReason, Usage } from '../hypervisor/hypervisor.ts'
import type { ContainerEvent, Containers, Given, Login, SeenContainer, TroublesSince } from './container.ts'
import { identityOf } from './identity.ts'
import { mustBeAlone } from './ids.ts'

type Row = {
  workload: string
  number: number
  definition: string
  identity: string
  power: Extract<Power, 'running' | 'stopped'>
  off: OffReason
  end: string | null
  startedAt: number
  starts: number
}

const SCHEMA = `
  create table if not exists container_images (id text primary key, reference text not null) strict;
  create table if not exists containers (
    workload text primary key, number integer not null, definition text not null, identity text not null,
    power text not null default 'stopped', off text not null default 'destroyed', "end" text,
    startedAt integer not null default 0, starts integer not null default 0) strict`
const EVENTS_EVERY_MS = 150
/** The name of a registry under this domain never exists (RFC 2606). */
const NOWHERE = '.invalid'

export type FakeContainerSettings = { imageBytes: number; bootMs: number; engineProblems: string[] }

export class FakeContainers implements Containers {
  constructor(
    private db: Database,
    private settings: FakeContainerSettings = { imageBytes: 2 ** 31, bootMs: 20, engineProblems: [] },
    private troublesSince: TroublesSince = () => [],
  ) {
    db.run(SCHEMA)
  }

  engine = async (): Promise<ContainerEngine> => ({
    name: 'fake',
    version: '1.0',
    problems: this.settings.engineProblems,
  })

  /**
   * Ends a container as nobody asked for: its command ends, is killed, or the host's memory is full. A row that another
   * process changes does the same.
   */
  end(workload: string, end: Partial<ContainerEnd> = {}) {
    const row = this.mustHave(workload)
    const known = { exitCode: 1, oomKilled: false, detail: 'The command ended.', ...end }
    const { cards } = JSON.parse(row.definition) as Container
    const detail = [known.detail, ...this.troublesSince(cards, row.startedAt)].join(' ')
    this.db.run(`update containers set power = 'stopped', off = 'crashed', "end" = ? where workload = ?`, [
      JSON.stringify({ ...known, detail }),
      workload,
    ])
  }

  private output = new Map<string, string>()
  /** For tests: the container's program writes whole lines, kept for as long as this process lives. */
  write = (workload: string, text: string) => void this.output.set(workload, (this.output.get(workload) ?? '') + text)

  /** Stops every container, as a reboot of the host does. */
  powerOff() {
    this.db.run(`update containers set power = 'stopped', off = 'unknown', "end" = null where power = 'running'`)
  }

  async ensureImage({ id, reference, mostBytes }: ContainerImage, login: Login | undefined) {
    const { imageBytes } = this.settings
    const registry = reference.split('/')[0] ?? ''
    if ((await this.hasImage(id)) && this.referenceOf(id) === reference) return { sizeBytes: imageBytes }
    if (registry.split(':')[0]!.endsWith(NOWHERE))
      throw new Failure('registry_unreachable', `there is no registry called ${registry}`)
    if (login && login.password === '') throw new Failure('registry_refused', `${registry} refuses the login`)
    if (imageBytes > mostBytes)
      throw new Failure('image_too_large', `the image has ${imageBytes} bytes, ${mostBytes} are allowed`)
    say('info', `Downloading ${reference} (fake)`)
    progress(50)
    this.db.run('insert or replace into container_images values (?, ?)', [id, reference])
    progress(100)
    return { sizeBytes: imageBytes }
  }

  async removeImage(id: string) {
    this.db.run('delete from container_images where id = ?', [id])
  }

  hasImage = async (id: string) => this.referenceOf(id) !== undefined

  async create(container: Container, given: Given) {
    const { workload, number } = container
    const identity = identityOf(container, given, this.referenceOf(container.image))
    if (this.row(workload)?.identity === identity) return
    if (!(await this.hasImage(container.image)))
      throw new Failure(
        'no_container_image',
        `image ${container.image} is not on this node; container-image.ensure comes before container.create`,
      )
    mustBeAlone({ workload, number }, this.rows())
    this.db.run(
      `insert into containers (workload, number, definition, identity) values (?1, ?2, ?3, ?4)
       on conflict (workload) do update set number = ?2, definition = ?3, identity = ?4, power = 'stopped',
         off = 'destroyed', "end" = null`,
      [workload, number, JSON.stringify(container), identity],
    )
  }

  power = async (workload: string): Promise<Power> => this.row(workload)?.power ?? 'absent'

  async start(workload: string) {
    const { power } = this.mustHave(workload)
    if (power !== 'running')
      this.db.run(
        `update containers set power = 'running', "end" = null, startedAt = ?, starts = starts + 1 where workload = ?`,
        [Date.now(), workload],
      )
  }

  async stop(workload: string, graceSeconds: number) {
    if (graceSeconds > 0 && (await this.power(workload)) === 'running') await Bun.sleep(this.settings.bootMs)
    this.db.run(`update containers set power = 'stopped', off = 'destroyed', "end" = null where workload = ?`, [
      workload,
    ])
  }

  async remove(workload: string) {
    this.db.run('delete from containers where workload = ?', [workload])
  }

  look = async () => this.rows().map(seenOf)

  usage = async (): Promise<Usage[]> =>
    this.rows().flatMap(({ workload, power, startedAt, definition }) => {
      if (power !== 'running') return []
      const upMs = Math.max(0, Date.now() - startedAt)
      const { memoryMb } = JSON.parse(definition) as Container
      const disks = { readBytes: upMs * 300, writtenBytes: upMs * 700 }
      const operations = { reads: Math.round(upMs / 50), writes: Math.round(upMs / 25) }
      return [{ id: workload, ...disks, ...operations, memoryUsedMb: Math.round(memoryMb * 0.3) }]
    })

  async logs(workload: string, lines: number, since?: string) {
    const { starts, startedAt } = this.mustHave(workload)
    const begins = starts ? [`started ${starts} times`, `last at ${new Date(startedAt).toISOString()}`] : []
    const output = this.output.get(workload)?.split('\n').slice(0, -1) ?? []
    const all = [...begins, ...output]
    const [start, read] = (since ?? '').split('-').map(Number)
    const fresh = start === starts ? all.slice(read) : all
    const kept = fresh.slice(-lines)
    return {
      text: kept.map((line) => `${line}\n`).join(''),
      cursor: `${starts}-${all.length}`,
      skipped: since !== undefined && kept.length < fresh.length,
    }
  }

  async runInside(workload: string) {
    if (this.mustHave(workload).power !== 'running') throw new Failure('tool_failed', `${workload} is not running`)
    return 0
  }

  async *events(signal: AbortSignal): AsyncGenerator<ContainerEvent> {
    let known = new Map((await this.look()).map((one) => [one.id, one]))
    while (!signal.aborted) {
      await Bun.sleep(EVENTS_EVERY_MS)
      if (signal.aborted) return
      const now = new Map(this.rows().map((row) => [row.workload, seenOf(row)]))
      for (const workload of new Set([...known.keys(), ...now.keys()])) {
        const { power = 'absent', end } = now.get(workload) ?? {}
        if (power !== (known.get(workload)?.power ?? 'absent'))
          yield { workload, power, at: Date.now(), reason: 'changed on the fake host', ...(end && { end }) }
      }
      known = now
    }
  }

  close() {}

  /** For tests: the container as it was made. */
  definition = (workload: string) => JSON.parse(this.mustHave(workload).definition) as Container

  private mustHave(workload: string): Row {
    const row = this.row(workload)
    if (!row) throw new Failure('no_container', `${workload} has no container on this node`)
    return row
  }
  private row = (workload: string) =>
    this.db.query<Row, [string]>('select * from containers where workload = ?').get(workload) ?? undefined
  private rows = () => this.db.query<Row, []>('select * from containers order by workload').all()
  private referenceOf = (id: string) =>
    this.db.query<{ reference: string }, [string]>('select reference from container_images where id = ?').get(id)
      ?.reference
}

/** Plausible counters that grow with time. */
function seenOf({ workload, power, off, end, startedAt, definition }: Row): SeenContainer {
  const upMs = power === 'running' ? Math.max(0, Date.now() - startedAt) : 0
  const { vcpus } = JSON.parse(definition) as Container
  return {
    id: workload,
    power,
    ...(power === 'stopped' && { off }),
    ...(end !== null && { end: JSON.parse(end) as ContainerEnd }),
    cpuMs: Math.round(upMs * vcpus * 0.2),
    rxBytes: upMs * 200,
    txBytes: upMs * 90,
    rxPackets: Math.round(upMs / 9),
    txPackets: Math.round(upMs / 12),
  }
}
