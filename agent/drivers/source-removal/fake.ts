// The software of other panels on a fake host, in its database: a usual installation, unless a test describes another.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type {
  RemovalBridge,
  RemovalItem,
  RemovalPanel,
  RemovalPreview,
  RemovalScope,
  Removed,
  Restored,
  RootKey,
} from '../../protocol/values/source-removal.ts'
import { ANY_FOLDER } from './plan.ts'
import type { SourceRemovals } from './source-removals.ts'

/**
 * The host as a test describes it. `losesServer`: a server does not run any more after a removal; `holds`: domains of
 * libvirt that are none of Berth's; `undefinedBridges`: bridges of servers that no settings of the node define.
 */
export type FakeInstallation = {
  isAbsent?: boolean
  losesServer?: boolean
  isSilent?: boolean
  holds?: string[]
  undefinedBridges?: string[]
  panelRunsHere?: boolean
  runningServers?: number
  rootKeys?: RootKey[]
  commands?: string
}

const MiB = 1024 ** 2
const at = (path: string) => `${ANY_FOLDER}${path}`
const service = (name: string, becomes = 'stopped and disabled'): RemovalItem => ({
  ...{ kind: 'service', name: `${name}.service`, now: 'running', becomes, files: null, bytes: null },
})
const folder = (path: string, files: number, mib: number): RemovalItem => ({
  ...{ kind: 'folder', name: path, now: `${mib} MiB, ${files} files`, becomes: at(path), files, bytes: mib * MiB },
})
const cron = (path: string, jobs: number): RemovalItem => ({
  ...{ kind: 'cron_file', name: path, now: `${jobs} jobs`, becomes: at(path), files: 1, bytes: 4096 },
})
const lines = (kind: 'cron_lines' | 'key_line', path: string, now: string): RemovalItem => ({
  ...{ kind, name: path, now, becomes: `1 line taken out; copy in ${at(path)}`, files: null, bytes: null },
})
const usual: Record<RemovalPanel, readonly RemovalItem[]> = {
  solusvm2: [
    cron('/etc/cron.d/solus', 1),
    lines('key_line', '/root/.ssh/authorized_keys', "the control server's key"),
    service('solus-agent'),
    folder('/usr/local/solus', 214, 96),
    folder('/etc/solus', 2, 1),
    folder('/var/log/solus', 6, 12),
  ],
  virtualizor: [
    cron('/etc/cron.d/virtualizor', 2),
    lines('cron_lines', '/var/spool/cron/root', '1 of 3 jobs'),
    service('virtualizor'),
    service('virtnetwork', 'disabled, not stopped: br0 is in /etc/network/interfaces'),
    folder('/usr/local/virtualizor', 8214, 1434),
    folder('/usr/local/emps', 5120, 612),
  ],
}
const NETWORK = /^virtnetwork\.|^\/usr\/local\//

export class FakeSourceRemovals implements SourceRemovals {
  constructor(
    private db: Database,
    private bridge = 'br0',
    private now: () => number = Date.now,
  ) {
    db.run('create table if not exists installations (one integer primary key, described text not null) strict')
    db.run(`create table if not exists removals (
      id text primary key, phase text not null, panel text not null, answer text not null) strict`)
  }

  /** From now on the host is so. */
  describe(described: FakeInstallation) {
    this.db.run('insert or replace into installations values (1, ?)', [JSON.stringify(described)])
  }

  async look({ panel }: RemovalScope): Promise<RemovalPreview> {
    const described = this.described()
    if (described.isSilent) throw new Failure('removal_libvirt_silent', 'libvirt does not say which servers it holds')
    const bridges = panel === 'virtualizor' ? this.bridges(described) : []
    const missing = bridges.filter(({ definedIn }) => definedIn === null).map(({ name }) => name)
    const why = `${missing.join(', ')} is not defined in the node's own network settings`
    const stays = ({ name }: RemovalItem) => missing.length > 0 && NETWORK.test(name)
    const all = described.isAbsent || this.isRemoved(panel) ? [] : usual[panel]
    const items = all.filter((item) => !stays(item))
    const holds = described.holds ?? []
    return {
      items: [...items],
      left: all.filter(stays).map(({ name }) => ({ name, why })),
      bridges,
      networkStays: missing.length > 0,
      foreign: holds.slice(0, 100),
      foreignCount: holds.length,
      runningServers: described.runningServers ?? 2,
      panelRunsHere: described.panelRunsHere ?? false,
      rootKeys: described.rootKeys ?? [],
      commands: described.commands ?? (items.length ? items.map(({ name }) => `# ${name}`).join('\n') : null),
    }
  }

  async remove(removal: string, scope: RemovalScope): Promise<Removed> {
    const known = this.row(removal)
    if (known?.phase === 'removed') return JSON.parse(known.answer)
    if (known) throw new Failure('removal_undone', 'it was restored; everything was put back')
    const { items, left, foreign, foreignCount, runningServers, bridges } = await this.look(scope)
    if (foreignCount > 0)
      throw new Failure(
        'removal_foreign_domains',
        `libvirt holds ${foreignCount} that are none of Berth: ${foreign.join(', ')}. Nothing was changed.`,
      )
    const folder = `/root/removed-${new Date(this.now()).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}`
    const moved = items.map((item) => ({ ...item, becomes: item.becomes.replaceAll(ANY_FOLDER, folder) }))
    const answer = { folder, items: moved, left, verified: { servers: runningServers, bridges: bridges.length } }
    const phase = this.described().losesServer ? 'restored' : 'removed'
    this.db.run('insert into removals values (?, ?, ?, ?)', [removal, phase, scope.panel, JSON.stringify(answer)])
    if (phase === 'restored')
      throw new Failure('removal_undone', 'servers that ran before do not run any more; everything was put back')
    return answer
  }

  async restore(removal: string): Promise<Restored> {
    const known = this.row(removal)
    if (known?.phase !== 'removed') return { restored: 0, left: [] }
    this.db.run("update removals set phase = 'restored' where id = ?", [removal])
    return { restored: (JSON.parse(known.answer) as Removed).items.length, left: [] }
  }

  private described(): FakeInstallation {
    const row = this.db.query<{ described: string }, []>('select described from installations').get()
    return JSON.parse(row?.described ?? '{}')
  }
  private row = (id: string) =>
    this.db
      .query<{ phase: string; answer: string }, [string]>('select phase, answer from removals where id = ?')
      .get(id)
  private isRemoved = (panel: string) =>
    this.db
      .query<{ n: number }, [string]>("select count(*) n from removals where phase = 'removed' and panel = ?")
      .get(panel)!.n > 0

  private bridges({ undefinedBridges = [] }: FakeInstallation): RemovalBridge[] {
    const defined: RemovalBridge = {
      ...{ name: this.bridge, servers: 2, exists: true, definedIn: '/etc/network/interfaces', why: '' },
      ...{ settings: null, commands: null },
    }
    const others = undefinedBridges.map((name) => ({
      ...{ name, servers: 1, exists: true, definedIn: null, why: 'no network settings of this node define it' },
      ...{ settings: 'netplan', commands: `cp -a /etc/netplan /root/network-before-${name}\nnetplan generate` },
    }))
    return [defined, ...others]
  }
}
