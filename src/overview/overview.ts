// The staff's first page: what needs attention, how full it is, and what is still to be set up, all from facts.
import { Type as t } from 'typebox'
import { DISK_SHOWN_PERCENT, getPanelHost, MEMORY_SHOWN_PERCENT } from '../host/panel-host.ts'
import type { Look } from '../kernel/api/operation.ts'
import { mayCall, operation, time } from '../kernel/api/operation.ts'
import { day, hour, iso, minute } from '../kernel/db/clock.ts'
import { listedLocations, locationAnswer } from '../locations/location.ts'
import { SKEW_SHOWN_MS } from '../nodes/node.ts'
import { factorsOf } from '../sign-in/factors.ts'
import { VERSION } from '../version.ts'
import { type Attention, attention, failedServers, step, stuckJobs, worstFirst } from './attention.ts'

export const getOverview = operation({
  id: 'overview.get',
  method: 'GET',
  path: '/admin/overview',
  summary: 'What needs attention, capacity, jobs, and the set-up checklist',
  access: { staff: ['account:read'] },
  answer: t.Object({
    checkedAt: time,
    attention: t.Array(attention),
    checklist: t.Array(step),
    servers: t.Record(t.String(), t.Integer()),
    jobs: t.Object({ running: t.Integer(), failed24h: t.Integer(), done24h: t.Integer() }),
    nodes: t.Object({ total: t.Integer(), connected: t.Integer(), versions: t.Record(t.String(), t.Integer()) }),
    locations: t.Array(locationAnswer),
  }),
  run(call) {
    const { tx, clock } = call
    const number = (sql: string, ...values: (string | number)[]) => tx.$client.query<{ n: number }, any[]>(sql).get(...values)!.n
    const since = clock() - day
    const nodes = nodeRows(call)
    return {
      checkedAt: iso(clock()),
      attention: needsAttention(call, nodes),
      checklist: checklist(call, number),
      servers: Object.fromEntries(
        tx.$client
          .query<{ status: string; n: number }, []>('SELECT status, count(*) AS n FROM servers WHERE terminated_at IS NULL GROUP BY status')
          .all()
          .map((s) => [s.status, s.n]),
      ),
      jobs: {
        running: number("SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing')"),
        failed24h: number("SELECT count(*) AS n FROM jobs WHERE state = 'failed' AND finished_at > ?", since),
        done24h: number("SELECT count(*) AS n FROM jobs WHERE state = 'succeeded' AND finished_at > ?", since),
      },
      nodes: {
        total: nodes.length,
        connected: nodes.filter((n) => call.nodes.connected(n.id)).length,
        versions: Object.fromEntries([...Map.groupBy(nodes, (n) => n.version)].map(([version, of]) => [version, of.length])),
      },
      locations: listedLocations(call),
    }
  },
})

type NodeRow = {
  id: string
  name: string
  seenAt: number
  skewMs: number
  differences: string
  version: string
  kind: string
  fake: number
  servers: number
}
const nodeRows = ({ tx }: Pick<Look, 'tx'>) =>
  tx.$client
    .query<NodeRow, []>(
      `SELECT n.id, n.name, n.seen_at AS seenAt, n.skew_ms AS skewMs, n.differences, n.facts ->> '$.agentVersion' AS version, n.facts ->> '$.virtualisation.kind' AS kind, n.facts ->> '$.fake' AS fake,
        coalesce((SELECT h.servers FROM node_held h WHERE h.node_id = n.id), 0) AS servers
       FROM nodes n WHERE n.removed_at IS NULL ORDER BY n.name`,
    )
    .all()

/** The worst first. */
function needsAttention(call: Look, nodes: NodeRow[]): Attention[] {
  const { tx, actor, clock, config, nodes: live } = call
  const found: Attention[] = hostAttention(call)
  for (const n of nodes) {
    const href = `/admin/nodes/${n.id}`
    const plural = `${n.servers} server${n.servers === 1 ? '' : 's'}`
    if (!live.connected(n.id) && clock() - n.seenAt > minute / 2)
      found.push({
        level: 'bad',
        what: `${n.name} is not connected.`,
        effect: n.servers ? `Its ${plural} keep running but cannot be changed.` : 'It takes no new servers.',
        since: iso(n.seenAt),
        action: 'Open node',
        href,
      })
    else if (Math.abs(n.skewMs) > SKEW_SHOWN_MS)
      found.push({
        level: 'warn',
        what: `The clock of ${n.name} is ${Math.round(Math.abs(n.skewMs) / 1000)} s ${n.skewMs > 0 ? 'ahead' : 'behind'}.`,
        effect: 'Times in logs mislead and certificates may be refused. Set up time synchronisation on it.',
        since: null,
        action: 'Open node',
        href,
      })
    const differences = (JSON.parse(n.differences) as { kind: string }[]).filter((d) => d.kind !== 'foreign').length
    if (differences)
      found.push({
        level: 'warn',
        what: `${n.name} differs from what should be on it in ${differences} place${differences === 1 ? '' : 's'}.`,
        effect: 'Nothing is changed by itself. Look at each and decide.',
        since: null,
        action: 'Show differences',
        href: `${href}#differences`,
      })
    if (n.kind === 'none' && !n.fake)
      found.push({
        level: 'bad',
        what: `${n.name} cannot run servers.`,
        effect: 'Neither KVM nor emulation works there; `berth agent doctor` on it says why.',
        since: null,
        action: 'Open node',
        href,
      })
    if (n.version !== VERSION && live.connected(n.id))
      found.push({
        level: 'warn',
        what: `The agent of ${n.name} is ${n.version}, the controller ${VERSION}.`,
        effect: 'New features may not work there until it is updated.',
        since: null,
        action: 'Open node',
        href,
      })
  }
  found.push(...stuckJobs(tx, actor, '/admin'), ...failedServers(tx, actor, '/admin'))
  for (const p of tx.$client
    .query<{ id: string; name: string; free: number; total: number }, []>(
      `SELECT * FROM (SELECT p.id, p.name, (SELECT count(*) FROM addresses a WHERE a.pool_id = p.id AND a.server_id IS NULL AND a.reserved_for IS NULL) AS free,
        (SELECT count(*) FROM addresses a WHERE a.pool_id = p.id) AS total FROM pools p WHERE p.version = 4) WHERE free * 20 < total`,
    )
    .all())
    found.push({
      level: p.free === 0 ? 'bad' : 'warn',
      what: `${p.name} has ${p.free} free IPv4 address${p.free === 1 ? '' : 'es'} left.`,
      effect: p.free === 0 ? 'Orders on its nodes are refused.' : 'Orders will be refused when they are used up.',
      since: null,
      action: 'Open pool',
      href: `/admin/ip-pools/${p.id}`,
    })
  const waiting = tx.$client
    .query<{ n: number }, [number]>("SELECT count(*) AS n FROM mails WHERE state = 'failed' OR (state = 'waiting' AND created_at < ?)")
    .get(clock() - hour)!.n
  if (waiting)
    found.push({
      level: 'warn',
      what: `${waiting} mail${waiting === 1 ? ' was' : 's were'} not sent.`,
      effect: 'Invitations and links to new passwords are among them. What still waits is sent once the mail server takes it.',
      since: null,
      action: 'Open settings',
      href: '/admin/settings',
    })
  if (config.agentInsecure)
    found.push({
      level: 'bad',
      what: 'Nodes may enroll over plain HTTP (PANEL_AGENT_INSECURE=1).',
      effect: 'Fit for a lab only: whoever is on the network can read and change what is sent.',
      since: null,
      action: 'How to set up HTTPS',
      href: '/admin#https',
    })
  return worstFirst(found)
}

/** For those who may see the host: two figures that the system has at hand. */
function hostAttention({ actor, host }: Look): Attention[] {
  if (!mayCall(getPanelHost, actor)) return []
  const at = { since: null, action: 'Open controller host', href: '/admin/controller' }
  const found: Attention[] = []
  const disk = host.disk().percent
  if (disk >= DISK_SHOWN_PERCENT)
    found.push({
      level: 'bad',
      what: `Disk holding the database is ${disk} % full.`,
      effect: 'Free space or grow it: when it is full, nothing can be changed any more. Servers keep running.',
      ...at,
    })
  const memory = host.memory().memory.percent
  if (memory >= MEMORY_SHOWN_PERCENT)
    found.push({
      level: 'warn',
      what: `Memory of the controller host is ${memory} % used.`,
      effect: 'When it runs out the system ends programs, Berth among them. Stop what else runs there or add memory.',
      ...at,
    })
  return found
}

function checklist({ tx, actor, config, clock }: Look, number: (sql: string, ...values: (string | number)[]) => number) {
  const there = (sql: string) => number(`SELECT EXISTS (${sql}) AS n`) === 1
  return [
    {
      title: 'Public address',
      words: 'Browsers and nodes reach Berth over HTTPS.',
      done: config.publicUrl.startsWith('https:'),
      href: '/admin#https',
    },
    {
      title: 'First location',
      words: 'A group of nodes that customers see as one place.',
      done: there('SELECT 1 FROM locations'),
      href: '/admin/node-groups',
    },
    {
      title: 'First node',
      words: 'A machine that runs servers.',
      done:
        number('SELECT count(*) AS n FROM nodes WHERE removed_at IS NULL AND (connected_at IS NOT NULL OR seen_at > ?)', clock() - hour) >
        0,
      href: '/admin/nodes/enroll',
    },
    {
      title: 'Address pool',
      words: 'At least one free address on a node.',
      done: there(
        'SELECT 1 FROM pool_nodes pn JOIN addresses a ON a.pool_id = pn.pool_id WHERE a.server_id IS NULL AND a.reserved_for IS NULL',
      ),
      href: '/admin/ip-pools',
    },
    {
      title: 'Image',
      words: 'A published operating system.',
      done: there('SELECT 1 FROM images WHERE published = 1 AND removed_at IS NULL'),
      href: '/admin/images',
    },
    {
      title: 'Package',
      words: 'What a server has and how much of it.',
      done: there('SELECT 1 FROM packages WHERE archived = 0'),
      href: '/admin/packages',
    },
    {
      title: 'First server',
      words: 'Order one for a customer and sign in to it.',
      done: there("SELECT 1 FROM servers WHERE status NOT IN ('pending_setup', 'provisioning', 'failed')"),
      href: '/admin/servers/new',
    },
    {
      title: 'Mail',
      words: 'Invitations and links to new passwords reach people.',
      done: there("SELECT 1 FROM mails WHERE state = 'sent'"),
      href: '/admin/settings',
    },
    {
      title: 'Second factor',
      words: 'Your own account is not open to whoever learns its password.',
      done: factorsOf(tx, actor.accountId).length > 0,
      href: '/account/security',
    },
  ]
}
