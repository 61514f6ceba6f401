// The facts a node needs to keep its vms running while the controller is away: the port rules of each vm, its port, its
// extra volumes, whether it shall run, and its crashes. A stop is written before it is done and a start after it, so
// that a crash between is safe.
import type { Database } from 'bun:sqlite'
import { openDatabase } from './database.ts'
import type { KnownTransfer } from './drivers/transfer/transfer.ts'
import type { PortPolicy } from './protocol/firewall.ts'
import type { ContainerEnd } from './protocol/gpu.ts'
import type { Crash, Input, PortRules, PrivateNetwork, RestartPolicy, Speed, Volume } from './protocol/wire.ts'

export type State = ReturnType<typeof openState>
/** A vm's network port, and its limits. */
export type Port = { tap: string; speed: Speed }
/** A vm that should run. `leftOff`: 1 after too many crashes, or one that its policy does not mend. */
export type Wanted = { workload: string; restart: RestartPolicy; leftOff: number; startAt: number | null }
const WANTED = 'workload, restart, left_off as leftOff, start_at as startAt'

const SCHEMA = `
  create table if not exists port_rules (workload text primary key, rules text not null) strict;
  create table if not exists early_policies (workload text primary key, policy text not null) strict;
  create table if not exists guests (
    workload text primary key, restart text not null default 'on_failure', wanted integer not null default 0,
    left_off integer not null default 0, start_at integer) strict;
  create table if not exists private_networks (network text primary key, spec text not null) strict;
  create table if not exists crashes (
    workload text not null, at integer not null, cause text not null, detail text not null, outcome text not null,
    primary key (workload, at)) strict;
  create table if not exists container_ends (
    workload text not null, at integer not null, how text not null, primary key (workload, at)) strict;
  create table if not exists floating (address text primary key, workload text not null) strict;
  create table if not exists firewall_digest (digest text not null) strict;
  create table if not exists frozen (workload text primary key) strict;
  create table if not exists controller_epochs (
    node text primary key, epoch integer not null, refused_epoch integer, refused_at integer) strict;
  create table if not exists ports (workload text primary key, tap text not null, speed text not null) strict;
  create table if not exists port_vlans (workload text primary key, vlan integer not null) strict;
  create table if not exists vm_pools (
    workload text not null, pool text not null, primary key (workload, pool)) strict;
  create table if not exists attached_volumes (
    id text primary key, workload text not null, volume text not null) strict;
  create table if not exists transfers (
    transfer text primary key, workload text not null, owns integer not null, receive text,
    begun text not null default '[]') strict;
  create table if not exists transfer_limits (transfer text primary key, mbps integer) strict;
`

export function openState(path: string) {
  const db = openDatabase(path, SCHEMA)
  return {
    ...floatingState(db),
    ...rulesState(db),
    ...wantedState(db),
    ...networkState(db),
    ...crashState(db),
    ...frozenState(db),
    ...portState(db),
    ...volumeState(db),
    ...epochState(db),
    ...transferState(db),
    close: () => db.close(),
  }
}

/** Floating addresses, also of vms that have no rules yet. */
function floatingState(db: Database) {
  const floating = (workload: string) =>
    db
      .query<{ address: string }, [string]>('select address from floating where workload = ? order by address')
      .all(workload)
      .map(({ address }) => address)
  return {
    /** The vm's floating addresses count also while it has no rules. */
    keepFloating: (workload: string, addresses: readonly string[]) =>
      db.transaction(() => {
        for (const address of addresses) db.run('insert or replace into floating values (?, ?)', [address, workload])
      })(),
    dropFloating: (workload: string, addresses: readonly string[]) =>
      db.transaction(() => {
        for (const address of addresses)
          db.run('delete from floating where address = ? and workload = ?', [address, workload])
      })(),
    floating,
    /** The floating addresses of all vms. */
    allFloating: () =>
      db
        .query<{ workload: string; address: string }, []>('select workload, address from floating order by address')
        .all(),
  }
}

/** Port rules, policies that came before them, and the digest of the rules in force. */
function rulesState(db: Database) {
  const parse = (row: { rules: string }) => JSON.parse(row.rules) as PortRules
  return {
    keepPortRules: (rules: PortRules) =>
      void db.run('insert or replace into port_rules values (?, ?)', [rules.workload, JSON.stringify(rules)]),
    forgetPortRules: (workload: string) => void db.run('delete from port_rules where workload = ?', [workload]),
    /** A policy that came before the rules of its vm. */
    keepEarlyPolicy: (workload: string, policy: PortPolicy) =>
      void db.run('insert or replace into early_policies values (?, ?)', [workload, JSON.stringify(policy)]),
    earlyPolicy(workload: string): PortPolicy | undefined {
      const row = db
        .query<{ policy: string }, [string]>('select policy from early_policies where workload = ?')
        .get(workload)
      return row ? (JSON.parse(row.policy) as PortPolicy) : undefined
    },
    dropEarlyPolicy: (workload: string) => void db.run('delete from early_policies where workload = ?', [workload]),
    portRules: () => db.query<{ rules: string }, []>('select rules from port_rules order by workload').all().map(parse),
    portRulesOf(workload: string): PortRules | undefined {
      const row = db.query<{ rules: string }, [string]>('select rules from port_rules where workload = ?').get(workload)
      return row ? parse(row) : undefined
    },
    hasPortRules: (workload: string) => db.query('select 1 from port_rules where workload = ?').get(workload) !== null,
    /** Tells the rules in force after a restart of the agent, see `Memory` of the firewall. */
    firewallDigest: () => db.query<{ digest: string }, []>('select digest from firewall_digest').get()?.digest,
    keepFirewallDigest: (digest: string) =>
      db.transaction(() => {
        db.run('delete from firewall_digest')
        db.run('insert into firewall_digest values (?)', [digest])
      })(),
  }
}

/** The workloads that should run. */
function wantedState(db: Database) {
  return {
    keepRestartPolicy: (workload: string, restart: RestartPolicy) =>
      void db.run(
        'insert into guests (workload, restart) values (?1, ?2) on conflict (workload) do update set restart = ?2',
        [workload, restart],
      ),
    wantRunning: (workload: string) =>
      void db.run(
        `insert into guests (workload, wanted) values (?, 1)
         on conflict (workload) do update set wanted = 1, left_off = 0, start_at = null`,
        [workload],
      ),
    wantStopped: (workload: string) =>
      void db.run('update guests set wanted = 0, left_off = 0, start_at = null where workload = ?', [workload]),
    forgetGuest: (workload: string) => void db.run('delete from guests where workload = ?', [workload]),
    /** The vms that should run. */
    wanted: () => db.query<Wanted, []>(`select ${WANTED} from guests where wanted = 1 order by workload`).all(),
    wantedOne: (workload: string) =>
      db.query<Wanted, [string]>(`select ${WANTED} from guests where wanted = 1 and workload = ?`).get(workload) ??
      undefined,
    /** The next try to start it, in milliseconds since 1970; undefined when none is due. */
    startAt: (workload: string, at: number | undefined) =>
      void db.run('update guests set start_at = ? where workload = ?', [at ?? null, workload]),
    /** It stays off until a command starts it. */
    leaveOff: (workload: string) =>
      void db.run('update guests set left_off = 1, start_at = null where workload = ?', [workload]),
  }
}

/** Private networks. */
function networkState(db: Database) {
  return {
    keepPrivateNetwork: (spec: PrivateNetwork) =>
      void db.run('insert or replace into private_networks values (?, ?)', [spec.network, JSON.stringify(spec)]),
    forgetPrivateNetwork: (network: string) => void db.run('delete from private_networks where network = ?', [network]),
    privateNetworks: () =>
      db
        .query<{ spec: string }, []>('select spec from private_networks order by network')
        .all()
        .map(({ spec }) => JSON.parse(spec) as PrivateNetwork),
  }
}

/** Crashes, as long as they are told. */
function crashState(db: Database) {
  return {
    keepCrash: ({ workload, at, cause, detail, outcome, end }: Crash) =>
      db.transaction(() => {
        db.run('insert or replace into crashes values (?, ?, ?, ?, ?)', [workload, at, cause, detail, outcome])
        if (end) db.run('insert or replace into container_ends values (?, ?, ?)', [workload, at, JSON.stringify(end)])
      })(),
    /** Crashes after `since`, oldest first. */
    crashes: (since: number) =>
      db
        .query<Omit<Crash, 'type' | 'end'> & { how: string | null }, [number]>(
          `select workload, at, cause, detail, outcome, how from crashes left join container_ends using (workload, at)
           where at > ? order by at limit 500`,
        )
        .all(since)
        .map(
          ({ how, ...crash }): Crash => ({
            type: 'crash',
            ...crash,
            ...(how !== null && { end: JSON.parse(how) as ContainerEnd }),
          }),
        ),
    forgetCrashes: (before: number) =>
      db.transaction(() => {
        db.run('delete from crashes where at < ?', [before])
        db.run('delete from container_ends where at < ?', [before])
      })(),
  }
}

/** Guests whose file systems are frozen. */
function frozenState(db: Database) {
  return {
    /** Guests that were asked to freeze and did not say yet that they write again. */
    noteFrozen: (workload: string) => void db.run('insert or ignore into frozen values (?)', [workload]),
    noteThawed: (workload: string) => void db.run('delete from frozen where workload = ?', [workload]),
    /** Guests that are frozen on purpose at this moment. */
    freezing: new Set<string>(),
    frozen: () =>
      db
        .query<{ workload: string }, []>('select workload from frozen order by workload')
        .all()
        .map(({ workload }) => workload),
  }
}

/** Network ports and storage pools of vms. */
function portState(db: Database) {
  return {
    keepPort: (workload: string, port: Port) =>
      void db.run('insert or replace into ports values (?, ?, ?)', [workload, port.tap, JSON.stringify(port.speed)]),
    port(workload: string): Port | undefined {
      const row = db
        .query<{ tap: string; speed: string }, [string]>('select tap, speed from ports where workload = ?')
        .get(workload)
      return row ? { tap: row.tap, speed: JSON.parse(row.speed) as Speed } : undefined
    },
    keepVlan: (workload: string, vlan: number) =>
      void db.run('insert or replace into port_vlans values (?, ?)', [workload, vlan]),
    forgetVlan: (workload: string) => void db.run('delete from port_vlans where workload = ?', [workload]),
    vlanOf: (workload: string) =>
      db.query<{ vlan: number }, [string]>('select vlan from port_vlans where workload = ?').get(workload)?.vlan,
    /** The VLANs that vms of this node are in, each once. */
    vlans: () =>
      db
        .query<{ vlan: number }, []>('select distinct vlan from port_vlans order by vlan')
        .all()
        .map(({ vlan }) => vlan),
    /** The storage pools of a vm's own disks, as it was last defined. */
    keepPools: (workload: string, pools: readonly string[]) =>
      db.transaction(() => {
        db.run('delete from vm_pools where workload = ?', [workload])
        for (const pool of new Set(pools)) db.run('insert into vm_pools values (?, ?)', [workload, pool])
      })(),
    /** The same of a vm that an earlier agent defined, which did not note them, where all its disks are in one pool. */
    learnPools: (workload: string, pools: readonly string[]) => {
      const add = 'insert into vm_pools select ?1, ?2 where not exists (select 1 from vm_pools where workload = ?1)'
      if (new Set(pools).size === 1) db.run(add, [workload, pools[0]!])
    },
    /** The pools of all disks of a vm, by name. */
    poolsOf: (workload: string) =>
      db
        .query<{ pool: string }, [string]>(
          `select pool from vm_pools where workload = ?1
           union select volume ->> '$.pool' from attached_volumes where workload = ?1 order by 1`,
        )
        .all(workload)
        .map(({ pool }) => pool),
    forgetPort: (workload: string) => void db.run('delete from ports where workload = ?', [workload]),
  }
}

/** Extra volumes and the vms that have them. */
function volumeState(db: Database) {
  return {
    /** A volume has one vm at most: it leaves the one that had it. */
    keepAttached: (workload: string, volume: Volume) =>
      void db.run('insert or replace into attached_volumes values (?, ?, ?)', [
        volume.workload,
        workload,
        JSON.stringify(volume),
      ]),
    dropAttached: (volumeId: string) => void db.run('delete from attached_volumes where id = ?', [volumeId]),
    /** The extra volumes of a vm, the oldest first. */
    attachedTo: (workload: string) =>
      db
        .query<{ volume: string }, [string]>('select volume from attached_volumes where workload = ? order by id')
        .all(workload)
        .map(({ volume }) => JSON.parse(volume) as Volume),
    /** The vm that has the extra volume. */
    holderOf: (volumeId: string) =>
      db.query<{ workload: string }, [string]>('select workload from attached_volumes where id = ?').get(volumeId)
        ?.workload,
  }
}

/** The controllers that this node obeyed. */
function epochState(db: Database) {
  const epochRow = (node: string) =>
    db
      .query<{ epoch: number; refusedAt: number | null }, [string]>(
        'select epoch, refused_at as refusedAt from controller_epochs where node = ?',
      )
      .get(node)
  return {
    /** The highest epoch of the controllers that this node obeyed; 0: none has had one. */
    controllerEpoch: (node: string) => epochRow(node)?.epoch ?? 0,
    obeyEpoch: (node: string, epoch: number) =>
      void db.run(
        `insert into controller_epochs (node, epoch) values (?1, ?2) on conflict (node)
         do update set epoch = max(epoch, ?2), refused_epoch = null, refused_at = null`,
        [node, epoch],
      ),
    noteRefusedEpoch: (node: string, epoch: number, at: number) =>
      void db.run('update controller_epochs set refused_epoch = ?, refused_at = ? where node = ?', [epoch, at, node]),
    /** When a controller with a lower epoch was refused, in ms; undefined once another one was obeyed. */
    refusedEpochAt: (node: string) => epochRow(node)?.refusedAt ?? undefined,
  }
}

type TransferRow = { transfer: string; workload: string; owns: number; receive: string | null; begun: string }

/** Transfers to and from this node that have not ended. */
function transferState(db: Database) {
  const parse = ({ owns, receive, begun, ...row }: TransferRow): KnownTransfer => ({
    ...row,
    owns: owns === 1,
    receive: receive === null ? null : (JSON.parse(receive) as Input<'transfer.receive'>),
    begun: JSON.parse(begun) as number[],
  })
  const find = (transfer: string) =>
    db.query<TransferRow, [string]>('select * from transfers where transfer = ?').get(transfer)
  return {
    transfer(transfer: string): KnownTransfer | undefined {
      const row = find(transfer)
      return row ? parse(row) : undefined
    },
    transfers: () => db.query<TransferRow, []>('select * from transfers order by transfer').all().map(parse),
    /** A transfer from this node, which has the workload until it has given it over. */
    keepLeaving: (transfer: string, workload: string) =>
      void db.run('insert or ignore into transfers (transfer, workload, owns) values (?, ?, 1)', [transfer, workload]),
    /** A transfer to this node, which has the workload when that is said. */
    keepArriving: (input: Input<'transfer.receive'>) =>
      void db.run(
        `insert into transfers (transfer, workload, owns, receive) values (?1, ?2, 0, ?3)
         on conflict (transfer) do update set receive = ?3`,
        [input.transfer, input.workload, JSON.stringify(input)],
      ),
    setOwns: (transfer: string, owns: boolean) =>
      void db.run('update transfers set owns = ? where transfer = ?', [Number(owns), transfer]),
    /** The target may have this disk in part from now on. */
    noteBegun: (transfer: string, disk: number) =>
      void db.run(
        `update transfers set begun = json_insert(begun, '$[#]', ?2)
         where transfer = ?1 and not exists (select 1 from json_each(begun) where value = ?2)`,
        [transfer, disk],
      ),
    /** The limit of a transfer from now on, instead of that with which its copy was ordered; null: none. */
    noteLimit: (transfer: string, maxMbps: number | null) =>
      void db.run('insert or replace into transfer_limits values (?, ?)', [transfer, maxMbps]),
    limitOf(transfer: string, ordered: number | null): number | null {
      const told = db
        .query<{ mbps: number | null }, [string]>('select mbps from transfer_limits where transfer = ?')
        .get(transfer)
      return told ? told.mbps : ordered
    },
    forgetTransfer(transfer: string) {
      for (const table of ['transfers', 'transfer_limits'])
        db.run(`delete from ${table} where transfer = ?`, [transfer])
    },
    /** Is the workload another node's, by a transfer that has not ended? */
    isElsewhere: (workload: string) =>
      db.query('select 1 from transfers where workload = ? and owns = 0').get(workload) !== null,
  }
}
