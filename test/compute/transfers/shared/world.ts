// A panel with two nodes that reach one storage, under other names, and a third that does not.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { FakeHypervisor } from '../../../../agent/drivers/hypervisor/fake.ts'
import { temporary } from '../../../agent/temporary.ts'
import { ledgerFaults } from '../../../support/ledger.ts'
import { stayFaults } from '../../../support/nodes/stays.ts'
import { type World, world } from '../../../support/world/panel.ts'
import { nodeNamed } from '../world.ts'

const TIB = 1024 ** 4
export const STORAGE = 'rbd 6f7a9b1c-0d52-4c1b-9a55-0b0a5a1f3c77/berth'
export type SharedWorld = World & { file: string }

/** Nodes `ceph-1` and `ceph-2`, which share a storage, and `far-3`, whose pool of the same name is another one. */
export async function openShared(): Promise<SharedWorld> {
  const p = await world()
  const dir = temporary('shared')
  const file = join(dir, 'pool.db')
  const fast = { name: 'fast', class: 'fast', totalBytes: TIB }
  const on = (name: string, pool: string, storage: string, path: string) =>
    p.addNode(p.location, name, {
      pools: [{ name: pool, class: `net-${name}`, totalBytes: 4 * TIB, storage, file: path }, fast],
    }).id
  const ids = [
    on('ceph-1', 'ceph', STORAGE, file),
    on('ceph-2', 'rbd', STORAGE, file),
    on('far-3', 'ceph', 'rbd 11111111-0d52-4c1b-9a55-0b0a5a1f3c77/berth', join(dir, 'other.db')),
  ]
  await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id, ...ids] })
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50, volumeClass: 'fast' })
  return Object.assign(p, { file })
}

const CONTENT = 'what its guest has written'
const nodes = ['ceph-1', 'ceph-2', 'far-3'] as const
const within = <T>({ file }: { file: string }, work: (db: Database) => T): T => {
  const db = new Database(file, { strict: true })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

/** A server that runs on `ceph-1`, with its disk in the storage that `ceph-2` reaches too. */
export async function orderShared(p: World): Promise<string> {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, nodeId: nodeNamed(p, 'ceph-1') })
  await p.settle()
  within(p as SharedWorld, (db) =>
    db.run('insert or replace into disk_contents select path, ? from volumes where workload = ?', [CONTENT, serverId]),
  )
  return serverId
}

export const hypervisorOn = (p: World, name: string) =>
  p.agents.get(nodeNamed(p, name))!.host.hypervisor as unknown as FakeHypervisor

/** Reads of each node what it has, and what the shared storage has; throws where two nodes had a disk open. */
export async function whereShared(p: World, id: string) {
  const faults = [...stayFaults(p.db), ...ledgerFaults(p.db)]
  const { twice, disks, content } = within(p as SharedWorld, (db) => ({
    twice: db.query<{ words: string }, []>('select words from opened_twice').all(),
    disks: db.query<{ n: number }, [string]>('select count(*) as n from volumes where workload = ?').get(id)!.n,
    content: db
      .query<{ content: string }, [string]>(
        'select content from disk_contents c join volumes v on v.path = c.path where workload = ?',
      )
      .all(id)
      .every((row) => row.content === CONTENT),
  }))
  faults.push(...twice.map(({ words }) => words))
  if (faults.length) throw new Error(faults.join('\n'))
  const { $client } = p.db
  const onNodes: Record<string, string> = {}
  let running = 0
  for (const name of nodes) {
    const { host } = p.agents.get(nodeNamed(p, name))!
    const own = (await host.hypervisor.look()).ours.find((vm) => vm.id === id)
    if (own?.power === 'running') running++
    const local = (await host.storage.volumes()).volumes.filter(
      ({ pool }) => pool === 'fast' || pool === 'local',
    ).length
    const [rules, open] = [host.state.portRules().length, host.state.transfers().length]
    onNodes[name] =
      own || local || rules || open
        ? `${own?.power ?? 'absent'}, ${local} local disks, ${rules} rules, ${open} transfers`
        : 'nothing'
  }
  const all = <T>(sql: string, ...values: string[]) => $client.query<T, string[]>(sql).all(...values)
  return {
    status: p.server(id).status,
    stays: all<{ role: string; node: string }>(
      `SELECT role, n.name AS node FROM workload_stays s JOIN nodes n ON n.id = s.node_id WHERE workload_id = ?
       ORDER BY role`,
      id,
    ).map(({ role, node }) => `${role} on ${node}`),
    onNodes,
    running,
    shared: `${disks} disks, ${content ? 'as they were' : 'of other content'}`,
    transfers: all<{ state: string; mode: string; n: number }>(
      'SELECT state, mode, bytes_copied AS n FROM transfers ORDER BY id',
    ).map(({ state, mode, n }) => `${mode} ${state}, ${n > 0 ? 'copied' : 'nothing copied'}`),
    openJobs: all<{ kind: string }>(
      "SELECT kind FROM jobs WHERE state IN ('queued', 'running', 'undoing') OR undo_node_id IS NOT NULL",
    ).map(({ kind }) => kind),
  }
}
