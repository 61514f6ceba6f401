// One command with a token on the new machine, and a page that waits for it.

import { listLocations } from '../../../src/fleet/locations/locations.ts'
import { enrollNode, getEnrollment } from '../../../src/fleet/nodes/enroll.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { page, readingAll } from '../../../src/kernel/web/page.ts'
import { callForm } from '../../html/act.ts'
import { card, empty, inside, notice } from '../../html/card.ts'
import { field, select } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { live } from '../../html/live.ts'
import { time } from '../../html/time.ts'

const trail: [string, string][] = [['Nodes', '/admin/nodes']]

/** The token is in the call's answer only: public/panel/calls/calls.js puts the command here, and a redraw leaves it alone. */
const command: Html = html`<section class="sec" id="command" hx-morph-skip hidden tabindex="-1" aria-labelledby="command-t"><header><h2 id="command-t">Run this on the new node, as root</h2><span class="grow"></span><button type="button" class="btn" data-copy="">Copy</button></header><div class="in"><code class="secret" data-value></code><p class="muted">It works once, within an hour, and is shown this one time. The machine needs Debian 12 or 13, and must reach this address.</p></div></section>`

export const enrollPage = page({
  path: '/admin/nodes/enroll',
  reads: { locations: readingAll(listLocations) },
  title: 'Enroll node',
  nav: 'nodes',
  view: ({ locations, at }) => html`
    ${head({ title: 'Enroll node', trail, sub: 'A node is a machine that runs servers. It connects to this controller; no port needs to be open on it.' })}
    ${command}
    ${card(
      { id: 'wait', title: 'Which node' },
      locations.data.length
        ? inside(
            callForm(
              enrollNode,
              {},
              {
                name: 'stack',
                leadsTo: '/admin/nodes/enroll/{id}',
                secret: { field: 'command', title: '', words: '', into: '#command' },
              },
              html`
          ${select('enroll', 'locationId', { label: 'Location', value: at.query['locationId'], options: locations.data.map((l) => ({ value: l.id, label: l.name })) })}
          ${field('enroll', 'name', { label: 'Name', hint: 'Empty: the host name of the machine.' })}
          ${field('enroll', 'bridge', { label: 'Bridge', mono: true, hint: 'The bridge that its servers use. Empty: the one that the agent finds.' })}
          <div class="bar"><button class="btn pri">Make command</button></div>`,
            ),
          )
        : empty(
            'A node belongs to a location. Add a location first.',
            html`<a class="btn pri" href="/admin/node-groups">Add location</a>`,
          ),
    )}`,
})

export const enrollmentPage = page({
  path: '/admin/nodes/enroll/{id}',
  reads: { enrollment: getEnrollment },
  title: 'Enroll node',
  nav: 'nodes',
  view: ({ enrollment: e, at }) => html`
    ${head({ title: 'Enroll node', trail, sub: 'A node is a machine that runs servers. It connects to this controller; no port needs to be open on it.' })}
    ${command}
    ${card(
      { id: 'wait', title: 'Waiting for the node' },
      live(
        at,
        'waiting',
        e.state === 'expired' || e.node?.connected ? undefined : 2,
        html`<div role="status">${
          e.state === 'expired'
            ? notice(
                'warn',
                html`<strong>The command has expired</strong> ${time(e.expiresAt, at)}. Nothing was enrolled with it.`,
                html`<a href="/admin/nodes/enroll">Make another</a>`,
              )
            : e.state === 'waiting'
              ? notice(
                  'info',
                  html`<strong>No node has enrolled with it yet.</strong><br>The command expires ${time(e.expiresAt, at)}. This page checks every two seconds; you may leave it.<progress aria-label="Waiting for the node"></progress>`,
                  html`<a href="/admin/nodes/enroll">Make another</a>`,
                )
              : e.node?.connected
                ? notice(
                    'info',
                    html`<strong>${e.node.name} is enrolled and connected.</strong><br>Give it an address pool, and it takes servers.`,
                    html`<a href="/admin/nodes/${e.node.id}">Open node</a>`,
                  )
                : notice(
                    'info',
                    html`<strong>${e.node?.name ?? 'The node'} is enrolled</strong> and has not connected yet. Its agent should do so in a few seconds.`,
                    e.node && html`<a href="/admin/nodes/${e.node.id}">Open node</a>`,
                  )
        }</div>`,
        '',
      ),
    )}`,
})
