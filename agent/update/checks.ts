// The agent's own check after a switch: everything that was on the host before is there now, and every driver that
// worked before works.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inventoryOf } from '../controller-link/inventory.ts'
import { wordsOf } from '../failure.ts'
import { replaceFile } from '../host/directories.ts'
import type { Host } from '../host/host.ts'
import type { Inventory } from '../protocol/wire.ts'
import { updateFolder } from './engine.ts'

const PROBE_LIMIT_MS = 20_000
const MOST_FINDINGS = 20
const LONGEST_FINDING = 300

/** Fields of a host that are no drivers. */
type NoDriver =
  | ('state' | 'metering' | 'oomKills' | 'decrypt' | 'machineId' | 'heartbeatMs' | 'silentAfterMs' | 'hostCounters')
  | ('withFaults' | 'close')
type Driver = Exclude<keyof Host, NoDriver>
type Look = (host: Host) => Promise<unknown>
/** It does nothing without a server, a backup or a move to work for, and only a command names one. */
const onlyOnCommand: Look = async () => {}
/** A workload that no host has. */
const NOBODY = `srv_${'0'.repeat(26)}`

/** A question to each driver, which changes nothing. */
const probes: Readonly<Record<Driver, Look>> = {
  facts: (host) => host.facts(),
  load: (host) => host.load(),
  hypervisor: (host) => host.hypervisor.look(),
  containers: (host) => host.containers.look(),
  storage: async ({ storage }) => {
    const silent = (await storage.capacities()).find(({ silentSince }) => silentSince !== undefined)
    if (silent) throw new Error(`the pool ${silent.name} does not answer`)
  },
  portSecurity: (host) => host.portSecurity.addresses(),
  access: (host) => host.access.addresses(),
  workspaces: (host) => host.workspaces.list(),
  gpus: (host) => host.gpus.cards(),
  images: (host) => host.images.find('none'),
  isos: (host) => host.isos.find('none'),
  seeds: (host) => host.seeds.path(NOBODY),
  migration: (host) => host.migration.find(NOBODY),
  httpNames: (host) => host.httpNames.problems(),
  network: (host) => host.network.accepts('127.0.0.1', 1),
  routing: onlyOnCommand,
  vlans: (host) => host.vlans.uplink(),
  privateNetworking: onlyOnCommand,
  guestAgent: onlyOnCommand,
  consoles: onlyOnCommand,
  backups: onlyOnCommand,
  backupRuns: onlyOnCommand,
  backupFiles: onlyOnCommand,
  transfers: onlyOnCommand,
  firmwareStates: onlyOnCommand,
  sourceHosts: onlyOnCommand,
  sourceServers: onlyOnCommand,
  sourceCopies: onlyOnCommand,
  sourceRemovals: onlyOnCommand,
  adoptions: onlyOnCommand,
}

/** `failing`: drivers that do not answer, with the words of each. */
export type Snapshot = {
  inventory: Inventory
  addresses: { workload: string; address: string }[]
  failing: Record<string, string>
}

/** The host as it is now. Throws where its inventory cannot be taken. */
export async function snapshotOf(host: Host): Promise<Snapshot> {
  const [inventory, addresses, failing] = await Promise.all([
    inTime(
      inventoryOf(
        host,
        // A node of instances alone has no hypervisor.
        () => orSilent(host.hypervisor.look()),
        () => orSilent(host.containers.look()),
      ),
    ),
    Promise.all([host.portSecurity.addresses(), host.access.addresses()]),
    failingDrivers(host),
  ])
  return { inventory, addresses: addresses.flat(), failing }
}

const orSilent = <T>(look: Promise<T>): Promise<T | undefined> => inTime(look).catch(() => undefined)

async function failingDrivers(host: Host): Promise<Record<string, string>> {
  const found = Object.entries(probes).map(async ([driver, look]) =>
    inTime(look(host)).then(
      () => [],
      (error) => [[driver, wordsOf(error)] as const],
    ),
  )
  return Object.fromEntries((await Promise.all(found)).flat())
}

function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('it does not answer')), PROBE_LIMIT_MS)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}

/** Sentences about what is not as it was before; none: everything is. More than before is no finding. */
export function differences(before: Snapshot, now: Snapshot): string[] {
  const { inventory: was } = before
  const { inventory: is } = now
  const isSilent = (part: 'hypervisor' | 'containers') =>
    is.silent?.includes(part) && !was.silent?.includes(part) ? [`${part} does not answer any more`] : []
  const pools = (is.silentPools ?? []).filter((pool) => !was.silentPools?.includes(pool))
  const missing = <T>(what: string, had: readonly T[] = [], has: readonly T[] = [], name: (one: T) => string) => {
    const there = new Set(has.map(name))
    return had.filter((one) => !there.has(name(one))).map((one) => `${what} ${name(one)} is missing`)
  }
  const idOf = ({ workload }: { workload: string }) => workload
  const findings = [
    ...isSilent('hypervisor'),
    ...isSilent('containers'),
    ...pools.map((pool) => `the pool ${pool} does not answer any more`),
    ...missing('server', was.vms, is.vms, idOf),
    ...missing('instance', was.containers, is.containers, idOf),
    ...missing(
      'disk',
      was.volumes,
      is.volumes,
      ({ workload, pool, generation }) => `${workload} ${generation} in ${pool}`,
    ),
    ...missing('workspace', was.workspaces, is.workspaces, (one) => one),
    ...missing('address', before.addresses, now.addresses, ({ workload, address }) => `${address} of ${workload}`),
    ...Object.entries(now.failing)
      .filter(([driver]) => before.failing[driver] === undefined)
      .map(([driver, words]) => `${driver}: ${words}`),
  ]
  return findings.map((finding) => finding.slice(0, LONGEST_FINDING)).slice(0, MOST_FINDINGS)
}

const beforeFile = (dataDir: string) => join(updateFolder(dataDir), 'before.json')
export const keepBefore = (dataDir: string, snapshot: Snapshot) =>
  replaceFile(beforeFile(dataDir), `${JSON.stringify(snapshot)}\n`)
/** Undefined where there is none that can be read: there is nothing to compare with then. */
export function readBefore(dataDir: string): Snapshot | undefined {
  try {
    return JSON.parse(readFileSync(beforeFile(dataDir), 'utf8')) as Snapshot
  } catch {
    return undefined
  }
}
