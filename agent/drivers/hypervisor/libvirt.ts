// libvirt through virsh. A process per query takes about 20 ms, which is enough for the few queries of an agent; the
// two that repeat (figures and events) are one process for all vms.

import { say } from '../../controller-link/job-log.ts'
import { Failure } from '../../failure.ts'
import { lines, run } from '../../host/exec.ts'
import { type Power, type Vm, WORKLOAD_ID } from '../../protocol/wire.ts'
import type { Disk } from '../storage/storage.ts'
import { type Acceleration, domainXml, SEED_DRIVE, uuidOf } from './domain-xml.ts'
import type { Hypervisor, OffReason, PowerEvent, Seen } from './hypervisor.ts'

const URI = ['-c', 'qemu:///system']
const OURS = new RegExp(`^${WORKLOAD_ID}$`)
const EVENT = new RegExp(`^(\\S+ \\S+): event 'lifecycle' for domain '(${WORKLOAD_ID})': (\\S+) (.*)$`)
const POLL_MS = 300
/** A guest ignores the power button while it boots, so the request is repeated. */
const ASK_AGAIN_MS = 5000
const AGENT_SECONDS = 5
const AGENT_CAP_BYTES = 256 << 10

/** Vms under libvirt. `acceleration` is the result of the probe (kvm-probe.ts), read at every definition. */
export class Libvirt implements Hypervisor {
  /** At most one ping at a time per guest agent: the guest controls it, so it may never answer. */
  private asking = new Map<string, Promise<boolean>>()

  constructor(private acceleration: () => Promise<Acceleration>) {}

  async define(vm: Vm, disk: Disk, seedPath: string | undefined) {
    const xml = domainXml(vm, disk, seedPath, await this.acceleration())
    await virsh(['define', '--file', '/dev/stdin'], { stdin: xml })
  }

  async power(workload: string): Promise<Power> {
    const { code, out, err } = await virsh(['domstats', '--state', '--nowait', uuidOf(workload)], {
      mayFail: true,
      quietly: true,
    })
    if (code === 0) return blocksIn(out)[0]?.power ?? 'absent'
    if (/failed to get domain|Domain not found/.test(err)) return 'absent'
    throw new Failure('hypervisor_silent', `libvirt does not answer: ${err.trim()}`)
  }

  async start(workload: string) {
    const power = await this.power(workload)
    if (power === 'running') return
    if (power === 'absent') throw new Failure('no_vm', `${workload} is not defined on this node`)
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

  async growDisk(workload: string, { path }: Disk, sizeBytes: number) {
    await virsh(['blockresize', uuidOf(workload), path, `${sizeBytes}B`])
  }

  async eject(workload: string) {
    const power = await this.power(workload)
    if (power === 'absent') return
    for (const where of isOff(power) ? ['--config'] : ['--config', '--live']) {
      if (await this.seedIsIn(workload, where))
        await virsh(['change-media', uuidOf(workload), SEED_DRIVE, '--eject', '--force', where])
    }
  }

  async remove(workload: string) {
    await this.stop(workload, 0)
    if ((await this.power(workload)) === 'absent') return
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

  private async seedIsIn(workload: string, where: string): Promise<boolean> {
    const { out } = await virsh(
      ['domblklist', uuidOf(workload), '--details', ...(where === '--config' ? ['--inactive'] : [])],
      {
        quietly: true,
      },
    )
    return out.split('\n').some((line) => /^\s*file\s+cdrom\s+sda\s+\//.test(line))
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
