// The scenarios of the crash matrix: for each saga the state before, the call that starts it, and the state after
// success and after failure. A saga without a scenario fails the test of the matrix.

import { expect } from 'bun:test'
import { startDueMaintenance } from '../../../src/compute/backups/maintenance/scheduler.ts'
import { removeReadSeeds } from '../../../src/compute/guest/pending-seed.ts'
import { purgeDue } from '../../../src/compute/servers/life/terminate.ts'
import { startCheck } from '../../../src/fleet/gpus/check.ts'
import { hour } from '../../../src/kernel/db/clock.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { giveCard } from '../nodes/gpus.ts'
import { instanceScenarios } from '../nodes/instance-scenarios.ts'
import type { Invariants } from './invariants.ts'
import type { World } from './panel.ts'

type Ending = Partial<Invariants> | Readonly<Record<string, unknown>>

export type Scenario = {
  name: string
  kind: string
  /** Returns the server's id. */
  before(p: World): Promise<string>
  start(p: World, serverId: string): Promise<{ jobId: string | null; serverId: string }>
  /** The state when it has ended, in the words of `invariants` or of the matrix's own `measure`. */
  succeeds: Ending
  /**
   * Undefined: it only goes forward, so a failure that passes ends as a success. A function where it depends on how
   * far it came.
   */
  fails?: Ending | ((end: any) => Ending)
  /**
   * Of a job of two nodes: the state after one of them was lost for good at some moment, from whether the job had
   * passed its pivot by its end. With it, each of both is lost at each moment.
   */
  lost?: Readonly<Record<'nodeId' | 'otherNodeId', (isPast: boolean) => Ending>>
  /** Outside of the long run each tenth moment of a crash, and each failing step undisturbed, are enough. */
  sampled?: true
}

const order = async (p: World) => {
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return serverId as string
}
const act = (name: string, body?: object) => (p: World, id: string) =>
  p.admin('POST', `/servers/${id}/actions/${name}`, body)
/** The node of the job goes away at this moment, and the job stays open. */
async function stoppedAt(p: World, moment: string, start: () => Promise<{ serverId: string }>): Promise<string> {
  p.arm({ failpoints: (at) => void (at === moment && p.node.agent.disconnect()) })
  const { serverId } = await start()
  for (let i = 0; p.controller.hub.connected(p.node.id); i++) {
    if (i === 1000) throw new Error(`the job never came to ${moment}`)
    await Bun.sleep(1)
  }
  return serverId
}
const terminated = async (p: World) => {
  const id = await order(p)
  await p.admin('DELETE', `/servers/${id}`)
  await p.settle()
  return id
}
const reinstall =
  (more: object = {}) =>
  (p: World, id: string) =>
    act('reinstall', { imageId: p.image, access: { mode: 'password' }, ...more })(p, id)
const there = { vms: 1, allowed: 1, volumes: 1, spareDiskGb: 0, seeds: 0, rules: 1, addresses: 1, held: 1, openJobs: 0 }
/** To a package with more of everything. */
const toLarger = async (p: World, id: string) => {
  const { id: packageId } = await p.admin('POST', '/admin/packages', {
    name: 'KVM 4G',
    vcpus: 4,
    memoryMb: 4096,
    diskGb: 30,
  })
  return act('change-package', { packageId })(p, id)
}
const larger = { size: '4 vCPU 4096 MB 30 GB', onNode: '4 vCPU 4096 MB' }
const grown = { size: '2 vCPU 2048 MB 30 GB', onNode: '2 vCPU 2048 MB' }
const smaller = { size: '2 vCPU 2048 MB 20 GB', onNode: '2 vCPU 2048 MB' }
/** A server of which the image of the world is also the rescue image. */
async function orderWithRescue(p: World) {
  await p.admin('PATCH', `/admin/images/${p.image}`, { isRescue: true })
  return order(p)
}
async function rescued(p: World) {
  const id = await orderWithRescue(p)
  await act('rescue')(p, id)
  await p.settle()
  return id
}
const none = { onNode: null, inUse: null }
const gone = { power: 'absent', vms: 0, volumes: 0, spareDiskGb: 0, seeds: 0, rules: 0, openJobs: 0 }
/** Two servers, one of which has the floating address. */
const pair = {
  ...there,
  vms: 2,
  volumes: 2,
  rules: 2,
  held: 2,
  allowed: 2,
  addresses: 3,
  status: 'running',
  power: 'running',
  events: [
    ...['server.created', 'server.provisioned'],
    ...['server.created', 'server.provisioned'],
    'floating_ip.created',
  ],
}
const first = { onNode: 1, inUse: 1 }
const second = { onNode: 2, inUse: 2 }
/** A second server of the customer, and a floating address that points to the first. */
async function floating(p: World) {
  const first = await order(p)
  await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
  await p.settle()
  const { id } = await p.admin('POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location })
  await p.admin('POST', `/floating-ips/${id}/actions/assign`, { serverId: first })
  await p.settle()
  return first
}
const floatingId = async (p: World) => (await p.admin('GET', '/floating-ips')).data[0].id as string
/** The rescue disk beside the server's own. */
const inRescue = {
  ...there,
  volumes: 2,
  spareDiskGb: 1,
  disk: first,
  rescue: { onNode: 2, inUse: 2 },
  status: 'running',
  power: 'running',
}
const built = ['server.created', 'server.provisioned']
const reinstalled = [...built, 'server.reinstalled']

/** A package whose servers have extra volumes. */
async function withVolumes(p: World) {
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
  return order(p)
}
async function withVolume(p: World) {
  const id = await withVolumes(p)
  await p.admin('POST', `/servers/${id}/volumes`, { name: 'data', sizeGb: 10 })
  await p.settle()
  return id
}
const onVolume = async (p: World, method: string, action: string, body?: object) => {
  const { id } = (await p.admin('GET', '/volumes')).data[0]
  return p.admin(method, `/volumes/${id}${action}`, body)
}
async function withDetachedVolume(p: World) {
  const id = await withVolume(p)
  await onVolume(p, 'POST', '/actions/detach')
  await p.settle()
  return id
}

/** With snapshots of these names, one after another. */
const withSnapshots =
  (...names: string[]) =>
  async (p: World) => {
    const id = await order(p)
    for (const name of names) {
      await p.admin('POST', `/servers/${id}/snapshots`, { name })
      await p.settle()
    }
    return id
  }
const snapshotNamed = async (p: World, id: string, name: string) => {
  const { data } = await p.admin('GET', `/servers/${id}/snapshots`)
  return `/servers/${id}/snapshots/${data.find((snapshot: { name: string }) => snapshot.name === name).id}`
}
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
const running = { ...there, disk: first, status: 'running', power: 'running', events: built }
const failedFirst = ['server.created', 'server.install_failed']

export const scenarios: readonly Scenario[] = [
  {
    name: 'ordering',
    kind: 'install',
    before: async () => '',
    start: (p) => p.admin('POST', '/admin/servers', p.order),
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: { ...gone, status: 'failed', addresses: 1, held: 1, events: failedFirst },
  },
  {
    name: 'setting up',
    kind: 'setup',
    before: async (p) => {
      const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
      return (await p.admin('POST', '/admin/servers', waiting)).serverId
    },
    start: (p, id) => act('setup', { imageId: p.image, hostname: 'web01', access: { mode: 'password' } })(p, id),
    succeeds: { ...there, disk: first, status: 'running', power: 'running', events: built },
    fails: { ...gone, status: 'pending_setup', addresses: 1, held: 1, events: failedFirst },
  },
  {
    name: 'reinstalling',
    kind: 'reinstall',
    before: order,
    start: reinstall(),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    fails: { ...there, disk: first, status: 'running', power: 'running', events: built },
  },
  {
    name: 'reinstalling a stopped server',
    kind: 'reinstall',
    before: async (p) => {
      const id = await order(p)
      await act('power', { action: 'off' })(p, id)
      await p.settle()
      return id
    },
    start: reinstall(),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    fails: { ...there, disk: first, status: 'stopped', power: 'stopped', events: built },
  },
  {
    name: 'reinstalling without space for two disks',
    kind: 'reinstall',
    before: async (p) => {
      const id = await order(p)
      p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [30 * 1024 ** 3])
      return id
    },
    start: reinstall({ discardFirst: true }),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    // A failure before the old system is given up leaves it as it was; one after that leaves nothing.
    fails: ({ status }: Invariants) =>
      status === 'failed'
        ? {
            ...gone,
            disk: { onNode: null, inUse: null },
            addresses: 1,
            held: 1,
            events: [...built, 'server.install_failed'],
          }
        : { ...there, disk: first, status: 'running', power: 'running', events: built },
  },
  {
    name: 'reinstalling what could not be installed',
    kind: 'reinstall',
    before: async (p) => {
      p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
      return order(p)
    },
    start: reinstall(),
    succeeds: {
      ...there,
      disk: second,
      status: 'running',
      power: 'running',
      events: [...failedFirst, 'server.provisioned', 'server.reinstalled'],
    },
    fails: { ...gone, status: 'failed', addresses: 1, held: 1, events: [...failedFirst, 'server.install_failed'] },
  },
  {
    name: 'deleting the disk that a reinstallation replaced',
    kind: 'remove_disk',
    before: order,
    start: async (p, id) => {
      await reinstall()(p, id)
      await p.settle()
      const { id: jobId } = p.db.$client.query("SELECT id FROM jobs WHERE kind = 'remove_disk'").get() as { id: string }
      return { jobId, serverId: id }
    },
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
  },
  {
    name: 'taking a snapshot',
    kind: 'snapshot',
    before: order,
    start: (p, id) => p.admin('POST', `/servers/${id}/snapshots`, { name: 'a' }),
    succeeds: {
      ...running,
      spareDiskGb: 20,
      layers: '1-0 on its node, 1 on 0',
      snapshots: 'a 0 on none',
    },
    fails: { ...running, layers: '0 on its node, 0 on none', snapshots: 'none' },
  },
  {
    name: 'restoring a snapshot',
    kind: 'restore_snapshot',
    before: withSnapshots('a'),
    start: async (p, id) => p.admin('POST', `${await snapshotNamed(p, id, 'a')}/actions/restore`),
    succeeds: {
      ...running,
      spareDiskGb: 20,
      layers: '2-0 on its node, 2 on 0',
      snapshots: 'a 0 on none',
    },
    fails: {
      ...running,
      spareDiskGb: 20,
      layers: '1-0 on its node, 1 on 0',
      snapshots: 'a 0 on none',
    },
  },
  {
    name: 'deleting what was written since a snapshot that was restored',
    kind: 'remove_layer',
    before: withSnapshots('a'),
    start: async (p, id) => {
      await p.admin('POST', `${await snapshotNamed(p, id, 'a')}/actions/restore`)
      await p.settle()
      const { id: jobId } = p.db.$client.query("SELECT id FROM jobs WHERE kind = 'remove_layer'").get() as {
        id: string
      }
      return { jobId, serverId: id }
    },
    succeeds: { ...running, spareDiskGb: 20, layers: '2-0 on its node, 2 on 0', snapshots: 'a 0 on none' },
  },
  {
    name: 'deleting the newest snapshot',
    kind: 'delete_snapshot',
    before: withSnapshots('a'),
    start: async (p, id) => p.admin('DELETE', await snapshotNamed(p, id, 'a')),
    succeeds: { ...running, layers: '0 on its node, 0 on none', snapshots: 'none' },
  },
  {
    name: 'deleting an older snapshot',
    kind: 'delete_snapshot',
    before: withSnapshots('a', 'b'),
    start: async (p, id) => p.admin('DELETE', await snapshotNamed(p, id, 'a')),
    succeeds: { ...running, spareDiskGb: 20, layers: '2-0 on its node, 2 on 0', snapshots: 'b 0 on none' },
  },
  {
    name: 'shutting down',
    kind: 'power',
    before: order,
    start: act('power', { action: 'shutdown' }),
    succeeds: { ...there, status: 'stopped', power: 'stopped', events: built },
    fails: { ...there, status: 'running', power: 'running', events: built },
  },
  {
    name: 'restarting',
    kind: 'power',
    before: order,
    start: act('power', { action: 'restart' }),
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: { ...there, status: 'running', power: 'running', events: built },
  },
  {
    name: 'starting',
    kind: 'power',
    before: async (p) => {
      const id = await order(p)
      await act('power', { action: 'off' })(p, id)
      await p.settle()
      return id
    },
    start: act('power', { action: 'start' }),
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: { ...there, status: 'stopped', power: 'stopped', events: built },
  },
  {
    name: 'changing the package of a running server',
    kind: 'resize',
    before: order,
    start: toLarger,
    succeeds: { ...there, ...larger, status: 'running', power: 'running', events: [...built, 'server.resized'] },
    // A disk that has grown stays so: what is recorded is never less than what is there.
    fails: ({ size }: Invariants) => ({
      ...there,
      ...(/ 30 GB/.test(size) ? grown : smaller),
      status: 'running',
      power: 'running',
      events: built,
    }),
  },
  {
    name: 'changing the package of a stopped server',
    kind: 'resize',
    before: async (p) => {
      const id = await order(p)
      await act('power', { action: 'off' })(p, id)
      await p.settle()
      return id
    },
    start: toLarger,
    succeeds: { ...there, ...larger, status: 'stopped', power: 'stopped', events: [...built, 'server.resized'] },
    fails: ({ size }: Invariants) => ({
      ...there,
      ...(/ 30 GB/.test(size) ? grown : smaller),
      status: 'stopped',
      power: 'stopped',
      events: built,
    }),
  },
  {
    name: 'booting the rescue system',
    kind: 'rescue',
    before: orderWithRescue,
    start: act('rescue'),
    succeeds: { ...inRescue, events: built },
    fails: { ...there, disk: first, rescue: none, status: 'running', power: 'running', events: built },
  },
  {
    name: 'leaving rescue',
    kind: 'exit_rescue',
    before: rescued,
    start: act('rescue/exit'),
    succeeds: { ...there, disk: first, rescue: none, status: 'running', power: 'running', events: built },
    fails: { ...inRescue, events: built },
  },
  {
    name: 'putting an ISO into a server',
    kind: 'iso',
    before: order,
    start: async (p, id) => p.admin('PUT', `/servers/${id}/iso`, { isoId: p.addIso() }),
    succeeds: { ...there, status: 'running', power: 'running', events: built, iso: 'in it, recorded' },
    fails: { ...there, status: 'running', power: 'running', events: built, iso: 'none' },
  },
  {
    name: 'removing an ISO that a node has',
    kind: 'remove_iso',
    before: order,
    start: async (p, id) => {
      const isoId = p.addIso()
      for (const inIt of [isoId, null]) {
        await p.admin('PUT', `/servers/${id}/iso`, { isoId: inIt })
        await p.settle()
      }
      await p.admin('DELETE', `/isos/${isoId}`)
      const { id: jobId } = p.db.$client.query("SELECT id FROM jobs WHERE kind = 'remove_iso'").get() as { id: string }
      return { jobId, serverId: id }
    },
    succeeds: { ...there, status: 'running', power: 'running', events: built, iso: 'none', isoCopies: 0 },
  },
  {
    name: 'changing the boot order',
    kind: 'boot_order',
    before: order,
    start: (p, id) => p.admin('PUT', `/servers/${id}/boot-order`, { bootFirst: 'cd' }),
    succeeds: { ...there, status: 'running', power: 'running', events: built, bootFirst: 'cd cd' },
    fails: { ...there, status: 'running', power: 'running', events: built, bootFirst: 'disk disk' },
  },
  {
    name: 'changing the restart policy',
    kind: 'restart_policy',
    before: order,
    start: (p, id) => p.admin('PUT', `/servers/${id}/restart-policy`, { restartPolicy: 'always' }),
    succeeds: { ...there, status: 'running', power: 'running', events: built, restart: 'always always' },
    fails: { ...there, status: 'running', power: 'running', events: built, restart: 'on_failure on_failure' },
  },
  {
    name: 'changing the firewall',
    kind: 'firewall',
    before: order,
    start: async (p, id) => {
      const body = { enabled: true, acceptClosedSsh: true }
      return { ...(await p.admin('PATCH', `/servers/${id}/firewall`, body)), serverId: id }
    },
    succeeds: { ...there, status: 'running', power: 'running', firewall: 'in force, on', events: built },
  },
  {
    name: 'counting the firewall',
    kind: 'firewall_counters',
    before: order,
    start: (p, id) => p.admin('POST', `/servers/${id}/firewall/actions/count`),
    succeeds: { ...there, status: 'running', power: 'running', firewall: 'in force, off', events: built },
    fails: { ...there, status: 'running', power: 'running', firewall: 'in force, off', events: built },
  },
  {
    name: 'changing the speed',
    kind: 'speed',
    before: order,
    start: (p, id) => p.admin('PATCH', `/servers/${id}/speed`, { portInMbps: 50 }),
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      speed: '50/null 50/null',
      events: [...built, 'server.speed_changed'],
    },
    fails: { ...there, status: 'running', power: 'running', speed: 'null/null null/null', events: built },
  },
  {
    name: 'giving a server that was slowed down its speed back',
    kind: 'tell_speed',
    before: async (p) => {
      const id = await order(p)
      p.db.$client.run(
        "UPDATE servers SET traffic_gb = 100, throttle_mbps = 10, throttle_month = '2027-01' WHERE id = ?",
        [id],
      )
      await p.admin('PATCH', `/servers/${id}/speed`, { portInMbps: 50 })
      await p.settle()
      return id
    },
    start: (p, id) => p.admin('POST', `/servers/${id}/bandwidth`, { action: 'add', gb: 5 }),
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      speed: '50/null 50/null',
      events: [...built, 'server.speed_changed'],
    },
    // It is told again a minute later.
    fails: {
      ...there,
      status: 'running',
      power: 'running',
      events: [...built, 'server.speed_changed'],
    },
  },
  {
    name: 'joining a private network',
    kind: 'private_network',
    before: order,
    async start(p, serverId) {
      const range = { name: 'backend', locationId: p.location, ipv4: '10.20.0.0/24' }
      const { id } = await p.admin('POST', `/customers/${p.customer.id}/networks`, range)
      return p.admin('POST', `/networks/${id}/servers`, { serverId })
    },
    succeeds: { ...there, status: 'running', power: 'running', networks: '1, 1', events: built },
  },
  {
    name: 'leaving a private network',
    kind: 'private_network',
    async before(p) {
      const serverId = await order(p)
      const range = { name: 'backend', locationId: p.location, ipv4: '10.20.0.0/24' }
      const { id } = await p.admin('POST', `/customers/${p.customer.id}/networks`, range)
      await p.admin('POST', `/networks/${id}/servers`, { serverId })
      await p.settle()
      return serverId
    },
    async start(p, id) {
      const { data } = await p.admin('GET', '/networks')
      return p.admin('DELETE', `/networks/${data[0].id}/servers/${id}`)
    },
    succeeds: { ...there, status: 'running', power: 'running', networks: '0, 0', events: built },
  },
  {
    name: 'adding an address',
    kind: 'addresses',
    before: order,
    start: (p, id) => p.admin('POST', `/servers/${id}/ips`, { version: 4 }),
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      addresses: 2,
      allowed: 2,
      seeds: 1,
      events: [...built, 'server.addresses_changed'],
    },
    // The network for its next start may be written again: the one that it has.
    fails: ({ seeds }: Invariants) => ({ ...there, status: 'running', power: 'running', seeds, events: built }),
  },
  {
    name: 'removing an address',
    kind: 'addresses',
    before: async (p) => {
      const id = await order(p)
      await p.admin('POST', `/servers/${id}/ips`, { version: 4 })
      await p.settle()
      return id
    },
    start: async (p, id) => {
      const { data } = await p.admin('GET', `/servers/${id}/ips`)
      return p.admin('DELETE', `/servers/${id}/ips/${data.find((a: { kind: string }) => a.kind === 'extra').id}`)
    },
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      seeds: 1,
      events: [...built, 'server.addresses_changed', 'server.addresses_changed'],
    },
    fails: {
      ...there,
      status: 'running',
      power: 'running',
      addresses: 2,
      allowed: 2,
      seeds: 1,
      events: [...built, 'server.addresses_changed'],
    },
  },
  {
    name: 'resetting the root password by the guest agent',
    kind: 'password',
    before: order,
    start: act('reset-password', {}),
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: { ...there, status: 'running', power: 'running', events: built },
  },
  {
    name: 'resetting the root password of a stopped server',
    kind: 'password',
    before: async (p) => {
      const id = await order(p)
      await act('power', { action: 'off' })(p, id)
      await p.settle()
      return id
    },
    start: act('reset-password', {}),
    succeeds: { ...there, seeds: 1, status: 'stopped', power: 'stopped', events: built },
    fails: { ...there, status: 'stopped', power: 'stopped', events: built },
  },
  {
    name: 'removing the seed of a password reset',
    kind: 'remove_seed',
    before: async (p) => {
      const id = await order(p)
      for (const [name, body] of [
        ['power', { action: 'off' }],
        ['reset-password', {}],
        ['power', { action: 'start' }],
      ] as const) {
        await act(name, body)(p, id)
        await p.settle()
      }
      return id
    },
    start: async (p, serverId) => {
      removeReadSeeds(p.db, { clock: p.now, nodes: { connected: () => true } as never })
      const job = p.db.$client.query("SELECT id FROM jobs WHERE kind = 'remove_seed'").get() as { id: string }
      p.controller.runner.kick()
      return { jobId: job.id, serverId }
    },
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: (end: Invariants) => ({ ...there, seeds: end.seeds, status: 'running', power: 'running', events: built }),
  },
  {
    name: 'detecting the system',
    kind: 'detect_os',
    before: order,
    start: act('detect-os'),
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: { ...there, status: 'running', power: 'running', events: built },
  },
  {
    name: 'moving a floating address to another server',
    kind: 'floating_ip',
    before: floating,
    start: async (p, id) => {
      const { data } = await p.admin('GET', '/servers')
      const serverId = data.find((other: { id: string }) => other.id !== id).id
      const { jobId } = await p.admin('POST', `/floating-ips/${await floatingId(p)}/actions/assign`, { serverId })
      return { jobId, serverId: id }
    },
    succeeds: { ...pair, floating: 'web02, web02 on its node', seeds: 1 },
    fails: { ...pair, floating: 'web01, web01 on its node', seeds: 1 },
  },
  {
    name: 'pointing a floating address to no server',
    kind: 'floating_ip',
    before: floating,
    start: async (p, id) => {
      const { jobId } = await p.admin('POST', `/floating-ips/${await floatingId(p)}/actions/unassign`)
      return { jobId, serverId: id }
    },
    succeeds: { ...pair, addresses: 2, floating: 'none, none on its node', seeds: 1 },
    fails: { ...pair, floating: 'web01, web01 on its node', seeds: 1 },
  },
  {
    name: 'making an extra volume',
    kind: 'create_volume',
    before: withVolumes,
    start: (p, id) => p.admin('POST', `/servers/${id}/volumes`, { name: 'data', sizeGb: 10 }),
    succeeds: {
      ...running,
      volumes: 2,
      extra: 'data 10/10 ready on web01; 10 on web01',
      events: [...built, 'volume.created'],
    },
    fails: { ...running, extra: 'none; none' },
  },
  {
    name: 'moving an extra volume to another server',
    kind: 'move_volume',
    before: async (p) => {
      const id = await withVolume(p)
      await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
      await p.settle()
      return id
    },
    start: async (p, id) => {
      const { data } = await p.admin('GET', '/servers')
      const serverId = data.find((other: { id: string }) => other.id !== id).id
      return { ...(await onVolume(p, 'POST', '/actions/attach', { serverId })), serverId: id }
    },
    succeeds: { volumes: 3, openJobs: 0, extra: 'data 10/10 ready on web02; 10 on web02' },
    fails: { volumes: 3, openJobs: 0, extra: 'data 10/10 ready on web01; 10 on web01' },
  },
  {
    name: 'enlarging an extra volume',
    kind: 'grow_volume',
    before: withVolume,
    start: async (p, id) => ({ ...(await onVolume(p, 'POST', '/actions/grow', { sizeGb: 20 })), serverId: id }),
    succeeds: { openJobs: 0, volumes: 2, extra: 'data 20/20 ready on web01; 20 on web01' },
    // A disk that has grown stays so, also where its node could not say it any more.
    fails: ({ extra }: Invariants) => ({
      openJobs: 0,
      extra: extra.includes('data 20')
        ? 'data 20/20 ready on web01; 20 on web01'
        : expect.stringMatching(/^data 10\/10 ready on web01; (10|20) on web01$/),
    }),
  },
  {
    name: 'deleting an extra volume',
    kind: 'delete_volume',
    before: withDetachedVolume,
    start: async (p, id) => ({ ...(await onVolume(p, 'DELETE', '')), serverId: id }),
    succeeds: { ...running, extra: 'none; none', events: [...built, 'volume.created', 'volume.deleted'] },
  },
  {
    name: 'suspending',
    kind: 'suspend',
    before: order,
    start: act('suspend', { reason: 'overdue' }),
    succeeds: { ...there, status: 'suspended', power: 'stopped', events: [...built, 'server.suspended'] },
  },
  {
    name: 'suspending what could not be installed',
    kind: 'suspend',
    before: async (p) => {
      p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
      return order(p)
    },
    start: act('suspend', { reason: 'overdue' }),
    succeeds: { ...gone, status: 'suspended', addresses: 1, held: 1, events: [...failedFirst, 'server.suspended'] },
  },
  {
    name: 'unsuspending',
    kind: 'unsuspend',
    before: async (p) => {
      const id = await order(p)
      await act('suspend', { reason: 'overdue' })(p, id)
      await p.settle()
      return id
    },
    start: act('unsuspend'),
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      events: [...built, 'server.suspended', 'server.unsuspended'],
    },
  },
  {
    name: 'terminating',
    kind: 'terminate',
    before: order,
    start: (p, id) => p.admin('DELETE', `/servers/${id}`),
    succeeds: { ...there, status: 'terminated', power: 'stopped', events: [...built, 'server.terminated'] },
  },
  {
    name: 'terminating without an undelete window',
    kind: 'purge',
    before: order,
    start: (p, id) => p.admin('DELETE', `/servers/${id}?immediately=true`),
    succeeds: { ...gone, status: 'terminated', addresses: 0, held: 0, events: [...built, 'server.terminated'] },
  },
  {
    name: 'deleting the disk at the end of the undelete window',
    kind: 'purge',
    before: terminated,
    start: async (p, id) => {
      p.turnClock(24 * hour)
      purgeDue(p.db, p.controller.app)
      const { id: jobId } = p.db.$client.query("SELECT id FROM jobs WHERE kind = 'purge'").get() as { id: string }
      return { jobId, serverId: id }
    },
    succeeds: { ...gone, status: 'terminated', addresses: 0, held: 0, events: [...built, 'server.terminated'] },
  },
  {
    name: 'bringing back a terminated server',
    kind: 'undelete',
    before: terminated,
    start: act('undelete'),
    succeeds: {
      ...there,
      disk: first,
      status: 'running',
      power: 'running',
      events: [...built, 'server.terminated', 'server.undeleted'],
    },
  },
  {
    name: 'terminating during the installation, which is undone first',
    kind: 'purge',
    before: (p) => stoppedAt(p, 'install/define:noted', () => p.admin('POST', '/admin/servers', p.order)),
    start: (p, id) => p.admin('DELETE', `/servers/${id}?immediately=true`).finally(p.node.agent.connect),
    succeeds: {
      ...gone,
      status: 'terminated',
      addresses: 0,
      held: 0,
      events: ['server.created', 'server.terminated'],
    },
  },
  {
    name: "suspending during the owner's restart, which is undone first",
    kind: 'suspend',
    before: async (p) => {
      const id = await order(p)
      return stoppedAt(p, 'power/stop:noted', () => act('power', { action: 'restart' })(p, id))
    },
    start: (p, id) => act('suspend', { reason: 'overdue' })(p, id).finally(p.node.agent.connect),
    succeeds: { ...there, status: 'suspended', power: 'stopped', events: [...built, 'server.suspended'] },
  },
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
      const dropping = () =>
        p.db.$client.query("SELECT id FROM jobs WHERE kind = 'drop_backup'").get() as { id: string }
      for (let i = 0; i < 1000 && !dropping(); i++) await Bun.sleep(1)
      p.node.agent.connect()
      return { jobId: dropping().id, serverId }
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
    fails: ({ backups }: Invariants) => ({ ...running, backups: /^ready, [01] in the target$/.exec(backups)?.[0] }),
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
  {
    name: 'checking a card of a node',
    kind: 'check_cards',
    async before(p) {
      const id = await order(p)
      giveCard(p)
      return id
    },
    async start(p, serverId) {
      const jobId = write(p.db, (tx) => startCheck(tx, p.node.id, p.now()))
      return { jobId, serverId }
    },
    succeeds: { ...running, cards: 'passed' },
    fails: { ...running, cards: 'unchecked and waits' },
  },
  {
    name: 'testing a backup target',
    kind: 'test_backup_target',
    before: order,
    async start(p, serverId) {
      const body = { name: 'Oslo', address: 'https://backups.example.com/web/' }
      const { id } = await p.admin('POST', '/admin/backup-targets/rest', body)
      const { jobId } = await p.admin('POST', `/admin/backup-targets/${id}/actions/test`, { nodeId: p.node.id })
      return { jobId, serverId }
    },
    succeeds: { ...there, status: 'running', power: 'running', backupTest: 'works', events: built },
    // A failure before it began leaves no test.
    fails: ({ backupTest }: Invariants) => ({
      ...{ ...there, status: 'running', power: 'running', events: built },
      backupTest: backupTest === 'none' ? 'none' : 'not_tested',
    }),
  },
  ...instanceScenarios,
]
