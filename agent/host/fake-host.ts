// `berth agent run --fake`: a node without vms. Its state is in <data>/fake.db, its settings are in <data>/fake.json.
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { uplinkFrom, uplinkIn } from '../controller-link/identity.ts'
import { openDatabase } from '../database.ts'
import { FakeAccess } from '../drivers/access/fake.ts'
import { BackupRuns } from '../drivers/backup/backup-runs.ts'
import { FakeBackups } from '../drivers/backup/fake.ts'
import { FakeBackupFiles } from '../drivers/backup/fake-files.ts'
import { FakeConsoles } from '../drivers/console/fake.ts'
import { FakeContainers } from '../drivers/container/fake.ts'
import { FakeFirewall } from '../drivers/firewall/fake.ts'
import { type FakeCard, FakeGpus } from '../drivers/gpu/fake.ts'
import { FakeGuestAgent } from '../drivers/guest-agent/fake.ts'
import { FakeHttpNames } from '../drivers/http-names/fake.ts'
import { FakeHypervisor } from '../drivers/hypervisor/fake.ts'
import { FakeFirmwareStates } from '../drivers/hypervisor/fake-firmware-state.ts'
import type { Hypervisor } from '../drivers/hypervisor/hypervisor.ts'
import { FakeImages } from '../drivers/images/fake.ts'
import { FakeNetwork } from '../drivers/network/fake.ts'
import { FakePrivateNetworks } from '../drivers/private-network/fake.ts'
import { FakeSeeds } from '../drivers/seed/fake.ts'
import { FakeSourceHosts } from '../drivers/source-host/fake.ts'
import { FakeAdoptions } from '../drivers/source-host/fake-adoptions.ts'
import { FakeSourceCopies } from '../drivers/source-host/fake-copies.ts'
import { FakeSourceRemovals } from '../drivers/source-removal/fake.ts'
import { FakePool, SHARED_SCHEMA } from '../drivers/storage/fake.ts'
import { type Pool, Storage } from '../drivers/storage/storage.ts'
import { FakeCounters } from '../drivers/traffic/fake.ts'
import { FakeTransfers } from '../drivers/transfer/fake.ts'
import { FakeVlans } from '../drivers/vlan/fake.ts'
import { FakeWorkspaces } from '../drivers/workspace/fake.ts'
import { decrypting } from '../protocol/for-node.ts'
import { type Facts, firmwares, type PoolCapacity, type Uplink } from '../protocol/wire.ts'
import { openState, type State } from '../state.ts'
import { VERSION } from '../version.ts'
import { gpuFacts, uplinkFacts } from './facts.ts'
import { hanging, openFaults, whileHanging } from './faults.ts'
import { type Host, SILENT_AFTER_MS } from './host.ts'
import { Metering } from './metering.ts'
import type { HostCounters } from './metrics/counters.ts'
import { Routing } from './network/routing.ts'
import { VlanNetworking } from './network/vlan-networking.ts'
import { PortSecurity } from './port-security.ts'
import { PrivateNetworking } from './private-networking.ts'

/** `file`: the database of the pool, which other fake hosts reach too; it has the name in `storage` there. */
type FakePoolSettings = Pick<PoolCapacity, 'name' | 'totalBytes'> & Partial<PoolCapacity> & { file?: string }

/** The settings that `fake.json` can override. */
export type FakeSettings = {
  hostname: string
  threads: number
  memoryMb: number
  bridge: string
  /** Its uplink; `vlans` as the operator writes them, the rest as it is reported. */
  uplink?: { name: string; vlans: string } & Partial<Omit<Uplink, 'name' | 'vlans'>>
  firmware: NonNullable<Facts['hardware']>['firmware']
  tpm: boolean
  /** The CPU models that its vms can have. */
  cpuModels: string[]
  addresses: string[]
  poolBytes: number
  /** Pools beside the one that is called local; what they name beside name and size is what they report. */
  pools: FakePoolSettings[]
  imageBytes: number
  /** The sum of the compressed layers of every container image. */
  containerImageBytes: number
  /** The reasons why the host runs no container instances. */
  engineProblems: string[]
  /** Its cards; none by default. */
  cards: FakeCard[]
  /** Milliseconds from a vm's start until its guest answers. */
  bootMs: number
  heartbeatMs: number
  silentAfterMs: number
  /** The database of the source hypervisors that it reaches, for fake hosts that share them; its own by default. */
  sourceHosts: string
  /** A new value counts as a reboot of the host: every vm is off. */
  bootId: string
  /** Public keys in PEM whose releases it takes, too: it runs none of their programs. */
  releaseKeys: string[]
  /** A file with the program that it would run, so that patches of it are taken. */
  program?: string
}

const defaults: FakeSettings = {
  hostname: `fake-${hostname()}`.slice(0, 63),
  threads: 32,
  memoryMb: 131_072,
  bridge: 'br0',
  firmware: [...firmwares],
  tpm: true,
  cpuModels: ['qemu64', 'Nehalem', 'Westmere', 'SandyBridge'],
  addresses: ['203.0.113.10/24', '2001:db8::10/64'],
  poolBytes: 2e12,
  pools: [],
  imageBytes: 2 * 1024 ** 3,
  containerImageBytes: 4 * 1024 ** 3,
  engineProblems: [],
  cards: [],
  bootMs: 20,
  heartbeatMs: 10_000,
  silentAfterMs: SILENT_AFTER_MS,
  sourceHosts: '',
  bootId: 'first-boot',
  releaseKeys: [],
}

/** The host with what tests look at behind its interfaces. */
export type FakeHost = Host & {
  fakeVlans: FakeVlans
  counters: FakeCounters
  guestAgent: FakeGuestAgent
  consoles: FakeConsoles
  seeds: FakeSeeds
  firmwareStates: FakeFirmwareStates
  containers: FakeContainers
  access: FakeAccess
  httpNames: FakeHttpNames
  workspaces: FakeWorkspaces
  gpus: FakeGpus
  sourceHosts: FakeSourceHosts
  sourceCopies: FakeSourceCopies
  sourceRemovals: FakeSourceRemovals
}

/** Opens the fake host in `dataDir`, in the state in which the last agent there left it, also after a crash. */
export function openFakeHost(
  dataDir: string,
  given: Partial<FakeSettings> = {},
  now: () => number = Date.now,
  key?: KeyObject,
): FakeHost {
  const settings = { ...defaults, ...given, ...fakeSettingsIn(dataDir) }
  const db = openDatabase(join(dataDir, 'fake.db'), 'create table if not exists boots (id text primary key) strict')
  const fakeHypervisor = new FakeHypervisor(db, settings)
  const hypervisor = hanging<Hypervisor>(fakeHypervisor, hypervisorMethods, () => whileHanging(dataDir, 'hypervisor'))
  const state = openState(join(dataDir, 'state.db'))
  const bootedAt = Date.now()
  const counters = new FakeCounters(db, settings.bootId)
  const metering = new Metering(join(dataDir, 'traffic.db'), counters, state, now)
  const network = new FakeNetwork([settings.bridge])
  const { fakeVlans, vlans } = vlansOf(dataDir, given, state)
  const consoles = new FakeConsoles(join(dataDir, 'c'), fakeHypervisor.power)
  const guestAgent = new FakeGuestAgent(db, fakeHypervisor)
  const poolOf = ({ file, ...pool }: FakePoolSettings) => {
    const { name, totalBytes, storage: place = name } = pool
    if (file === undefined) return new FakePool(db, name, totalBytes, pool)
    const shared = openDatabase(file, SHARED_SCHEMA)
    fakeHypervisor.sharedPools.push(shared)
    const made = new FakePool(shared, name, totalBytes, pool, { storage: place, host: join(dataDir, 'fake.db') })
    const { onStart } = fakeHypervisor
    fakeHypervisor.onStart = async (workload) => {
      await onStart(workload)
      await made.noteOpening(workload)
    }
    return made
  }
  const storage = new Storage(
    [{ name: 'local', totalBytes: settings.poolBytes }, ...settings.pools].map((pool) =>
      hanging<Pool>(poolOf(pool), poolMethods, () => whileHanging(dataDir, 'pool', pool.name)),
    ),
    settings.silentAfterMs,
  )
  const backups = new FakeBackups(db)
  const gpus = new FakeGpus(db, dataDir, settings.cards, now)
  const { containerImageBytes: imageBytes, engineProblems, bootMs } = settings
  const workspaces = new FakeWorkspaces(db, settings.poolBytes)
  const fakeContainers = new FakeContainers(db, { imageBytes, engineProblems, bootMs }, gpus.troublesSince)
  const containers = hanging(fakeContainers, ['look', 'power'], () => whileHanging(dataDir, 'containers'))
  const access = new FakeAccess(db, containers.power)
  const httpNames = new FakeHttpNames(db)
  const sourceHosts = new FakeSourceHosts(settings.sourceHosts || join(dataDir, 'source-hosts.db'), dataDir, now)
  const transfers = new FakeTransfers(db, join(dataDir, 'fake.db'), fakeHypervisor, now)
  const host = {
    transfers,
    sourceHosts,
    sourceServers: sourceHosts.moving,
    sourceCopies: new FakeSourceCopies(db, sourceHosts.moving),
    sourceRemovals: new FakeSourceRemovals(db, settings.bridge, now),
    adoptions: new FakeAdoptions(db, sourceHosts.moving),
    migration: transfers.migration,
    firmwareStates: new FakeFirmwareStates(db),
    counters,
    consoles,
    metering,
    hypervisor,
    guestAgent,
    state,
    storage,
    network,
    routing: new Routing(network, state),
    vlans,
    fakeVlans,
    portSecurity: new PortSecurity(new FakeFirewall(db), state),
    privateNetworking: new PrivateNetworking(new FakePrivateNetworks(), state, { hypervisor, guestAgent }),
    backups,
    backupFiles: new FakeBackupFiles(backups),
    backupRuns: new BackupRuns({ hypervisor, guestAgent, state, storage, backups }, join(dataDir, 'backups')),
    seeds: new FakeSeeds(db),
    images: new FakeImages(db, settings.imageBytes),
    isos: new FakeImages(db, settings.imageBytes, 'isos'),
    containers,
    access,
    httpNames,
    workspaces,
    gpus,
    oomKills: () => 0,
    facts: async () => ({
      ...factsOf(settings, bootedAt),
      ...(await uplinkFacts(vlans)),
      ...(await gpuFacts({ access, containers, gpus, workspaces })),
    }),
    decrypt: decrypting(key),
    // Many fake hosts live on one machine.
    machineId: () => undefined,
    load: async () => ({
      cpuPercent: 7 + Math.round(Math.random() * 50) / 10,
      load1: 0.4,
      memoryFreeMb: Math.round(settings.memoryMb * 0.8),
    }),
    heartbeatMs: settings.heartbeatMs,
    silentAfterMs: settings.silentAfterMs,
    hostCounters: () => countersOf(settings, performance.now()),
    withFaults: openFaults(dataDir, db),
    close: () => {
      containers.close()
      gpus.close()
      consoles.close()
      metering.close()
      sourceHosts.close()
      db.close()
      for (const shared of fakeHypervisor.sharedPools) shared.close()
      state.close()
    },
  } satisfies FakeHost
  if (db.run('insert or ignore into boots values (?)', [settings.bootId]).changes) {
    fakeHypervisor.powerOff()
    containers.powerOff()
  }
  return host
}

/** Its settings are read anew, so that a test or a person changes them while the agent runs. */
function vlansOf(dataDir: string, given: Partial<FakeSettings>, state: State) {
  const now = () => fakeSettingsIn(dataDir).uplink ?? given.uplink
  const fakeVlans = new FakeVlans(() => {
    const { name: _, vlans: __, ...reported } = now() ?? { name: '', vlans: '' }
    return reported
  })
  const vlans = new VlanNetworking(fakeVlans, state, () => {
    const uplink = now()
    return uplink ? uplinkFrom(uplink.name, uplink.vlans) : uplinkIn(dataDir)
  })
  return { fakeVlans, vlans }
}

const hypervisorMethods = [
  ...(['define', 'power', 'start', 'stop', 'growDisk', 'layers', 'addLayer', 'commitLayer', 'serveDisk'] as const),
  ...(['endServing', 'limitCpu', 'limitDisks', 'eject', 'insert', 'setNics', 'attachVolume', 'detachVolume'] as const),
  ...(['forgetFirmware', 'remove', 'guestAnswers', 'look', 'usage'] as const),
] satisfies (keyof Hypervisor)[]
const poolMethods = [
  ...(['disk', 'sizeBytes', 'create', 'receive', 'grow', 'remove', 'fork', 'merge', 'rebase', 'removeLayer'] as const),
  ...(['usedBytes', 'list', 'capacity', 'storage', 'openedBy'] as const),
] satisfies (keyof Pool)[]

export function fakeSettingsIn(dataDir: string): Partial<FakeSettings> {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'fake.json'), 'utf8')) as Partial<FakeSettings>
  } catch {
    return {}
  }
}

/** A host that does as much at every moment. */
const countersOf = ({ threads, memoryMb }: FakeSettings, ms: number): HostCounters => {
  const of = (perSecond: number) => Math.round((ms * perSecond) / 1000)
  return {
    cpuMs: of(90 * threads),
    rxBytes: of(2_400_000),
    txBytes: of(7_200_000),
    rxPackets: of(3000),
    txPackets: of(6500),
    disk: { readBytes: of(900_000), writtenBytes: of(3_600_000), reads: of(40), writes: of(210) },
    memoryUsedMb: Math.round(memoryMb * 0.2),
  }
}

const factsOf = (settings: FakeSettings, bootedAt: number): Facts => ({
  hostname: settings.hostname,
  agentVersion: VERSION,
  fake: true,
  os: 'Fake host',
  kernel: 'none',
  bootedAt,
  cpu: { model: 'Fake CPU', threads: settings.threads },
  cpuModels: settings.cpuModels,
  memoryMb: settings.memoryMb,
  virtualisation: { kind: 'none', reason: 'a fake host runs no vms' },
  hardware: { firmware: settings.firmware, tpm: settings.tpm },
  versions: { berth: VERSION, bun: Bun.version },
  bridges: [{ name: settings.bridge, addresses: settings.addresses }],
  addresses: settings.addresses,
  ...(settings.addresses[0] && { managementAddress: settings.addresses[0].split('/')[0]! }),
})
