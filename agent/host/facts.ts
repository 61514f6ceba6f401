// Facts and load of the host, read from the kernel's files.

import { existsSync, readFileSync } from 'node:fs'
import { hostname, release } from 'node:os'
import { cpuModelsOfHost } from '../drivers/hypervisor/cpu-models.ts'
import { hardwareOfHost } from '../drivers/hypervisor/firmware.ts'
import { qemuVersion, type Virtualisation } from '../drivers/hypervisor/kvm-probe.ts'
import { addressesOfHost } from '../drivers/network/bridge.ts'
import { addressesOf, hostOf } from '../protocol/net/pinned-request.ts'
import type { Facts } from '../protocol/wire.ts'
import { VERSION } from '../version.ts'
import { find, type Program, run } from './exec.ts'
import type { Host, Load } from './host.ts'
import { cpuTicks, kibOf } from './metrics/counters.ts'

/** The facts that the controller receives about this host. Starts a few processes. */
export async function factsOfHost(
  virtualisation: () => Promise<Virtualisation>,
  controller: string | undefined,
): Promise<Facts> {
  const [found, versions, network] = await Promise.all([virtualisation(), versionsOfHost(), addressesOfHost()])
  const cpuModels = await cpuModelsOfHost(found).catch(() => undefined)
  return {
    hostname: hostname(),
    agentVersion: VERSION,
    fake: false,
    os: osName(),
    kernel: release(),
    bootedAt: Number(field('/proc/stat', /^btime (\d+)/m)) * 1000,
    cpu: { model: field('/proc/cpuinfo', /^model name\s*:\s*(.+)$/m).slice(0, 200), threads: threads() },
    ...(cpuModels && { cpuModels }),
    memoryMb: kibOf('MemTotal') >> 10,
    virtualisation: found,
    hardware: hardwareOfHost(),
    versions,
    ...network,
    ...(await managementAddressOf(controller, network.addresses)),
  }
}

type Instances = Pick<Host, 'access' | 'containers' | 'gpus' | 'workspaces'>

/** The container engine with everything that keeps the host from running instances; undefined without an engine. */
export async function engineOf({ access, containers, gpus, workspaces }: Instances) {
  const engine = await containers.engine()
  if (!engine) return undefined
  const others = await Promise.all([access.problems(), workspaces.problems(), gpus.findings()])
  return { ...engine, problems: [...engine.problems, ...others.flat()] }
}

/** The fact about the uplink; none where the operator named none. */
export async function uplinkFacts(vlans: Host['vlans']): Promise<Partial<Facts>> {
  const uplink = await vlans.uplink()
  return uplink ? { uplink } : {}
}

/** The facts about container instances. A host without engine and cards has none. */
export async function gpuFacts(host: Instances): Promise<Partial<Facts>> {
  const [containers, cards] = await Promise.all([engineOf(host), host.gpus.cards()])
  return { ...(containers && { containers }), ...(cards.length && { cards }) }
}

/**
 * The address from which this host reaches its controller; on the controller's own host, or without a controller, its
 * first one.
 */
async function managementAddressOf(controller: string | undefined, own: readonly string[]) {
  const first = own[0]?.split('/')[0]
  const found = controller ? await addressesOf(hostOf(new URL(controller))).catch(() => []) : []
  const [target] = found
  const { code, out } = target
    ? await run('ip', ['-json', 'route', 'get', target], { mayFail: true, quietly: true })
    : { code: 1, out: '' }
  const source = code === 0 ? (JSON.parse(out) as { prefsrc?: string }[])[0]?.prefsrc : undefined
  const managementAddress = source && !/^(127\.|::1$)/.test(source) ? source : first
  return managementAddress ? { managementAddress } : {}
}

/** An id that changes at every boot of the host. */
export const bootIdOfHost = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/** How many processes the kernel has killed since the boot because memory ran out. */
export const oomKillsOfHost = () => Number(field('/proc/vmstat', /^oom_kill (\d+)$/m))

/**
 * Identifies this machine to the controller without telling it the id itself; undefined where the host has none. With
 * the host name, because machines that were cloned often keep one id.
 */
export function machineIdOfHost(): string | undefined {
  const file = '/etc/machine-id'
  const id = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  return id ? new Bun.CryptoHasher('sha256').update(`berth-machine\n${id}\n${hostname()}`).digest('hex') : undefined
}

/** Returns a function that reads the load; its CPU percentage covers the time since its previous call. */
export function loadMeter(): () => Promise<Load> {
  let before = cpuTicks()
  return async () => {
    const now = cpuTicks()
    const total = now.total - before.total
    const cpuPercent = total > 0 ? Math.round((1 - (now.idle - before.idle) / total) * 1000) / 10 : 0
    before = now
    return { cpuPercent, load1: Number(field('/proc/loadavg', /^(\S+)/)), memoryFreeMb: kibOf('MemAvailable') >> 10 }
  }
}

export function osName(): string {
  const file = '/etc/os-release'
  return existsSync(file) ? field(file, /^PRETTY_NAME="?([^"\n]+)"?$/m).slice(0, 200) : 'unknown'
}

/** Versions of the programs that vms depend on; one that is not installed is left out. */
async function versionsOfHost(): Promise<Facts['versions']> {
  const asked: [string, () => Promise<string | undefined>][] = [
    ['qemu', qemuVersion],
    ['libvirt', () => versionOf('virsh', ['--version'])],
    ['nft', () => versionOf('nft', ['--version'])],
  ]
  const found = await Promise.all(asked.map(async ([name, ask]) => [name, await ask().catch(() => undefined)] as const))
  const there = found.flatMap(([name, version]) => (version ? [[name, version] as const] : []))
  return { berth: VERSION, bun: Bun.version, ...Object.fromEntries(there) }
}

async function versionOf(program: Program, args: string[]): Promise<string | undefined> {
  if (!find(program)) return undefined
  const { out } = await run(program, args, { quietly: true, limitSeconds: 10 })
  return /\d+(\.\d+)+/.exec(out)?.[0]
}

function field(file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? ''
}

const threads = () => Math.max(1, readFileSync('/proc/cpuinfo', 'utf8').match(/^processor\s*:/gm)?.length ?? 1)
