// A hypervisor without machines, for tests and demonstrations. Its vms are rows of a database, so they survive kill -9
// of the agent as real ones do. A row that another process changes counts as a change by hand and becomes an event.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { DiskSpeed, Power, Vm, Volume } from '../../protocol/wire.ts'
import { FakeLayers } from '../storage/fake-layers.ts'
import type { Disk } from '../storage/storage.ts'
import type { Drives, ExtraDisk, Hypervisor, Machine, Nic, OffReason, PowerEvent, Seen, Usage } from './hypervisor.ts'

type Row = {
  workload: string
  vcpus: number
  disk: string
  inUse: string | null
  seed: string | null
  rescue: string | null
  iso: string | null
  power: Power
  off: OffReason
  startedAt: number
  definition: string
  cpuPercent: number | null
  diskLimits: string | null
  nics: string
  volumes: string
  holdsVolumes: number
}

const SCHEMA = `create table if not exists vms (
  workload text primary key, vcpus integer not null, disk text not null, seed text, rescue text, iso text,
  inUse text, power text not null default 'stopped', off text not null default 'unknown',
  startedAt integer not null default 0, cpuPercent integer, diskLimits text,
  nics text not null default '[]', volumes text not null default '[]', holdsVolumes integer not null default 0,
  definition text not null) strict`
const EVENTS_EVERY_MS = 100

type Attached = { path: string; serial: string }
const attached = ({ disk: { path }, serial }: ExtraDisk): Attached => ({ path, serial })

export class FakeHypervisor implements Hypervisor {
  private disks: FakeLayers
  /** The databases of pools that other hosts reach too, whose disks are not in its own. */
  readonly sharedPools: Database[] = []
  /** Called before a vm runs. */
  onStart: (workload: string) => Promise<void> = async () => {}

  constructor(
    private db: Database,
    private settings: { bootMs: number } = { bootMs: 20 },
  ) {
    db.run(SCHEMA)
    this.disks = new FakeLayers(db)
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

  async define(
    vm: Machine,
    disk: Disk,
    seedPath: string | undefined,
    { rescue, iso, nics = [], volumes = [] }: Drives = {},
  ) {
    this.db.run(
      `insert into vms (workload, vcpus, disk, seed, definition, rescue, iso, nics, volumes)
       values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
       on conflict (workload) do update set vcpus = ?2, disk = ?3, seed = ?4, definition = ?5, rescue = ?6,
         iso = ?7, nics = ?8, volumes = ?9`,
      [
        vm.workload,
        vm.vcpus,
        disk.path,
        seedPath ?? null,
        JSON.stringify(vm),
        rescue?.path ?? null,
        iso ?? null,
        JSON.stringify(nics),
        JSON.stringify(volumes.map(attached)),
      ],
    )
  }

  power = async (workload: string) => this.row(workload)?.power ?? 'absent'

  async start(workload: string) {
    const row = this.row(workload)
    if (!row) throw new Failure('no_vm', `${workload} is not defined on this node`)
    if (row.power === 'running') return
    this.mustHaveFiles(row)
    await this.onStart(workload)
    this.db.run(
      `update vms set power = 'running', inUse = disk, startedAt = ?1, cpuPercent = null,
       diskLimits = definition ->> '$.speed.disk' where workload = ?2`,
      [Date.now(), workload],
    )
  }

  async stop(workload: string, graceSeconds: number) {
    const power = await this.power(workload)
    if (isOff(power)) return
    const isAsked = graceSeconds > 0 && power === 'running'
    if (isAsked) await Bun.sleep(this.settings.bootMs)
    this.end(workload, isAsked ? 'shutdown' : 'destroyed')
  }

  async growDisk(workload: string, { path }: Disk, sizeBytes: number) {
    if (this.row(workload)?.power !== 'running') throw new Failure('tool_failed', `${workload} is not running`)
    this.db.run('update volumes set sizeBytes = ? where path = ?', [sizeBytes, path])
    this.disks.grow(path, sizeBytes)
  }

  layers = async (workload: string) => (isOn(this.row(workload)?.power) ? this.disks.chain(this.inUse(workload)) : [])

  async addLayer(workload: string, { path }: Disk) {
    if (!isOn(this.row(workload)?.power)) throw new Failure('tool_failed', `${workload} is not running`)
    const base = this.inUse(workload)
    this.disks.remove(path)
    this.disks.add(path, base, this.sizeOf(base))
    this.write(workload, path)
  }

  async commitLayer(workload: string, from: string, into: string) {
    const layers = await this.layers(workload)
    if (!layers.includes(from)) throw new Failure('tool_failed', `${workload} does not use ${from}`)
    this.disks.commit(from, into)
    if (layers[0] === from) this.write(workload, into)
    else this.db.run('update layers set base = ? where path = ?', [into, layers[layers.indexOf(from) - 1]!])
  }

  /** A copy of the content is what it was at this moment. */
  async serveDisk(workload: string, scratch: string) {
    if (!isOn(this.row(workload)?.power)) throw new Failure('tool_failed', `${workload} is not running`)
    const content = this.disks.read(this.inUse(workload))
    this.disks.remove(scratch)
    if (content !== undefined) this.disks.write(scratch, content)
    return { socket: scratch, exportName: workload }
  }

  async endServing(_: string) {}

  /** The file that a running vm writes; its definition may name another one for the next start. */
  private inUse = (workload: string) => this.row(workload)!.inUse ?? this.row(workload)!.disk
  private write(workload: string, path: string) {
    this.db.run('update vms set disk = ?, inUse = ? where workload = ?', [path, path, workload])
  }
  private sizeOf = (path: string) =>
    this.disks.find(path)?.sizeBytes ??
    this.db.query<{ n: number }, [string]>('select sizeBytes as n from volumes where path = ?').get(path)?.n ??
    0

  async limitCpu(workload: string, percent: number | null) {
    if (!isOn(this.row(workload)?.power)) throw new Failure('tool_failed', `${workload} is not running`)
    this.db.run('update vms set cpuPercent = ? where workload = ?', [percent, workload])
  }

  /** For tests: the limit of a running vm. */
  cpuPercent = (workload: string) => (isOn(this.row(workload)?.power) ? this.row(workload)!.cpuPercent : null)

  async limitDisks(workload: string, limits: DiskSpeed | undefined) {
    if (!isOn(this.row(workload)?.power)) throw new Failure('tool_failed', `${workload} is not running`)
    this.db.run('update vms set diskLimits = ? where workload = ?', [limits ? JSON.stringify(limits) : null, workload])
  }

  /** For tests: the limits of the disks of a running vm. */
  diskLimits(workload: string): DiskSpeed | null {
    const row = this.row(workload)
    return isOn(row?.power) && row?.diskLimits ? (JSON.parse(row.diskLimits) as DiskSpeed) : null
  }

  async eject(workload: string) {
    this.db.run('update vms set seed = null where workload = ?', [workload])
  }

  async insert(workload: string, isoPath: string | undefined) {
    if (!this.row(workload)) throw new Failure('no_vm', `${workload} is not defined on this node`)
    this.db.run('update vms set iso = ? where workload = ?', [isoPath ?? null, workload])
  }

  async setNics(workload: string, nics: readonly Nic[]) {
    this.db.run('update vms set nics = ? where workload = ?', [JSON.stringify(nics), workload])
    return true
  }

  /** For tests: the cards of a vm beside its public one. */
  nics = (workload: string) => JSON.parse(this.row(workload)?.nics ?? '[]') as Nic[]

  async attachVolume(workload: string, volume: ExtraDisk) {
    const others = this.volumes(workload).filter(({ serial }) => serial !== volume.serial)
    this.setVolumes(workload, [...others, attached(volume)])
  }

  async detachVolume(workload: string, serial: string) {
    const row = this.row(workload)
    if (!row || !this.volumes(workload).some((volume) => volume.serial === serial)) return
    if (row.holdsVolumes && isOn(row.power))
      throw new Failure('volume_held', `the guest of ${workload} does not release the disk ${serial}`)
    this.setVolumes(
      workload,
      this.volumes(workload).filter((volume) => volume.serial !== serial),
    )
  }

  /** For tests: the extra volumes of a vm. */
  volumes = (workload: string) => JSON.parse(this.row(workload)?.volumes ?? '[]') as Attached[]
  /** For tests: its guest does not release volumes while it runs. */
  holdVolumes = (workload: string, holds: boolean) =>
    void this.db.run('update vms set holdsVolumes = ? where workload = ?', [Number(holds), workload])
  private setVolumes = (workload: string, volumes: readonly Attached[]) =>
    void this.db.run('update vms set volumes = ? where workload = ?', [JSON.stringify(volumes), workload])

  /** A fake machine has no firmware. */
  async forgetFirmware(_: Volume) {}

  async remove(workload: string) {
    this.db.run('delete from vms where workload = ?', [workload])
  }

  async guestAnswers(workload: string) {
    const row = this.row(workload)
    return row?.power === 'running' && Math.abs(Date.now() - row.startedAt) >= this.settings.bootMs
  }

  usage = async () => this.rows().flatMap(usageOf)
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
   * As on a real host, a vm whose disk, rescue disk, extra volume, seed or ISO is missing does not start, so that tests
   * notice a job that forgets one.
   */
  private mustHaveFiles({ workload, disk, seed, rescue, iso, volumes }: Row) {
    const extra = (JSON.parse(volumes) as Attached[]).map(({ path }) => path)
    for (const path of [...(rescue ? [rescue] : []), disk, ...extra])
      if (this.disks.chain(path).some((file) => !this.isThere(file)))
        throw new Failure('tool_failed', `${workload}: cannot open ${path}: no such file`)
    if (iso && !this.db.query('select 1 from isos where ? = ?||id').get(iso, '/fake/isos/'))
      throw new Failure('tool_failed', `${workload}: cannot open ${iso}: no such file`)
    if (seed && !this.db.query('select 1 from seeds where path = ?').get(seed))
      throw new Failure('tool_failed', `${workload}: cannot open ${seed}: no such file`)
  }

  private isThere = (path: string) =>
    this.disks.find(path) !== undefined ||
    this.db.query('select 1 from volumes where path = ?').get(path) !== null ||
    this.sharedPools.some(
      (db) =>
        db.query('select path from volumes where path = ?1 union select path from layers where path = ?1').get(path) !==
        null,
    )
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
    rxPackets: Math.round(upMs / 10),
    txPackets: Math.round(upMs / 8),
  }
}

function usageOf({ workload, power, startedAt, definition }: Row): Usage[] {
  if (power !== 'running') return []
  const upMs = Math.max(0, Date.now() - startedAt)
  const { memoryMb } = JSON.parse(definition) as Vm
  return [
    {
      id: workload,
      readBytes: upMs * 400,
      writtenBytes: upMs * 900,
      reads: Math.round(upMs / 40),
      writes: Math.round(upMs / 20),
      memoryUsedMb: Math.round(memoryMb * 0.4),
    },
  ]
}

const isOn = (power: Power | undefined) => power === 'running' || power === 'paused'
const isOff = (power: Power) => power === 'stopped' || power === 'crashed'
