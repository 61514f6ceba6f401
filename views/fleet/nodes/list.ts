import { listLocations } from '../../../src/fleet/locations/locations.ts'
import { enrollNode } from '../../../src/fleet/nodes/enroll.ts'
import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { type At, allIfAllowed, page } from '../../../src/kernel/web/page.ts'
import { count } from '../../components/words.ts'
import { empty } from '../../html/card.ts'
import { head } from '../../html/head.ts'
import { icon } from '../../html/icon.ts'
import { live } from '../../html/live.ts'
import { nodeState } from '../../html/state.ts'
import { filterChoice, filters, pager, table } from '../../html/table.ts'
import { time } from '../../html/time.ts'
import { diskMeter, kinds, loadWords, memoryMeter, type Node } from './load.ts'

const enroll = (at: At) =>
  at.may(enrollNode) && html`<a class="btn pri" href="/admin/nodes/enroll">${icon('plus')}Enroll node</a>`

export const nodesPage = page({
  path: '/admin/nodes',
  reads: { nodes: listNodes, locations: allIfAllowed(listLocations) },
  title: 'Nodes',
  nav: 'nodes',
  view: ({ nodes, locations, at }) => html`
    ${head({ title: 'Nodes', actions: enroll(at) })}
    <section class="sec" aria-label="Nodes">
      ${filters(
        at,
        locations &&
          filterChoice(
            at,
            'locationId',
            'Location',
            locations.data.map((l) => [l.id, l.name] as const),
          ),
        count(nodes.total, 'node'),
      )}
      ${live(
        at,
        'list',
        4,
        nodes.data.length
          ? table<Node>(
              'Nodes',
              nodes.data,
              [
                {
                  title: 'Node',
                  main: true,
                  cell: (n) =>
                    html`<a href="/admin/nodes/${n.id}">${n.name}</a><small>${n.fake ? 'Fake' : kinds[n.virtualisation.kind]} · agent ${n.agentVersion}${n.agentOutdated && ' (outdated)'}</small>`,
                },
                {
                  title: 'State',
                  cell: (n) =>
                    html`${nodeState(n)}${!n.connected && html`<small>seen ${time(n.seenAt, at)}</small>`}${n.differences > 0 && html`<small><a href="/admin/nodes/${n.id}#differences">${count(n.differences, 'difference')}</a></small>`}`,
                },
                { title: 'Location', cell: (n) => n.location.name },
                {
                  title: 'Servers',
                  num: true,
                  cell: (n) => (n.servers ? html`<a href="/admin/servers?nodeId=${n.id}">${n.servers}</a>` : '0'),
                },
                { title: 'Memory held', cell: (n) => memoryMeter(n) },
                { title: 'Disk held', cell: (n) => diskMeter(n) },
                { title: 'Load', cell: (n) => loadWords(n) },
              ],
              (n) => n.id,
            )
          : empty('A node is a machine that runs servers.', enroll(at)),
        '',
      )}
      ${pager(at, nodes)}
    </section>`,
})
