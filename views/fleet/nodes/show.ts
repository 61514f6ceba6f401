import { listAllServers } from '../../../src/compute/servers/list.ts'
import { declareNodeLost } from '../../../src/fleet/nodes/lose.ts'
import { changeNode, getNode } from '../../../src/fleet/nodes/nodes.ts'
import { removeNode, removeNodeWithWorkloads } from '../../../src/fleet/nodes/remove.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, ifAllowed, page } from '../../../src/kernel/web/page.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { bytes, count, mb } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { card, copyable, empty, inside, kv, meter, notice } from '../../html/card.ts'
import { field, select } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { jobTable, serverTable } from '../../html/lists.ts'
import { live } from '../../html/live.ts'
import { nodeState } from '../../html/state.ts'
import { time } from '../../html/time.ts'
import { diskMeter, kinds, memoryMeter } from './load.ts'

const reads = {
  node: getNode,
  servers: ifAllowed(listAllServers, ({ params }) => ({ query: { nodeId: params['id'] ?? '', limit: '50' } })),
  jobs: ifAllowed(listJobs, ({ params }) => ({ query: { nodeId: params['id'] ?? '', limit: '10' } })),
}
type Data = Answers<typeof reads> & { at: At }

export const nodePage = page({
  path: '/admin/nodes/{id}',
  reads,
  title: ({ node }) => node.name,
  nav: 'nodes',
  view: (data) => html`
    ${live(
      data.at,
      'node',
      4,
      html`
      ${head({ title: data.node.name, trail: [['Nodes', '/admin/nodes']], state: nodeState(data.node), actions: actions(data), sub: html`<a href="/admin/node-groups">${data.node.location.name}</a> · ${data.node.fake ? 'Fake: it has no machines' : kinds[data.node.virtualisation.kind]} · ${data.node.connected && data.node.connectedAt ? html`connected since ${time(data.node.connectedAt, data.at)}` : html`seen ${time(data.node.seenAt, data.at)}`}` })}
      ${warnings(data)}
      <div class="cols">${capacity(data)}${facts(data)}</div>
      ${differences(data)}
      ${data.servers && card({ id: 'servers', title: 'Servers', count: data.servers.total || undefined, actions: data.servers.nextCursor && html`<a href="/admin/servers?nodeId=${data.node.id}">Show all</a>` }, data.servers.data.length ? serverTable(data.servers.data, '/admin', { place: false }) : empty('It has no servers yet.'))}
      ${data.jobs && card({ id: 'jobs', title: 'Jobs', count: data.jobs.total || undefined, actions: data.jobs.nextCursor && html`<a href="/admin/jobs?nodeId=${data.node.id}">Show all</a>` }, data.jobs.data.length ? jobTable(data.jobs.data, data.at, '/admin', { node: false }) : empty('No job has run on it yet.'))}`,
    )}`,
})

function actions({ node: n, at, servers }: Data): Html {
  const params = { id: n.id }
  const bridges = n.facts.bridges.map((b) => ({
    value: b.name,
    label: b.addresses.length ? `${b.name} (${b.addresses.join(', ')})` : b.name,
  }))
  return html`
    ${n.open ? act(at, changeNode, params, 'Close', { body: { open: false }, icon: 'lock', done: `${n.name} takes no new servers`, title: `Close ${n.name} for new servers?`, confirm: { keep: 'Keep it open', consequences: ['New servers go to other nodes of its location, or are refused when there is none.', `Its ${count(n.servers, 'server')} ${n.servers === 1 ? 'goes' : 'go'} on.`] } }) : act(at, changeNode, params, 'Open', { body: { open: true }, done: `${n.name} takes new servers` })}
    ${act(at, changeNode, params, 'Edit', {
      title: `Edit ${n.name}`,
      submit: 'Save',
      done: 'Saved',
      fields: html`${field(`edit-${n.id}`, 'name', { label: 'Name', required: true, value: n.name })}${
        bridges.some((b) => b.value === n.bridge)
          ? select(`edit-${n.id}`, 'bridge', {
              label: 'Bridge',
              value: n.bridge,
              options: bridges,
              hint: 'For servers that are installed from now on.',
            })
          : field(`edit-${n.id}`, 'bridge', {
              label: 'Bridge',
              required: true,
              mono: true,
              value: n.bridge,
              hint: 'For servers that are installed from now on.',
            })
      }${field(`edit-${n.id}`, 'reservedMemoryMb', { label: 'Memory kept for the host', as: 'number', unit: 'MB', required: true, value: n.reservedMemoryMb, hint: 'Not given to servers.' })}`,
    })}
    ${forGood(n, at, servers?.data ?? [])}
    ${act(at, removeNode, params, 'Remove node', { tone: 'bad', disabledReason: n.servers > 0 && !n.lostAt && `It holds ${count(n.servers, 'server')}. Move or terminate them first.`, title: `Remove ${n.name}?`, done: `${n.name} is removed`, leadsTo: '/admin/nodes', confirm: { type: n.name, keep: 'Keep node', consequences: ['Its credential ends at once and its agent cannot come back with it.', 'It is taken off every address pool.', 'What is on its disks stays there. To use it again, enroll it again.'] } })}`
}

/** Two ways to go on without a node that does not come back. Each lists the servers that it concerns. */
function forGood(n: Data['node'], at: At, servers: readonly { hostname: string }[]): Html {
  if (n.connected) return html``
  const names = servers.slice(0, 20).map((s) => s.hostname)
  const more = n.servers - names.length
  const others = more > 0 ? ` and ${count(more, 'more server', 'more servers')}` : ''
  const list = names.length ? names.join(', ') + others : count(n.servers, 'server')
  const params = { id: n.id }
  const shared = { tone: 'bad', body: { name: n.name } } as const
  const lose = act(at, declareNodeLost, params, 'Declare lost', {
    ...shared,
    title: `Declare ${n.name} lost?`,
    done: `${n.name} is lost`,
    confirm: {
      type: n.name,
      keep: 'Keep waiting for it',
      consequences: [
        'It is refused when it comes back, until it is enrolled again.',
        'Jobs for it end, and what was still to undo there is dropped.',
        n.servers > 0 && `These servers have failed: ${list}.`,
        n.servers > 0 && 'They keep their addresses until each is restored elsewhere or terminated.',
      ],
    },
  })
  const remove = act(at, removeNodeWithWorkloads, params, 'Remove with its servers', {
    ...shared,
    title: `Remove ${n.name} and terminate its servers?`,
    done: `${n.name} and its servers are removed`,
    leadsTo: '/admin/nodes',
    confirm: {
      type: n.name,
      keep: 'Keep node',
      consequences: [
        `These servers are terminated, and their addresses are given back: ${list}.`,
        'Nothing of them can be restored from Berth.',
        'Its credential ends at once.',
      ],
    },
  })
  return html`${!n.lostAt && lose} ${n.servers > 0 && remove}`
}

/** What makes it unfit, with the reason in the node's own words. */
function warnings({ node: n, at }: Data): Html {
  const skew = Math.round(Math.abs(n.skewMs) / 1000)
  const found = [
    n.lostAt &&
      notice(
        'bad',
        html`<strong>Declared lost ${time(n.lostAt, at)}.</strong> Its servers have failed: restore or terminate each,
          then remove the node. If the machine comes back, enroll it again.`,
      ),
    !n.connected &&
      !n.lostAt &&
      notice(
        'bad',
        html`<strong>Not connected since ${time(n.seenAt, at)}.</strong> Its servers keep running but cannot be changed. Look at <code>systemctl status berth-agent</code> on it.`,
      ),
    n.virtualisation.kind !== 'kvm' &&
      !n.fake &&
      notice(
        n.virtualisation.kind === 'none' ? 'bad' : 'warn',
        html`<strong>${n.virtualisation.kind === 'none' ? 'It cannot run servers.' : 'It has no hardware virtualisation: its servers are slow.'}</strong> ${n.virtualisation.reason}`,
      ),
    skew >= 30 &&
      notice(
        'warn',
        html`<strong>Its clock is ${skew} s ${n.skewMs > 0 ? 'ahead' : 'behind'}.</strong> Set up time synchronisation on it.`,
      ),
    n.agentOutdated &&
      notice(
        'warn',
        html`<strong>Its agent is ${n.agentVersion}.</strong> New features may not work there until it is updated.`,
      ),
    n.facts.bridges.every((b) => b.name !== n.bridge) &&
      notice(
        'bad',
        html`<strong>It has no bridge ${n.bridge}.</strong> Servers cannot be installed there. Choose another with Edit, or make it on the node.`,
      ),
  ].filter((w) => !!w)
  return found.length ? html`<div class="sec">${found}</div>` : html``
}

const capacity = ({ node: n, at }: Data): Html =>
  card(
    { id: 'capacity', title: 'Capacity' },
    html`
    ${inside(html`${memoryMeter(n)}${diskMeter(n)}<p class="muted">Held by ${count(n.servers, 'server')}. ${mb(n.reservedMemoryMb)} of ${mb(n.memoryMb)} memory is kept for the host.</p>`)}
    ${
      n.load
        ? inside(html`<h3>Measured ${time(n.load.at, at)}</h3>${meter('CPU', n.load.cpuPercent, 100, `${Math.round(n.load.cpuPercent)} % of ${n.threads} threads · load ${n.load.load1.toFixed(2)}`)}${meter('Memory used', n.memoryMb - n.load.memoryFreeMb, n.memoryMb, `${mb(n.load.memoryFreeMb)} free`)}
          ${n.load.pools.map((p) => meter(`Disk ${p.name}`, p.totalBytes - p.freeBytes, p.totalBytes, `${bytes(p.freeBytes)} of ${bytes(p.totalBytes)} free`))}${n.load.pools.map((p) => html`<p class="muted"><code>${p.path}</code> (${p.kind})</p>`)}`)
        : inside(html`<p class="muted">Load is measured while it is connected.</p>`)
    }`,
  )

const facts = ({ node: n, at }: Data): Html =>
  card(
    { id: 'facts', title: 'Host' },
    inside(
      kv([
        ['Host name', n.facts.hostname],
        ['System', `${n.facts.os}, Linux ${n.facts.kernel}`],
        ['Processor', `${n.facts.cpu.model}, ${n.facts.cpu.threads} threads`],
        [
          'Virtualisation',
          html`${kinds[n.virtualisation.kind]}<br><small class="muted">${n.virtualisation.reason}</small>`,
        ],
        ['Versions', Object.entries(n.facts.versions).map(([name, version]) => html`${name} ${version}<br>`)],
        ['Agent', `${n.agentVersion}${n.agentOutdated ? ' (outdated)' : ''}`],
        ['Booted', time(new Date(n.facts.bootedAt).toISOString(), at)],
        ['Addresses', n.facts.addresses.map((a) => html`<code>${a}</code><br>`)],
        [
          'Bridges',
          n.facts.bridges.length
            ? n.facts.bridges.map(
                (b) =>
                  html`<code>${b.name}</code>${b.name === n.bridge && ' (its servers use it)'}${b.addresses.length > 0 && html` <span class="muted">${b.addresses.join(', ')}</span>`}<br>`,
              )
            : 'None',
        ],
        [
          'Address pools',
          n.pools.length
            ? n.pools.map((p) => html`<a href="/admin/ip-pools/${p.id}">${p.name}</a> <code>${p.network}</code><br>`)
            : html`None: its servers get no address. <a href="/admin/ip-pools">Attach one</a>`,
        ],
        ['Id', copyable(n.id, 'id')],
      ]),
    ),
  )

const differences = ({ node: n, at }: Data): Html =>
  card(
    {
      id: 'differences',
      title: 'Differences',
      count: n.found.length || undefined,
      words:
        n.found.length > 0 &&
        'What is on the node but should not be, and what is missing. Nothing is changed automatically: it may be the only copy of somebody’s data.',
    },
    n.found.length
      ? n.found.map((d) =>
          notice(
            d.kind === 'foreign' ? 'info' : 'warn',
            d.words,
            d.workloadId &&
              (d.kind === 'power' || d.kind.startsWith('missing')) &&
              html`<a href="/admin/servers/${d.workloadId}">Open server</a>`,
          ),
        )
      : empty(
          html`Everything is as it should be. ${n.inventoryAt ? html`Compared ${time(n.inventoryAt, at)}.` : 'It was not compared yet.'}`,
        ),
  )
