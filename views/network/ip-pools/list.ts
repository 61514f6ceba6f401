import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, allIfAllowed, page } from '../../../src/kernel/web/page.ts'
import { createPool, listPools } from '../../../src/network/ip-pools/pools.ts'
import { act } from '../../html/act.ts'
import { empty, meter } from '../../html/card.ts'
import { checks, field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pager, table } from '../../html/table.ts'

type Pool = Answers<{ p: typeof listPools }>['p']['data'][number]
type Nodes = Answers<{ n: typeof listNodes }>['n'] | undefined

export const nodeChecks = (scope: string, nodes: Nodes, values: readonly string[]) =>
  checks(scope, 'nodeIds', {
    label: 'Nodes',
    hint: 'Nodes that can route these addresses. Their servers get them.',
    values,
    options: (nodes?.data ?? []).map((n) => ({ value: n.id, label: n.name, hint: n.location.name })),
    empty: html`<p class="muted">There is no node yet. It can be attached later.</p>`,
  })

const add = (at: At, nodes: Nodes) =>
  act(at, createPool, {}, 'Add pool', {
    icon: 'plus',
    tone: 'pri',
    wide: true,
    done: '{name} is added',
    leadsTo: '/admin/ip-pools/{id}',
    fields: html`
      ${field('pool', 'name', { label: 'Name', required: true, placeholder: 'Frankfurt IPv4' })}
      <div class="pair">${field('pool', 'network', { label: 'Network', required: true, mono: true, hint: 'Like 203.0.113.0/24 or 2001:db8::/48' })}${field('pool', 'gateway', { label: 'Gateway', required: true, mono: true, hint: 'Like 203.0.113.1 or fe80::1' })}</div>
      <div class="pair">${field('pool', 'first', { label: 'First address', mono: true })}${field('pool', 'last', { label: 'Last address', mono: true })}</div>
      ${field('pool', 'resolvers', { label: 'Resolvers', as: 'words', mono: true, value: '9.9.9.9 1.1.1.1', hint: 'DNS servers for the servers, separated by spaces.' })}
      ${nodeChecks('pool', nodes, nodes?.data.length === 1 ? nodes.data.map((n) => n.id) : [])}`,
  })

export const poolsPage = page({
  path: '/admin/ip-pools',
  reads: { pools: listPools, nodes: allIfAllowed(listNodes) },
  title: 'Address pools',
  nav: 'pools',
  view: ({ pools, nodes, at }) => html`
    ${head({ title: 'Address pools', actions: add(at, nodes), sub: 'Ranges that servers get their addresses from. A pool serves the nodes it is attached to.' })}
    <section class="sec" aria-label="Address pools">
      ${
        pools.data.length
          ? table<Pool>(
              'Address pools',
              pools.data,
              [
                {
                  title: 'Pool',
                  main: true,
                  cell: (p) =>
                    html`<a href="/admin/ip-pools/${p.id}">${p.name}</a><small class="mono">${p.network}</small>`,
                },
                { title: 'Version', cell: (p) => `IPv${p.version}` },
                { title: 'Gateway', cell: (p) => html`<span class="mono">${p.gateway}</span>` },
                {
                  title: 'Use',
                  cell: (p) =>
                    p.total === null
                      ? `${p.held.toLocaleString('en')} prefixes held`
                      : meter(
                          'Held or reserved',
                          p.held + p.reserved,
                          p.total,
                          `${(p.free ?? 0).toLocaleString('en')} of ${p.total.toLocaleString('en')} free`,
                        ),
                },
                {
                  title: 'Nodes',
                  cell: (p) =>
                    p.nodes.length
                      ? p.nodes.map((n, i) => html`${i > 0 && ', '}<a href="/admin/nodes/${n.id}">${n.name}</a>`)
                      : html`<span class="muted">None</span>`,
                },
              ],
              (p) => p.id,
            )
          : empty('There is no address pool yet. Without one, servers get no address.')
      }
      ${pager(at, pools)}
    </section>`,
})
