// The state of node and panel in a form that two runs can be compared by: a job must end in the same state after every
// crash.
import { Database } from 'bun:sqlite'
import { addressReport } from '../../../agent/controller-link/address-report.ts'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import type { Speed } from '../../../agent/protocol/wire.ts'
import { limitsOf } from '../../../src/compute/server-records/limits.ts'
import { serverById } from '../../../src/compute/server-records/model.ts'
import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import { statusOf } from '../../../src/fleet/workloads/status.ts'
import { homeOf } from '../../../src/fleet/workloads/stays/queries.ts'
import { isInForce, serverFirewall } from '../../../src/network/firewall-records/queries.ts'
import { addressLedgerFaults } from '../ledger.ts'
import { stayFaults } from '../nodes/stays.ts'
import type { World } from './panel.ts'

export type Invariants = {
  status: string
  power: string
  /** The restart policy of the panel's record, and of a vm that should run on the node. */
  restart: string
  /** The limits in force by the panel's record, and on the node: in and out. */
  speed: string
  /** Private networks on the node, and the cards that the vm has there. */
  networks: string
  /** Is the firewall in force by the panel's record, and is it on, on the node? */
  firewall: string
  vms: number
  volumes: number
  /** Generations: of the disk in the definition on the node, and of the one that the panel says is in use. */
  disk: { onNode: number | null; inUse: number | null }
  /** The same of the rescue system that it is in. */
  rescue: { onNode: number | null; inUse: number | null }
  /** The ISO in the drive, on the node and by the record; and the copies of ISOs there. */
  iso: string
  isoCopies: number
  /** By the record, and in the definition on the node. */
  bootFirst: string
  /** Layers of the disk in use, the top first: on the node with what they stand on, and by the record. */
  layers: string
  /** Backups: by the record, and snapshots in the fake target. */
  backups: string
  /** Extra volumes: by the record, and on the node with the vms that have them. */
  extra: string
  /** Machines that its node holds beside workloads. */
  guests: number
  /** Snapshots of the record, with their layers. */
  snapshots: string
  spareDiskGb: number
  /** The finding of the last test of the only backup target. */
  backupTest: string
  /** Held by the workload, and of its definition on the node. */
  size: string
  onNode: string
  seeds: number
  rules: number
  /** IPv4 addresses that the node's rules allow its workloads. */
  allowed: number
  addresses: number
  /** Addresses that the agent would name and that the panel does not give to what has them there. */
  unrecorded: string
  held: number
  /** The cards of the node: the result of the last check of each. */
  cards: string
  /** A GPU instance: its container and /workspace on the node, what its events said last, its cards and its keys. */
  instance: string
  /** HTTP names that the node serves, and whether the panel knows of them. */
  names: string
  /** The server that the floating address points to: by the table, and by the rules of the node. */
  floating: string
  events: string[]
  openJobs: number
}

/**
 * `id` is the workload that the job was about. Throws where the ledger of addresses does not say who has each extra and
 * floating address, and where stays do not add up.
 */
export async function invariants(p: World, id: string): Promise<Invariants> {
  const faults = [...addressLedgerFaults(p.db), ...stayFaults(p.db)]
  if (faults.length) throw new Error(faults.join('\n'))
  const { host } = p.node.agent
  const { ours } = await host.hypervisor.look()
  const number = (sql: string) => (p.db.$client.query(sql).get() as { n: number }).n
  const workload = workloadById(p.db, id)!
  return {
    status: statusOf(workload),
    disk: { onNode: definedDisk(p.node.agent.home, id), inUse: workload.diskGeneration },
    rescue: { onNode: definedDisk(p.node.agent.home, id, 'rescue'), inUse: rescueOf(p, id) },
    iso: isoIn(p, id),
    isoCopies: onNode<{ n: number }>(p, 'select count(*) as n from isos')!.n,
    bootFirst: bootFirstOf(p, id),
    layers: layersOf(p, id),
    backups: backupsOf(p),
    extra: await extraOf(p),
    guests: p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM node_guests').get()!.n,
    snapshots: snapshotsIn(p, id),
    spareDiskGb: homeOf(p.db, id)?.spareDiskGb ?? 0,
    backupTest: backupTestIn(p),
    size: `${workload.vcpus} vCPU ${workload.memoryMb} MB ${workload.diskGb} GB`,
    onNode: definedSize(p.node.agent.home, id),
    power: ours.find((d) => d.id === id)?.power ?? 'absent',
    vms: ours.length,
    volumes: (await host.storage.list()).length,
    restart: `${workload.restartPolicy} ${host.state.wantedOne(id)?.restart}`,
    speed: `${speedInPanel(p, id)} ${speedOnNode(host.state.port(id)?.speed)}`,
    networks: `${host.state.privateNetworks().length}, ${(host.hypervisor as FakeHypervisor).nics(id).length}`,
    firewall: `${isInForce(p.db, serverFirewall(p.db, id)) ? 'in force' : 'on its way'}, ${firewallOnNode(p, id)}`,
    seeds: (await host.seeds.path(id)) ? 1 : 0,
    rules: host.state.portRules().length,
    allowed: host.state.portRules().flatMap(({ ipv4 }) => ipv4).length,
    addresses: number('SELECT count(workload_id) AS n FROM addresses'),
    unrecorded: await unrecordedOn(p),
    held: number('SELECT count(*) AS n FROM workloads WHERE released_at IS NULL'),
    floating: `${floatsTo(p)}, ${
      host.state
        .portRules()
        .filter(({ workload }) => host.state.floating(workload).length)
        .map(({ workload }) => workloadById(p.db, workload)!.hostname)
        .join(' and ') || 'none'
    } on its node`,
    cards: cardsIn(p),
    instance: await instanceIn(p, id),
    names: namesIn(p),
    events: p.events(),
    openJobs: number(
      "SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing') OR undo_node_id IS NOT NULL",
    ),
  }
}

async function unrecordedOn(p: World): Promise<string> {
  const recorded = new Set(
    p.db.$client
      .query<{ one: string }, []>(
        `SELECT workload_id || ' ' || address || iif(version = 6, '/' || prefix_length, '') AS one FROM addresses
         WHERE workload_id IS NOT NULL`,
      )
      .all()
      .map(({ one }) => one),
  )
  const named = (await addressReport(p.node.agent.host, () => true)).flatMap(({ held }) => held)
  return named
    .map(({ workload, address }) => `${workload} ${address}`)
    .filter((one) => !recorded.has(one))
    .join(', ')
}

function cardsIn(p: World): string {
  const sql = "SELECT group_concat(health || iif(check_after IS NULL, '', ' and waits'), ', ') AS all_ FROM gpu_cards"
  return p.db.$client.query<{ all_: string | null }, []>(sql).get()?.all_ ?? 'none'
}

/** The HTTP names that the node serves, and whether the panel knows that it does. */
function namesIn(p: World): string {
  const sql = 'SELECT count(*) AS n FROM gpu_hosts WHERE http_applied IS NOT NULL'
  const known = p.db.$client.query<{ n: number }, []>(sql).get()!.n
  return `${p.node.agent.host.httpNames.served().length} served, ${known ? 'known' : 'not known'}`
}

async function instanceIn(p: World, id: string): Promise<string> {
  const row = p.db.$client
    .query<{ spell: string | null; cards: number }, [string]>(
      `SELECT spell, (SELECT count(*) FROM gpu_cards WHERE workload_id = g.id) AS cards
       FROM gpu_instances g WHERE id = ?`,
    )
    .get(id)
  if (!row) return 'none'
  const { access, containers, workspaces } = p.node.agent.host
  const workspace = (await workspaces.list()).includes(id) ? 'workspace' : 'no workspace'
  const cards = `${row.cards} ${row.cards === 1 ? 'card' : 'cards'}`
  return `${await containers.power(id)}, ${workspace}, spell ${row.spell}, ${cards}, ${access.keys(id).length} keys`
}

function backupTestIn(p: World): string {
  const sql = 'SELECT test_finding AS finding FROM backup_targets'
  return p.db.$client.query<{ finding: string | null }, []>(sql).get()?.finding ?? 'none'
}

function firewallOnNode({ node }: World, id: string) {
  const rules = node.agent.host.state.portRules().find(({ workload }) => workload === id)
  return rules?.policy?.firewall ? 'on' : 'off'
}

function speedInPanel(p: World, id: string) {
  const server = serverById(p.db, id)
  if (!server) return 'none'
  const { portInMbps, portOutMbps } = limitsOf(server)
  return `${portInMbps}/${portOutMbps}`
}
const speedOnNode = (speed: Speed | undefined) => (speed ? `${speed.inMbps}/${speed.outMbps}` : 'none')

const floatsTo = (p: World): string =>
  p.db.$client
    .query<{ hostname: string }, []>(
      'SELECT w.hostname FROM addresses a JOIN workloads w ON w.id = a.workload_id WHERE a.holder_id IS NOT NULL',
    )
    .get()?.hostname ?? 'none'

function definedSize(home: string, id: string): string {
  const db = new Database(`${home}/fake.db`, { readonly: true })
  const row = db.query<{ definition: string }, [string]>('select definition from vms where workload = ?').get(id)
  db.close()
  if (!row) return 'none'
  const { vcpus, memoryMb } = JSON.parse(row.definition)
  return `${vcpus} vCPU ${memoryMb} MB`
}

function onNode<R>(p: World, sql: string, ...values: string[]): R | null {
  const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
  const row = db.query<R, string[]>(sql).get(...values)
  db.close()
  return row
}

function isoIn(p: World, id: string): string {
  const path = onNode<{ iso: string | null }>(p, 'select iso from vms where workload = ?', id)?.iso
  const sql = 'SELECT iso_id AS isoId FROM servers WHERE id = ?'
  const recorded = p.db.$client.query<{ isoId: string | null }, [string]>(sql).get(id)?.isoId
  if (!path && !recorded) return 'none'
  return `${path ? 'in it' : 'empty'}, ${recorded && path?.endsWith(recorded) ? 'recorded' : 'not recorded'}`
}

/** Numbers of layers; those that nothing uses stand behind a plus. */
function layersOf(p: World, id: string): string {
  const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
  const all = db
    .query<{ path: string; base: string }, [string]>('select path, base from layers where path like ?')
    .all(`%/${id}-%`)
  const top = db.query<{ disk: string }, [string]>('select disk from vms where workload = ?').get(id)?.disk
  db.close()
  const numberOf = (path: string) => Number(/\.(\d+)\.qcow2$/.exec(path)?.[1] ?? 0)
  const chain: string[] = []
  for (let at = top; at; at = all.find(({ path }) => path === at)?.base) chain.push(at)
  const others = all.filter(({ path }) => !chain.includes(path)).map(({ path }) => numberOf(path))
  const row = serverById(p.db, id)
  const onNode = [chain.map(numberOf).join('-'), ...others].join('+')
  return `${onNode} on its node, ${row?.diskLayer} on ${row?.diskParent ?? 'none'}`
}
const backupsOf = (p: World): string => {
  const recorded = p.db.$client.query<{ state: string }, []>('SELECT state FROM backups ORDER BY id').all()
  const { n } = onNode<{ n: number }>(p, 'select count(*) as n from backup_snapshots')!
  return `${recorded.map(({ state }) => state).join(' ') || 'none'}, ${n} in the target`
}
async function extraOf(p: World): Promise<string> {
  const { storage, state, hypervisor } = p.node.agent.host
  const nameOf = (id: string | null | undefined) => (id ? workloadById(p.db, id)!.hostname : 'none')
  const rows = p.db.$client
    .query<{ name: string; size: number; held: number; server: string | null; state: string; job: string | null }, []>(
      `SELECT name, size_gb AS size, held_gb AS held, server_id AS server, state, job_id AS job
       FROM volumes ORDER BY id`,
    )
    .all()
  const recorded = rows.map(
    ({ name, size, held, server, state, job }) =>
      `${name} ${size}/${held} ${state} on ${nameOf(server)}${job ? ' with a job' : ''}`,
  )
  const there = (await storage.list()).filter(({ workload }) => workload.startsWith('vol_'))
  const onNode = await Promise.all(
    there.map(async (volume) => {
      const holder = state.holderOf(volume.workload)
      const size = (await storage.pool(volume.pool).sizeBytes(volume))! / 1024 ** 3
      const isIn = !!holder && (hypervisor as FakeHypervisor).volumes(holder).length > 0
      return `${size} on ${nameOf(holder)}${holder && !isIn ? ', which lacks it' : ''}`
    }),
  )
  return `${recorded.join(', ') || 'none'}; ${onNode.join(', ') || 'none'}`
}
const snapshotsIn = (p: World, id: string): string =>
  p.db.$client
    .query<{ name: string; layer: number | null; parent: number | null }, [string]>(
      'SELECT name, layer, parent FROM snapshots WHERE server_id = ? ORDER BY id',
    )
    .all(id)
    .map(({ name, layer, parent }) => `${name} ${layer} on ${parent ?? 'none'}`)
    .join(', ') || 'none'

function bootFirstOf(p: World, id: string): string {
  const row = onNode<{ definition: string }>(p, 'select definition from vms where workload = ?', id)
  const sql = 'SELECT boot_first AS first FROM servers WHERE id = ?'
  const recorded = p.db.$client.query<{ first: string }, [string]>(sql).get(id)?.first
  return `${recorded} ${row && JSON.parse(row.definition).bootFirst}`
}

function rescueOf(p: World, id: string): number | null {
  const sql = "SELECT rescue ->> '$.generation' AS n FROM servers WHERE id = ?"
  return p.db.$client.query<{ n: number | null }, [string]>(sql).get(id)?.n ?? null
}

/** The generation of a disk in the vm's definition on the fake host; null without a definition. */
function definedDisk(home: string, id: string, column: 'disk' | 'rescue' = 'disk'): number | null {
  const db = new Database(`${home}/fake.db`, { readonly: true })
  const sql = `select ${column} as disk from vms where workload = ?`
  const path = db.query<{ disk: string | null }, [string]>(sql).get(id)?.disk
  db.close()
  return path ? Number(/-(\d+)(?:\.\d+)?\.\w+$/.exec(path)![1]) : null
}
