import { startDueMaintenance } from '../../../src/compute/backups/maintenance/scheduler.ts'
import { rowOnNode } from '../../support/crash-matrix/fake-node.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { built, first, jobOf, order, pair, running, second, there } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

/** A server of which one backup was made, in a folder of its node. */
async function backedUp(p: World) {
  const id = await order(p)
  await withTarget(p)
  await p.admin('POST', `/servers/${id}/backups`, {})
  await p.settle()
  return id
}
async function withTarget(p: World) {
  const { id } = await p.admin('POST', '/admin/backup-targets/local', { name: 'Disk', address: '/srv/backups' })
  await p.admin('POST', `/admin/backup-targets/${id}/actions/make-default`)
}
/** The upkeep of the only repository that is due by this column, and nothing else. */
async function lookedAfter(p: World, serverId: string, due: 'check_due_at' | 'prune_due_at') {
  startDueMaintenance(p.db, p.controller.app)
  p.db.$client.run(`UPDATE backup_repositories SET check_due_at = 9e15, prune_due_at = 9e15`)
  p.db.$client.run(`UPDATE backup_repositories SET ${due} = 0`)
  startDueMaintenance(p.db, p.controller.app)
  const { jobId } = p.db.$client.query('SELECT job_id AS jobId FROM backup_repositories').get() as { jobId: string }
  return { jobId, serverId }
}
const backupOf = async (p: World, id: string) => {
  const { data } = await p.admin('GET', `/servers/${id}/backups`)
  return `/servers/${id}/backups/${data[0].id}`
}

const backupsOf = (p: World): string => {
  const recorded = p.db.$client.query<{ state: string }, []>('SELECT state FROM backups ORDER BY id').all()
  const { n } = rowOnNode<{ n: number }>(p, 'select count(*) as n from backup_snapshots')!
  return `${recorded.map(({ state }) => state).join(' ') || 'none'}, ${n} in the target`
}

export const measures: Measures = {
  /** By the record, and snapshots in the fake target. */
  backups: backupsOf,
  /** Machines that its node holds beside workloads: a drill starts one. */
  guests: (p) => p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM node_guests').get()!.n,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'backing up',
    kind: 'backup',
    before: async (p) => {
      const id = await order(p)
      await withTarget(p)
      return id
    },
    start: (p, id) => p.admin('POST', `/servers/${id}/backups`, {}),
    succeeds: { ...running, backups: 'ready, 1 in the target' },
    // One that was made before the failure stays in the target until its record is deleted.
    fails: { ...running, events: [...built, 'backup.failed'] },
  },
  {
    name: 'removing what a cancelled backup has left',
    kind: 'drop_backup',
    before: async (p) => {
      const id = await order(p)
      await withTarget(p)
      p.node.agent.disconnect()
      const { jobId } = await p.admin('POST', `/servers/${id}/backups`, {})
      await p.admin('POST', `/jobs/${jobId}/actions/cancel`, {})
      return id
    },
    start: async (p, serverId) => {
      for (let i = 0; i < 1000 && !jobOf(p, 'drop_backup'); i++) await Bun.sleep(1)
      p.node.agent.connect()
      return { jobId: jobOf(p, 'drop_backup')!, serverId }
    },
    succeeds: { ...running, backups: 'failed, 0 in the target' },
  },
  {
    name: 'restoring a backup',
    kind: 'restore',
    before: backedUp,
    start: async (p, id) => p.admin('POST', `${await backupOf(p, id)}/actions/restore`),
    succeeds: { ...running, disk: second, backups: 'ready, 1 in the target' },
    fails: { ...running, backups: 'ready, 1 in the target' },
  },
  {
    name: 'restoring a backup to a new server',
    kind: 'restore_to_new',
    before: backedUp,
    start: async (p, id) => {
      const body = { packageId: p.pack, nodeGroupId: p.location, hostname: 'web02' }
      const [, , , , backupId] = (await backupOf(p, id)).split('/')
      const { jobId, serverId } = await p.admin('POST', `/backups/${backupId}/actions/restore-to-new-server`, body)
      return { jobId, serverId }
    },
    succeeds: {
      ...pair,
      addresses: 2,
      disk: first,
      seeds: 0,
      backups: 'ready, 1 in the target',
      events: [...built, ...built],
    },
    fails: {
      ...there,
      status: 'failed',
      power: 'absent',
      held: 2,
      addresses: 2,
      backups: 'ready, 1 in the target',
      events: [...built, 'server.created'],
    },
  },
  {
    name: 'proving a backup by a restore',
    kind: 'drill',
    before: backedUp,
    start: async (p, serverId) => {
      const { data } = await p.admin('GET', `/servers/${serverId}/backups`)
      const { jobId } = await p.admin('POST', `/admin/backups/${data[0].id}/actions/drill`)
      return { jobId, serverId }
    },
    succeeds: { ...running, guests: 0, backups: 'ready, 1 in the target' },
    fails: { ...running, guests: 0, backups: 'ready, 1 in the target' },
  },
  {
    name: 'deleting a backup',
    kind: 'delete_backup',
    before: backedUp,
    start: async (p, id) => p.admin('DELETE', await backupOf(p, id)),
    succeeds: { ...running, backups: 'none, 0 in the target' },
    fails: ({ backups }: { backups: string }) => ({
      ...running,
      backups: /^ready, [01] in the target$/.exec(backups)?.[0],
    }),
  },
  {
    name: 'checking the backups of an account',
    kind: 'check_backups',
    before: backedUp,
    start: (p, id) => lookedAfter(p, id, 'check_due_at'),
    succeeds: { ...running, backups: 'ready, 1 in the target' },
    fails: { ...running, backups: 'ready, 1 in the target' },
  },
  {
    name: 'freeing the space of deleted backups',
    kind: 'prune_backups',
    before: backedUp,
    start: (p, id) => lookedAfter(p, id, 'prune_due_at'),
    succeeds: { ...running, backups: 'ready, 1 in the target' },
    fails: { ...running, backups: 'ready, 1 in the target' },
  },
]
