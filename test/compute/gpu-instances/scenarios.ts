// The scenarios of the crash matrix about GPU instances. The node of the world is their host.
import { startNames } from '../../../src/compute/gpu-instances/http/names.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { addGpuImage, addGpuOffer, cardOf, passAll, reportCards } from '../../support/nodes/gpus.ts'
import type { World } from '../../support/world/panel.ts'

type Started = { jobId: string | null; instanceId: string }
const about = ({ jobId, instanceId }: Started) => ({ jobId, serverId: instanceId })

/** The node gets a card, which has passed its check. */
async function withCard(p: World): Promise<string> {
  const cards = [cardOf(1)]
  Object.assign(p.node.agent.settings, { cards })
  p.node.agent.restart()
  reportCards(p, p.node.id, { cards })
  passAll(p, p.node.id)
  return ''
}
const order = async (p: World) => {
  const offerId = await addGpuOffer(p)
  const started = await p.admin('POST', '/admin/gpu-instances', {
    ownerId: p.customer.id,
    offerId,
    nodeGroupId: p.location,
  })
  return about(started)
}
const ordered = async (p: World) => {
  await withCard(p)
  const { serverId } = await order(p)
  await p.settle()
  return serverId
}
const act = async (p: World, method: string, path: string, body?: object) => about(await p.admin(method, path, body))
const powered =
  (action: 'start' | 'stop' | 'restart'): Scenario['start'] =>
  (p, id) =>
    act(p, 'POST', `/gpu-instances/${id}/actions/power`, { action })
const suspended = async (p: World) => {
  const id = await ordered(p)
  await p.admin('POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'overdue' })
  await p.settle()
  return id
}
const stopped = async (p: World) => {
  const id = await ordered(p)
  await powered('stop')(p, id)
  await p.settle()
  return id
}

const events = (...names: string[]) => names.map((name) => `gpu_instance.${name}`)
const built = events('created', 'ready')
const held = { held: 1, openJobs: 0 }
const runs = { ...held, status: 'running', instance: 'running, workspace, spell running, 1 card, 0 keys' }
const stands = { ...held, status: 'stopped', instance: 'stopped, workspace, spell stopped, 1 card, 0 keys' }

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

export const measures: Measures = {
  /** A GPU instance: its container and /workspace on the node, what its events said last, its cards and its keys. */
  instance: instanceIn,
  /** HTTP names that the node serves, and whether the panel knows that it does. */
  names: namesIn,
}

const all: readonly Scenario[] = [
  {
    name: 'ordering a GPU instance',
    kind: 'gpu_instance',
    before: withCard,
    start: order,
    succeeds: { ...runs, events: built },
    fails: {
      ...held,
      status: 'failed',
      instance: 'absent, no workspace, spell null, 1 card, 0 keys',
      events: events('created', 'failed'),
    },
  },
  {
    name: 'starting a GPU instance',
    kind: 'gpu_instance',
    before: stopped,
    start: powered('start'),
    succeeds: { ...runs, events: [...built, ...events('stopped', 'started')] },
    fails: { ...stands, status: 'failed', events: [...built, ...events('stopped', 'failed')] },
  },
  {
    name: 'making a GPU instance anew from another image',
    kind: 'gpu_instance',
    before: ordered,
    async start(p, id) {
      const imageId = await addGpuImage(p)
      const { offerId } = await p.admin('GET', `/gpu-instances/${id}`)
      await p.admin('PATCH', `/admin/gpu-offers/${offerId}`, { imageIds: [imageId] })
      return act(p, 'POST', `/gpu-instances/${id}/actions/rebuild`, { imageId })
    },
    succeeds: { ...runs, events: [...built, ...events('image_changed', 'started')] },
    // Before its container was touched it runs on.
    fails: ({ status }: { status: string }) =>
      status === 'running'
        ? { ...runs, events: [...built, ...events('failed')] }
        : { ...held, status: 'failed', events: [...built, ...events('failed')] },
  },
  {
    name: 'stopping a GPU instance',
    kind: 'gpu_stop',
    before: ordered,
    start: powered('stop'),
    succeeds: { ...stands, events: [...built, ...events('stopped')] },
    fails: { ...held, status: 'running', events: built },
  },
  {
    name: 'suspending a GPU instance',
    kind: 'gpu_suspend',
    before: ordered,
    start: (p, id) => act(p, 'POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'overdue' }),
    succeeds: { ...stands, status: 'suspended', events: [...built, ...events('suspended')] },
  },
  {
    name: 'unsuspending a GPU instance',
    kind: 'gpu_unsuspend',
    before: suspended,
    start: (p, id) => act(p, 'POST', `/admin/gpu-instances/${id}/unsuspend`),
    succeeds: { ...runs, events: [...built, ...events('suspended', 'unsuspended', 'started')] },
  },
  {
    name: 'deleting a GPU instance',
    kind: 'gpu_delete',
    before: ordered,
    start: (p, id) => act(p, 'DELETE', `/admin/gpu-instances/${id}`),
    succeeds: {
      ...{ held: 0, openJobs: 0, status: 'terminated' },
      instance: 'absent, no workspace, spell running, 0 cards, 0 keys',
      events: [...built, ...events('deleted')],
    },
  },
  {
    name: 'holding back the deletion of a GPU instance',
    kind: 'gpu_hold_back',
    async before(p) {
      const id = await ordered(p)
      await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
      p.db.$client.run("INSERT INTO destructions (actor_id, at, kind, workload_id) VALUES (?, ?, 'terminate', ?)", [
        p.owner.id,
        p.now(),
        id,
      ])
      return id
    },
    // System is not counted.
    start: async (p, id) => about((await p.call(p.owner, 'DELETE', `/admin/gpu-instances/${id}`)).body),
    succeeds: {
      ...{ held: 1, openJobs: 0, status: 'terminated' },
      instance: 'stopped, workspace, spell running, 0 cards, 0 keys',
      events: [...built, 'brake.held', ...events('deleted')],
    },
  },
  {
    name: 'changing the SSH keys of a GPU instance',
    kind: 'gpu_keys',
    before: ordered,
    async start(p, id) {
      const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl test'
      const key = await p.admin('POST', `/customers/${p.customer.id}/ssh-keys`, { publicKey })
      return act(p, 'PUT', `/gpu-instances/${id}/ssh-keys`, { sshKeyIds: [key.id] })
    },
    succeeds: { ...runs, instance: 'running, workspace, spell running, 1 card, 1 keys', events: built },
    fails: { ...runs, events: built },
  },
  {
    name: 'telling a host the HTTP names of its instances',
    kind: 'gpu_http_names',
    async before(p) {
      const id = await ordered(p)
      await p.admin('PUT', `/gpu-instances/${id}/http-ports`, { httpPorts: [8888, 7860] })
      await p.admin('PATCH', `/admin/nodes/${p.node.id}/gpu-host`, { httpDomain: 'gpu1.example.com' })
      return id
    },
    start: async (p, serverId) => ({ jobId: write(p.db, (tx) => startNames(tx, p.node.id, p.now())), serverId }),
    succeeds: { ...runs, names: '2 served, known', events: built },
    fails: ({ names }: { names: string }) => ({
      ...{ ...runs, events: built },
      names: /^[02] served, not known$/.exec(names)?.[0],
    }),
  },
]
/** They are many and have many steps. */
export const scenarios = all.map((scenario): Scenario => ({ ...scenario, sampled: true }))
