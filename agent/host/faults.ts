// Fault injection for tests of the controller. `<data>/faults.json` is read at every command. The database counts how
// often a fault struck, so that the count survives a kill of the agent.
import type { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.ts'
import type { CommandName, Output } from '../protocol/wire.ts'

export type Fault = {
  /** A command's name, or `*`. */
  command: CommandName | '*'
  workload?: string
  /**
   * fail: error, nothing done. fail-late: done, then error. hang: no answer. lie: answer, nothing done. slow: delayed.
   */
  mode: 'fail' | 'fail-late' | 'hang' | 'lie' | 'slow'
  /** How often it strikes; without a number, always. */
  times?: number
  /** Milliseconds, for `slow` and `hang`. */
  ms?: number
}

/** Questions to a part of the host that stay open until the entry is gone, or fail after `ms`. */
export type Hang = { hangs: 'hypervisor' | 'containers' } | { hangs: 'pool'; pool: string }
/**
 * The program that the next update brings to a fake node. `does_not_start`, `cannot_connect`; `lies`: it reports no vm,
 * and nothing that speaks against it; `hangs`: it says nothing more `ms` after its start.
 */
export type FakeUpdateFault = {
  update: 'does_not_start' | 'cannot_connect' | 'lies' | 'hangs'
  ms?: number
}
type Entry = Fault | (Hang & { ms?: number }) | FakeUpdateFault

const HANG_POLL_MS = 20

/** Resolves when this part does not hang. Throws `tool_timeout` after the milliseconds of the entry. */
export async function whileHanging(dataDir: string, part: Hang['hangs'], pool?: string) {
  const isIt = (entry: Entry) =>
    'hangs' in entry && entry.hangs === part && (entry.hangs !== 'pool' || entry.pool === pool)
  const began = performance.now()
  for (let found = entriesIn(dataDir).find(isIt); found; found = entriesIn(dataDir).find(isIt)) {
    if (found.ms !== undefined && performance.now() - began >= found.ms)
      throw new Failure('tool_timeout', `${pool ?? part} hangs on purpose`)
    await Bun.sleep(HANG_POLL_MS)
  }
}

/** The same object, whose methods of these names wait while the part hangs. */
export function hanging<T extends object>(of: T, names: readonly (keyof T)[], wait: () => Promise<void>): T {
  const waiting = new Set<unknown>(names)
  return new Proxy(of, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const own = value.bind(target)
      if (!waiting.has(name)) return own
      return async (...given: unknown[]) => {
        await wait()
        return own(...given)
      }
    },
  })
}

export function openFaults(dataDir: string, db: Database) {
  db.run('create table if not exists strikes (fault text primary key, times integer not null) strict')
  return async (name: CommandName, workload: string | undefined, work: () => Promise<unknown>) => {
    const faults = entriesIn(dataDir).filter((entry) => 'command' in entry)
    const fault = faults.find((entry) => matches(entry, name, workload) && strikes(db, entry))
    return fault ? suffer(fault, name, work) : work()
  }
}

export const updateFaultIn = (dataDir: string): FakeUpdateFault | undefined =>
  entriesIn(dataDir).find((entry) => 'update' in entry)

function entriesIn(dataDir: string): Entry[] {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'faults.json'), 'utf8')) as Entry[]
  } catch {
    return []
  }
}

const matches = (fault: Fault, name: CommandName, workload: string | undefined) =>
  (fault.command === '*' || fault.command === name) && (fault.workload === undefined || fault.workload === workload)

/** Counts before the fault takes effect, so that a crash in it does not repeat it. */
function strikes(db: Database, fault: Fault): boolean {
  if (fault.times === undefined) return true
  const { times } = db
    .query<{ times: number }, [string]>(
      'insert into strikes values (?, 1) on conflict (fault) do update set times = times + 1 returning times',
    )
    .get(JSON.stringify(fault)) ?? { times: 0 }
  return times <= fault.times
}

async function suffer({ mode, ms }: Fault, name: CommandName, work: () => Promise<unknown>): Promise<unknown> {
  if (mode === 'lie') return lies[name]
  if (mode === 'slow') await Bun.sleep(ms ?? 1000)
  if (mode === 'hang') await (ms === undefined ? new Promise(() => {}) : Bun.sleep(ms))
  if (mode === 'slow') return work()
  if (mode === 'fail-late') await work()
  throw new Failure('fault', `${name} fails on purpose (${mode})`)
}

/** The answers of an agent that did nothing. */
const lies: { [N in CommandName]: Output<N> } = {
  'image.ensure': { virtualSizeBytes: 2 * 1024 ** 3 },
  'image.remove': {},
  'iso.ensure': { sizeBytes: 2 * 1024 ** 3 },
  'iso.remove': {},
  'volume.look': { sizeBytes: null },
  'volume.create': {},
  'volume.make': {},
  'volume.attach': {},
  'volume.detach': {},
  'volume.grow': {},
  'volume.remove': {},
  'volume.snapshot': { consistent: true, usedBytes: 0 },
  'volume.fork': {},
  'volume.merge': { usedBytes: 0 },
  'volume.remove-layer': {},
  'seed.write': {},
  'seed.remove': {},
  'firewall.allow': {},
  'firewall.set-policy': {},
  'firewall.look': { rules: [], dropped: [], drops: [] },
  'firewall.forget': {},
  'firewall.float': {},
  'guest.addresses': { guest: 'applied' },
  'guest.readdress': { guest: 'applied', os: 'linux' },
  'network.set': { waiting: [] },
  'network.remove': {},
  'vm.define': {},
  'vm.set-restart-policy': {},
  'vm.set-iso': {},
  'vm.set-speed': {},
  'vm.look': { power: 'running' },
  'vm.start': {},
  'vm.stop': {},
  'vm.remove': {},
  'vm.await': { answered: 'agent' },
  'reach.look': { power: 'running', addresses: [], inside: null, os: null },
  'guest.set-password': { set: true },
  'backup-target.test': { finding: 'works', detail: '', appendOnly: 'unknown', seconds: 0 },
  'backup.make': { snapshot: '0'.repeat(64), diskBytes: 0, addedBytes: 0, consistent: false, seconds: 0 },
  'backup.restore': {},
  'drill.start': {},
  'drill.await': { proof: 'agent' },
  'backup.forget': { gone: [], kept: [] },
  'backup.prune': { freedBytes: 0 },
  'backup.check': { finding: 'works', detail: '' },
  'cards.check': { cards: [] },
  'container-image.ensure': { sizeBytes: 2 * 1024 ** 3 },
  'container-image.remove': {},
  'workspace.create': {},
  'workspace.remove': {},
  'container.create': {},
  'container.start': {},
  'container.stop': {},
  'container.remove': {},
  'container.look': { power: 'running', end: null },
  'container.await': { answered: 'ssh' },
  'container.set-keys': {},
  'container.logs': { text: '', truncated: false, cursor: '0-0' },
  'http-names.set': { scheme: 'https' },
  'transfer.key': { publicKey: `ssh-ed25519 ${'A'.repeat(68)}` },
  'transfer.receive': { port: 22, user: 'root', hostKeys: [`ssh-ed25519 ${'A'.repeat(68)}`] },
  'transfer.copy': { copiedBytes: 0, totalBytes: 0 },
  'transfer.mirror': { copiedBytes: 0, totalBytes: 0 },
  'transfer.checksum': { disks: [] },
  'transfer.begin-migration': { copiedBytes: 0, totalBytes: 0 },
  'transfer.migrate': { copiedBytes: 0, totalBytes: 0, stoppedAt: 0 },
  'transfer.place-firmware': {},
  'transfer.give': {},
  'transfer.limit': {},
  'transfer.renew': {},
  'transfer.resume': { power: 'running', resumedAt: 0 },
  'transfer.look': { power: 'absent', reason: '', owns: null },
  'transfer.end': {},
  'guest.look': { answers: false, system: null, script: null },
  'source-host.key': { publicKey: `ssh-ed25519 ${'A'.repeat(68)}` },
  'source-host.add-keys': { hostKey: `ssh-ed25519 ${'A'.repeat(68)}`, added: 1, present: 0 },
  'source-host.remove-keys': { removed: 1 },
  'source-host.look': { hostKey: `ssh-ed25519 ${'A'.repeat(68)}`, login: 'accepted', refusal: null, facts: null },
  'own-servers.look': { servers: [] },
  'source-host.save': { hostKey: null, state: 'running', isPersistent: true, definition: '<domain/>' },
  'source-host.stop': { wasRunning: true },
  'source-host.start': {},
  'source-host.start-here': {},
  'source-host.copy': { totalBytes: 0, copiedBytes: 0, blocks: 0, changedBlocks: 0, ms: 0 },
  'source-host.limit': {},
  'source-host.discard': {},
  'source-host.adopt': { format: 'qcow2', sizeBytes: 1 },
  'source-host.give-back': {},
  'source-host.forget': {},
  'source-removal.look': {
    ...{ items: [], left: [], bridges: [], networkStays: false, foreign: [], foreignCount: 0, runningServers: 0 },
    ...{ panelRunsHere: false, rootKeys: [], commands: null },
  },
  'source-removal.run': { folder: '/root/removed', items: [], left: [], verified: { servers: 0, bridges: 0 } },
  'source-removal.restore': { restored: 0, left: [] },
  'source-servers.look': { hostKey: `ssh-ed25519 ${'A'.repeat(68)}`, servers: [] },
}
