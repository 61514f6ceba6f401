// libvirt through virsh. A process per query takes about 20 ms, which is enough for the few queries of an agent; the
// two that repeat (figures and events) are one process for all vms.

import { rmSync } from 'node:fs'
import { say } from '../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../failure.ts'
import { lines, run } from '../../host/exec.ts'
import { type DiskSpeed, type Power, type Volume, WORKLOAD_ID } from '../../protocol/wire.ts'
import { giveSerialLine, makeSerialDir, serialFiles } from '../console/libvirt.ts'
import type { Disk } from '../storage/storage.ts'
import {
  type Acceleration,
  domainXml,
  ISO_DRIVE,
  nicXml,
  SEED_DRIVE,
  uuidOf,
  volumeTargets,
  volumeXml,
} from './domain-xml.ts'
import { mustHaveFirmware, tpmPath, variablesPath } from './firmware.ts'
import type { Drives, ExtraDisk, Hypervisor, Machine, Nic, OffReason, PowerEvent, Seen, Usage } from './hypervisor.ts'

const URI = ['-c', 'qemu:///system']
const OURS = new RegExp(`^${WORKLOAD_ID}$`)
const EVENT = new RegExp(`^(\\S+ \\S+): event 'lifecycle' for domain '(${WORKLOAD_ID})': (\\S+) (.*)$`)
/** A line of `domiflist`: the tap of a card on a private network, and its MAC address. */
const PRIVATE_CARD = /^\s*(btp\d+)\s+bridge\s+\S+\s+\S+\s+([0-9a-f:]{17})\s*$/gm
/** A line of `domblklist` about a disk; CD drives have other names. */
const DISK = /^\s*(vd[a-z]|sdc|hda)\s/gm
const POLL_MS = 300
/** `--nowait`: libvirt itself waits for no vm. */
const POWER_LIMIT_SECONDS = 30
/** A guest takes some seconds to release a disk; one that boots or hangs never does. */
const UNPLUG_LIMIT_MS = 20_000
/** A guest ignores the power button while it boots, so the request is repeated. */
const ASK_AGAIN_MS = 5000
const AGENT_SECONDS = 5
const BACKUP_EXPORT = 'disk'
const CPU_PERIOD_US = 100_000
const COMMIT_LIMIT_SECONDS = 3600
const AGENT_CAP_BYTES = 256 << 10

/** Vms under libvirt. `acceleration` is the result of the probe (kvm-probe.ts), read at every definition. */
export class Libvirt implements Hypervisor {
  /** At most one ping at a time per guest agent: the guest controls it, so it may never answer. */
  private asking = new Map<string, Promise<boolean>>()

  constructor(
    private acceleration: () => Promise<Acceleration>,
    /** The directory of the serial lines' sockets and logs. */
    private serialDir: string,
  ) {}

  async define(vm: Machine, disk: Disk, seedPath: string | undefined, drives: Drives = {}) {
    mustHaveFirmware(vm.hardware)
    makeSerialDir(this.serialDir)
    const line = serialFiles(this.serialDir, vm.workload)
    const xml = domainXml(vm, disk, seedPath, await this.acceleration(), drives, line)
    await virsh(['define', '--file', '/dev/stdin'], { stdin: xml })
  }

  async power(workload: string): Promise<Power> {
    const { code, out, err } = await virsh(['domstats', '--state', '--nowait', uuidOf(workload)], {
      ...{ mayFail: true, quietly: true, limitSeconds: POWER_LIMIT_SECONDS },
    }).catch((error) => {
      if (error instanceof Failure && error.code === 'tool_timeout')
        throw new Failure('hypervisor_silent', `libvirt does not answer: ${error.message}`)
      throw error
    })
    if (code === 0) return blocksIn(out)[0]?.power ?? 'absent'
    if (/failed to get domain|Domain not found/.test(err)) return 'absent'
    throw new Failure('hypervisor_silent', `libvirt does not answer: ${err.trim()}`)
  }

  async start(workload: string) {
    const power = await this.power(workload)
    if (power === 'running') return
    if (power === 'absent') throw new Failure('no_vm', `${workload} is not defined on this node`)
    if (power !== 'paused') await giveSerialLine(this.serialDir, workload)
    await virsh([power === 'paused' ? 'resume' : 'start', uuidOf(workload)])
  }

  async stop(workload: string, graceSeconds: number) {
    if (graceSeconds > 0 && (await this.power(workload)) === 'running' && (await this.shutDown(workload, graceSeconds)))
      return
    if (isOff(await this.power(workload))) return
    if (graceSeconds > 0) say('warning', `The guest did not shut down within ${graceSeconds} s; it is switched off`)
    await virsh(['destroy', uuidOf(workload)], { mayFail: true })
    const power = await this.power(workload)
    if (!isOff(power)) throw new Failure('does_not_stop', `${workload} is ${power} after it was switched off`)
  }

  async growDisk(workload: string, disk: Disk, sizeBytes: number) {
    const name = disk.kind === 'network' ? await this.targetOf(workload, disk.path) : disk.path
    await virsh(['blockresize', uuidOf(workload), name, `${sizeBytes}B`])
  }

  private async targetOf(workload: string, path: string): Promise<string> {
    const found = disksIn(await xmlOf(workload)).find(({ files }) => files.includes(path))
    if (!found) throw new Failure('no_vm', `${workload} has no disk ${path}`)
    return found.target
  }

  async layers(workload: string) {
    return layersIn((await virsh(['dumpxml', uuidOf(workload)], { quietly: true })).out)?.files ?? []
  }

  async addLayer(workload: string, { path }: Disk) {
    const { target, others } = await this.blockDevice(workload)
    rmSync(path, { force: true })
    const left = others.flatMap((other) => ['--diskspec', `${other},snapshot=no`])
    const spec = `${target},snapshot=external,driver=qcow2,file=${path}`
    const what = ['--disk-only', '--atomic', '--no-metadata', '--diskspec', spec, ...left]
    await virsh(['snapshot-create-as', uuidOf(workload), 'berth', ...what])
  }

  async commitLayer(workload: string, from: string, into: string) {
    const { target, files } = await this.blockDevice(workload)
    const active = files[0] === from ? ['--active', '--pivot'] : []
    const layers = ['--top', from, '--base', into]
    try {
      await virsh(['blockcommit', uuidOf(workload), target, ...layers, '--wait', ...active], {
        limitSeconds: COMMIT_LIMIT_SECONDS,
      })
    } catch (error) {
      // The virsh of an agent that was killed waits on, and takes the end of this commit for that of its own.
      if (!files.includes(from) || (await this.layers(workload)).includes(from)) throw error
    }
  }

  async serveDisk(workload: string, scratch: string) {
    const uuid = uuidOf(workload)
    const { out: xml } = await virsh(['dumpxml', uuid], { quietly: true })
    const disks = layersIn(xml)
    // The directory of this one run of the vm, which QEMU's user can write and its profile allows.
    const runDir = /<graphics type='vnc'[^>]* socket='(\/[^']+)\/[^/']+'/.exec(xml)?.[1]
    if (!disks || !runDir) throw new Failure('no_vm', `${workload} has no disk of its own on this node`)
    const socket = `${runDir}/backup.sock`
    rmSync(socket, { force: true })
    const document = {
      domainbackup: {
        '@mode': 'pull',
        server: { '@transport': 'unix', '@socket': socket },
        disks: {
          disk: [
            {
              ...{ '@name': disks.target, '@backup': 'yes', '@type': 'file', '@exportname': BACKUP_EXPORT },
              scratch: { '@file': scratch },
            },
            ...disks.others.map((other) => ({ '@name': other, '@backup': 'no' })),
          ],
        },
      },
    }
    await virsh(['backup-begin', uuid, '/dev/stdin'], { stdin: Bun.XML.stringify(document)! })
    return { socket, exportName: BACKUP_EXPORT }
  }

  /** The only jobs that Berth begins are backups. */
  async endServing(workload: string) {
    if (isOff(await this.power(workload))) return
    await virsh(['domjobabort', uuidOf(workload)], { mayFail: true, quietly: true })
  }

  /** A commit whose virsh was killed goes on and never ends by itself, and one at a time is possible. */
  private async blockDevice(workload: string) {
    const uuid = uuidOf(workload)
    const device = layersIn((await virsh(['dumpxml', uuid], { quietly: true })).out)
    if (!device) throw new Failure('no_vm', `${workload} has no disk of its own on this node`)
    await virsh(['blockjob', uuid, device.target, '--abort'], { mayFail: true, quietly: true })
    return device
  }

  /** The quota of the whole process, because a vm's emulation threads take processor time too. */
  async limitCpu(workload: string, percent: number | null) {
    const quota = percent === null ? -1 : Math.round((percent * CPU_PERIOD_US) / 100)
    const limits = ['--set', `global_period=${CPU_PERIOD_US}`, '--set', `global_quota=${quota}`]
    await virsh(['schedinfo', uuidOf(workload), '--live', ...limits])
  }

  /** blkdeviotune takes 0 for no limit, and keeps what it is not given. */
  async limitDisks(workload: string, limits: DiskSpeed | undefined) {
    const uuid = uuidOf(workload)
    const given = [
      ['--read-iops-sec', limits?.reads],
      ['--write-iops-sec', limits?.writes],
      ['--read-bytes-sec', limits?.readBytes],
      ['--write-bytes-sec', limits?.writtenBytes],
    ] as const
    const values = given.flatMap(([name, limit]) => [name, String(limit ?? 0)])
    const { out } = await virsh(['domblklist', uuid], { quietly: true })
    for (const [, target = ''] of out.matchAll(DISK)) await virsh(['blkdeviotune', uuid, target, ...values, '--live'])
  }

  async eject(workload: string) {
    const power = await this.power(workload)
    if (power === 'absent') return
    for (const where of isOff(power) ? ['--config'] : ['--config', '--live']) {
      if (await this.isLoaded(workload, SEED_DRIVE, where))
        await virsh(['change-media', uuidOf(workload), SEED_DRIVE, '--eject', '--force', where])
    }
  }

  async insert(workload: string, isoPath: string | undefined) {
    const power = await this.power(workload)
    if (power === 'absent') throw new Failure('no_vm', `${workload} is not defined on this node`)
    const change = isoPath === undefined ? ['--eject'] : [isoPath, '--update']
    for (const where of isOff(power) ? ['--config'] : ['--config', '--live']) {
      // An eject of an empty drive fails.
      if (isoPath === undefined && !(await this.isLoaded(workload, ISO_DRIVE, where))) continue
      // --force, because the guest may have locked the tray.
      await virsh(['change-media', uuidOf(workload), ISO_DRIVE, ...change, '--force', where])
    }
  }

  async setNics(workload: string, nics: readonly Nic[]) {
    const power = await this.power(workload)
    if (power === 'absent') return true
    await this.plug(workload, nics, '--config')
    if (isOff(power)) return true
    try {
      await this.plug(workload, nics, '--live')
      return true
    } catch (error) {
      say('warning', `A network card comes or goes at the next start only: ${wordsOf(error)}`)
      return false
    }
  }

  private async plug(workload: string, nics: readonly Nic[], where: '--config' | '--live') {
    const uuid = uuidOf(workload)
    const { out } = await virsh(['domiflist', uuid, ...(where === '--config' ? ['--inactive'] : [])], { quietly: true })
    const there = new Map([...out.matchAll(PRIVATE_CARD)].map(([, tap = '', mac = '']) => [tap, mac]))
    for (const [tap, mac] of there)
      if (!nics.some((nic) => nic.tap === tap)) await virsh(['detach-interface', uuid, 'bridge', '--mac', mac, where])
    for (const nic of nics)
      if (!there.has(nic.tap)) {
        const stdin = Bun.XML.stringify({ interface: nicXml(nic) })
        await virsh(['attach-device', uuid, '--file', '/dev/stdin', where], { stdin })
      }
  }

  async attachVolume(workload: string, volume: ExtraDisk, limits: DiskSpeed | undefined) {
    const power = await this.power(workload)
    if (power === 'absent') return
    const stored = disksIn(await xmlOf(workload, '--inactive'))
    const live = isOff(power) ? undefined : disksIn(await xmlOf(workload))
    const taken = [...stored, ...(live ?? [])].map(({ target }) => target)
    const target = volumeTargets.find((name) => !taken.includes(name))!
    const xml = Bun.XML.stringify({ disk: volumeXml(volume, target, limits) })!
    for (const [where, disks] of [['--live', live] as const, ['--config', stored] as const])
      if (disks && !disks.some(({ serial }) => serial === volume.serial))
        await virsh(['attach-device', uuidOf(workload), '--file', '/dev/stdin', where], { stdin: xml })
  }

  async detachVolume(workload: string, serial: string) {
    const power = await this.power(workload)
    if (power === 'absent') return
    if (!isOff(power)) await this.unplug(workload, serial)
    const stored = disksIn(await xmlOf(workload, '--inactive')).find((disk) => disk.serial === serial)
    if (stored) await virsh(['detach-disk', uuidOf(workload), stored.target, '--config'])
  }

  /** libvirt asks the guest and does not wait long for it; a repeated request while it releases the disk fails. */
  private async unplug(workload: string, serial: string) {
    const find = async () => disksIn(await xmlOf(workload)).find((disk) => disk.serial === serial)
    const there = await find()
    if (!there) return
    await virsh(['detach-disk', uuidOf(workload), there.target, '--live'], { mayFail: true })
    for (const until = performance.now() + UNPLUG_LIMIT_MS; await find(); await Bun.sleep(POLL_MS)) {
      if (performance.now() < until) continue
      // Without a running vm this was its definition.
      if (isOff(await this.power(workload))) return
      throw new Failure('volume_held', `the guest of ${workload} does not release the disk ${serial}`)
    }
  }

  async forgetFirmware(volume: Volume) {
    rmSync(variablesPath(volume), { force: true })
  }

  async remove(workload: string) {
    await this.stop(workload, 0)
    if ((await this.power(workload)) !== 'absent') await this.undefine(workload)
    // libvirt leaves it where the last definition had no TPM, as that of a rescue system.
    rmSync(tpmPath(uuidOf(workload)), { recursive: true, force: true })
  }

  private async undefine(workload: string) {
    await virsh([
      'undefine',
      uuidOf(workload),
      '--nvram',
      '--managed-save',
      '--snapshots-metadata',
      '--checkpoints-metadata',
    ])
  }

  guestAnswers(workload: string): Promise<boolean> {
    const asked = this.asking.get(workload) ?? ping(workload).finally(() => this.asking.delete(workload))
    this.asking.set(workload, asked)
    return asked
  }

  async look() {
    const [names, stats] = await Promise.all([
      virsh(['list', '--all', '--uuid', '--name'], { quietly: true }),
      virsh(['domstats', '--state', '--cpu-total', '--interface', '--nowait'], { quietly: true }),
    ])
    const ours = new Set<string>()
    const foreign: string[] = []
    for (const [, uuid, name] of names.out.matchAll(/^([0-9a-f-]{36})\s+(\S.*?)\s*$/gm)) {
      if (uuid && name) OURS.test(name) && uuidOf(name) === uuid ? ours.add(name) : foreign.push(name.slice(0, 200))
    }
    return { ours: blocksIn(stats.out).filter(({ id }) => ours.has(id)), foreign }
  }

  async usage() {
    const { out } = await virsh(['domstats', '--list-active', '--block', '--balloon', '--nowait'], { quietly: true })
    return usageIn(out)
  }

  async *events(signal: AbortSignal): AsyncGenerator<PowerEvent> {
    for await (const line of lines(
      'virsh',
      [...URI, 'event', '--event', 'lifecycle', '--loop', '--timestamp'],
      signal,
    )) {
      const event = eventIn(line)
      if (event) yield event
    }
  }

  /** True when the guest shut itself down in time. */
  private async shutDown(workload: string, graceSeconds: number): Promise<boolean> {
    const until = performance.now() + graceSeconds * 1000
    for (let askAt = 0; performance.now() < until; await Bun.sleep(POLL_MS)) {
      if (performance.now() >= askAt) {
        await virsh(['shutdown', uuidOf(workload), '--mode', 'acpi'], { mayFail: true, quietly: askAt > 0 })
        askAt = performance.now() + ASK_AGAIN_MS
      }
      if (isOff(await this.power(workload))) return true
    }
    return false
  }

  private async isLoaded(workload: string, drive: string, where: string): Promise<boolean> {
    const { out } = await virsh(
      ['domblklist', uuidOf(workload), '--details', ...(where === '--config' ? ['--inactive'] : [])],
      {
        quietly: true,
      },
    )
    return out.split('\n').some((line) => new RegExp(`^\\s*file\\s+cdrom\\s+${drive}\\s+/`).test(line))
  }
}

const isOff = (power: Power) => power === 'stopped' || power === 'crashed' || power === 'absent'

const virsh = (args: string[], options: Parameters<typeof run>[2] = {}) =>
  run('virsh', [...URI, ...args], { limitSeconds: 120, ...options })

/** libvirt synchronises with the agent before each query. Only exactly the right answer counts. */
async function ping(workload: string): Promise<boolean> {
  const question = JSON.stringify({ execute: 'guest-ping' })
  const ran = await virsh(['qemu-agent-command', uuidOf(workload), question, '--timeout', String(AGENT_SECONDS)], {
    mayFail: true,
    quietly: true,
    limitSeconds: AGENT_SECONDS + 3,
    outputCapBytes: AGENT_CAP_BYTES,
  }).catch(() => undefined)
  return ran?.code === 0 && /^\s*\{"return":\{\}\}\s*$/.test(ran.out)
}

/**
 * Parses `virsh dumpxml` of a running vm: the paths of its own disk, the top first, the name of that disk, and those of
 * the others. A copy that is under way is none of its layers.
 */
export function layersIn(xml: string): { files: string[]; target: string; others: string[] } | undefined {
  const disks = disksIn(xml)
  const own = disks.find(({ serial }) => serial === 'system')
  if (!own) return undefined
  const { files, target } = own
  return { files, target, others: disks.filter((disk) => disk !== own).map((disk) => disk.target) }
}

/** The disks of a domain's XML, each with its paths, the top first. */
function disksIn(xml: string): { target: string; serial: string | undefined; files: string[] }[] {
  return [...xml.matchAll(/<disk [\s\S]*?<\/disk>/g)].map(([all]) => {
    const disk = all.replace(/<mirror[\s\S]*?<\/mirror>/, '')
    return {
      target: /<target dev='([a-z]+)'/.exec(disk)?.[1] ?? '',
      serial: /<serial>([^<]+)<\/serial>/.exec(disk)?.[1],
      files: [...disk.matchAll(/<source (?:file|dev|protocol='rbd' name)='([^']+)'/g)].map(([, file = '']) => file),
    }
  })
}

const xmlOf = async (workload: string, ...which: string[]) =>
  (await virsh(['dumpxml', uuidOf(workload), ...which], { quietly: true })).out

/** Parses `virsh domstats`, a block per domain. */
export function blocksIn(text: string): Seen[] {
  return text
    .split(/^Domain: /m)
    .slice(1)
    .map((block) => {
      const number = (name: string) => Number(new RegExp(`^\\s+${name}=(\\d+)$`, 'm').exec(block)?.[1] ?? 0)
      const power = powerOf(number('state\\.state'), number('state\\.reason'))
      return {
        id: /^'(.*)'/.exec(block)?.[1] ?? '',
        power,
        ...(isOff(power) && { off: offReasonOf(number('state\\.state'), number('state\\.reason')) }),
        cpuMs: Math.round(number('cpu\\.time') / 1e6),
        rxBytes: number('net\\.0\\.rx\\.bytes'),
        txBytes: number('net\\.0\\.tx\\.bytes'),
        rxPackets: number('net\\.0\\.rx\\.pkts'),
        txPackets: number('net\\.0\\.tx\\.pkts'),
      }
    })
}

/** Parses `virsh domstats --block --balloon`: the sums over all disks of each vm of ours. */
export function usageIn(text: string): Usage[] {
  return text
    .split(/^Domain: /m)
    .slice(1)
    .flatMap((block) => {
      const id = /^'(.*)'/.exec(block)?.[1] ?? ''
      if (!OURS.test(id)) return []
      const figures = new Map([...block.matchAll(/^\s+([a-z0-9.]+)=(\d+)$/gm)].map(([, name, n]) => [name!, Number(n)]))
      const sum = (name: string) =>
        [...figures].reduce((all, [key, n]) => (key.startsWith('block.') && key.endsWith(name) ? all + n : all), 0)
      // The guest writes these figures: what does not fit its memory counts as not told.
      const [all, free] = [
        figures.get('balloon.available'),
        figures.get('balloon.usable') ?? figures.get('balloon.unused'),
      ]
      const isTold =
        all !== undefined && free !== undefined && free <= all && all <= (figures.get('balloon.maximum') ?? 0)
      return {
        id,
        readBytes: sum('.rd.bytes'),
        writtenBytes: sum('.wr.bytes'),
        reads: sum('.rd.reqs'),
        writes: sum('.wr.reqs'),
        ...(isTold && { memoryUsedMb: Math.round((all - free) / 1024) }),
      }
    })
}

/** From libvirt's virDomainState and, for a domain that is off, virDomainShutoffReason. */
function powerOf(state: number, reason: number): Power {
  if (state === 3 || state === 7) return 'paused'
  if (state === 6) return 'crashed'
  if (state === 5) return reason === 3 ? 'crashed' : 'stopped'
  return 'running'
}

/** From virDomainShutoffReason; 5 is saved and 7 made from a snapshot, which Berth never does. */
function offReasonOf(state: number, reason: number): OffReason {
  if (state === 6) return 'crashed'
  const reasons: Record<number, OffReason> = { 1: 'shutdown', 2: 'destroyed', 3: 'crashed', 6: 'crashed', 8: 'crashed' }
  return reasons[reason] ?? 'unknown'
}

/** Parses a line of `virsh event`; undefined when it is no change of power of a vm of ours. */
export function eventIn(line: string): PowerEvent | undefined {
  const [, at, workload, event, detail] = EVENT.exec(line) ?? []
  if (!at || !workload || !event || !detail) return undefined
  const power = powerAfter(event, detail)
  return power && { workload, power, at: Date.parse(at.replace(' ', 'T')) || Date.now(), reason: `${event} ${detail}` }
}

function powerAfter(event: string, detail: string): Power | undefined {
  // Its memory is still arriving; it runs when it is resumed.
  if (event === 'Started' && detail === 'Migrated') return 'paused'
  if (event === 'Stopped') return detail === 'Failed' || detail === 'Crashed' ? 'crashed' : 'stopped'
  const powers: Record<string, Power> = {
    Started: 'running',
    Resumed: 'running',
    Suspended: 'paused',
    PMSuspended: 'paused',
    Crashed: 'crashed',
    Undefined: 'absent',
  }
  return powers[event]
}
