// `berth agent run --fake`: a node without vms. Its state is in <data>/fake.db, its settings are in <data>/fake.json.
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../database.ts'
import { FakeFirewall } from '../drivers/firewall/fake.ts'
import { FakeHypervisor } from '../drivers/hypervisor/fake.ts'
import { FakeImages } from '../drivers/images/fake.ts'
import { FakeNetwork } from '../drivers/network/fake.ts'
import { FakeSeeds } from '../drivers/seed/fake.ts'
import { FakePool } from '../drivers/storage/fake.ts'
import { Storage } from '../drivers/storage/storage.ts'
import { FakeCounters } from '../drivers/traffic/fake.ts'
import type { Facts } from '../protocol/wire.ts'
import { openState } from '../state.ts'
import { VERSION } from '../version.ts'
import { openFaults } from './faults.ts'
import type { Host } from './host.ts'
import { Metering } from './metering.ts'
import { PortSecurity } from './port-security.ts'

/** The settings that `fake.json` can override. */
export type FakeSettings = {
  hostname: string
  threads: number
  memoryMb: number
  bridge: string
  addresses: string[]
  poolBytes: number
  imageBytes: number
  /** Milliseconds from a vm's start until its guest answers. */
  bootMs: number
  /** A new value counts as a reboot of the host: every vm is off. */
  bootId: string
}

const defaults: FakeSettings = {
  hostname: `fake-${hostname()}`.slice(0, 63),
  threads: 32,
  memoryMb: 131_072,
  bridge: 'br0',
  addresses: ['203.0.113.10/24', '2001:db8::10/64'],
  poolBytes: 2e12,
  imageBytes: 2 * 1024 ** 3,
  bootMs: 20,
  bootId: 'first-boot',
}

/** Opens the fake host in `dataDir`, in the state in which the last agent there left it, also after a crash. */
export function openFakeHost(
  dataDir: string,
  given: Partial<FakeSettings> = {},
  now: () => number = Date.now,
): Host & { counters: FakeCounters } {
  const settings = { ...defaults, ...given, ...settingsIn(dataDir) }
  const db = openDatabase(join(dataDir, 'fake.db'), 'create table if not exists boots (id text primary key) strict')
  const hypervisor = new FakeHypervisor(db, settings)
  const state = openState(join(dataDir, 'state.db'))
  const bootedAt = Date.now()
  const counters = new FakeCounters(db, settings.bootId)
  const metering = new Metering(join(dataDir, 'traffic.db'), counters, state, now)
  const host = {
    counters,
    metering,
    hypervisor,
    state,
    storage: new Storage([new FakePool(db, 'local', settings.poolBytes)]),
    network: new FakeNetwork([settings.bridge]),
    portSecurity: new PortSecurity(new FakeFirewall(db), state),
    seeds: new FakeSeeds(db),
    images: new FakeImages(db, settings.imageBytes),
    oomKills: () => 0,
    facts: async () => factsOf(settings, bootedAt),
    // Many fake hosts live on one machine.
    machineId: () => undefined,
    load: async () => ({
      cpuPercent: 7 + Math.round(Math.random() * 50) / 10,
      load1: 0.4,
      memoryFreeMb: Math.round(settings.memoryMb * 0.8),
    }),
    withFaults: openFaults(dataDir, db),
    close: () => {
      metering.close()
      db.close()
      state.close()
    },
  } satisfies Host & { counters: FakeCounters }
  if (db.run('insert or ignore into boots values (?)', [settings.bootId]).changes) hypervisor.powerOff()
  return host
}

function settingsIn(dataDir: string): Partial<FakeSettings> {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'fake.json'), 'utf8')) as Partial<FakeSettings>
  } catch {
    return {}
  }
}

const factsOf = (it: FakeSettings, bootedAt: number): Facts => ({
  hostname: it.hostname,
  agentVersion: VERSION,
  fake: true,
  os: 'Fake host',
  kernel: 'none',
  bootedAt,
  cpu: { model: 'Fake CPU', threads: it.threads },
  memoryMb: it.memoryMb,
  virtualisation: { kind: 'none', reason: 'a fake host runs no vms' },
  versions: { berth: VERSION, bun: Bun.version },
  bridges: [{ name: it.bridge, addresses: it.addresses }],
  addresses: it.addresses,
})
