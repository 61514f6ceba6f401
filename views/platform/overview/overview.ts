import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { getOverview } from '../../../src/platform/overview/overview.ts'
import { attentionAndChecklist } from '../../components/attention.ts'
import { card, empty, fact, facts, inside, meter } from '../../components/card.ts'
import { head } from '../../components/head.ts'
import { live } from '../../components/live.ts'
import { openState, serverStates } from '../../components/state.ts'
import { count, gb, list, mb } from '../../components/words.ts'
import { announced } from '../announcements/banner.ts'

const reads = { overview: getOverview, announcements: listAnnouncements }
const HTTPS = '/admin#https'
type Overview = Answers<typeof reads>['overview']

export const overviewPage = page({
  path: '/admin',
  reads,
  title: 'Overview',
  nav: 'overview',
  view: ({ overview, announcements, at }) => html`
    ${head({ title: 'Overview' })}
    ${announced(announcements)}
    ${live(
      at,
      'overview',
      10,
      html`
      ${attentionAndChecklist(overview, at, 'Set-up')}
      <div class="cols">${figures(overview)}${capacity(overview)}</div>`,
    )}
    ${asksForHttps(overview) && https(at)}`,
})

/** What stands there for the reader; a part that is not theirs to see is left out. */
function figures({ servers, jobs, nodes }: Overview): Html {
  if (!servers && !jobs && !nodes) return html``
  const states = Object.entries(servers ?? {})
  const total = states.reduce((all, [, n]) => all + n, 0)
  const versions = Object.entries(nodes?.versions ?? {}).map(([version, n]) => `${version} on ${n}`)
  const words = [
    total > 0 &&
      `${list(states.map(([status, n]) => `${n} ${(serverStates[status as keyof typeof serverStates] ?? status).toLowerCase()}`))}.`,
    versions.length > 0 && `Agents: ${list(versions)}.`,
    servers && nodes && !total && !versions.length && 'No server and no node yet.',
  ].filter(Boolean)
  return card(
    { id: 'figures', title: 'Now' },
    html`
    ${facts([
      ...(servers
        ? [
            fact('/admin/servers', total, total === 1 ? 'server' : 'servers'),
            fact('/admin/servers?status=running', servers['running'] ?? 0, 'running'),
          ]
        : []),
      ...(nodes ? [fact('/admin/nodes', nodes.connected, `of ${count(nodes.total, 'node')} connected`)] : []),
      ...(jobs
        ? [
            fact('/admin/jobs?state=running', jobs.running, 'jobs running'),
            fact('/admin/jobs?state=failed', jobs.failed24h, 'failed in 24 h'),
            fact('/admin/jobs?state=done', jobs.done24h, 'done in 24 h'),
          ]
        : []),
    ])}
    ${words.length > 0 && inside(html`<p class="muted">${words.join(' ')}</p>`)}`,
  )
}

const capacity = ({ locations }: Overview): Html =>
  !locations
    ? html``
    : card(
        { id: 'capacity', title: 'Capacity by location' },
        locations.length
          ? locations.map((l) =>
              inside(html`<div class="bar"><h3><a href="/admin/nodes?locationId=${l.id}">${l.name}</a></h3>${openState(l.open)}<span class="grow"></span><span class="muted">${l.nodes ? html`${l.connectedNodes} of ${count(l.nodes, 'node')} connected · ${l.freeIpv4.toLocaleString('en')} free IPv4` : 'No node yet'}</span></div>
        ${l.nodes > 0 && html`${meter('Memory', l.heldMemoryMb, l.memoryMb, `${mb(l.heldMemoryMb)} of ${mb(l.memoryMb)}`)}${meter('Disk', l.heldDiskGb, l.diskGb, `${gb(l.heldDiskGb)} of ${gb(l.diskGb)}`)}`}`),
            )
          : empty(
              'A location is a group of nodes that customers see as one place.',
              html`<a class="btn" href="/admin/node-groups">Add location</a>`,
            ),
      )

const asksForHttps = ({ attention, checklist }: Overview) =>
  attention.some((a) => a.href === HTTPS) || checklist.some((s) => !s.done && s.href === HTTPS)

const https = (at: At): Html =>
  card(
    { id: 'https', title: 'Set up HTTPS' },
    inside(html`
    <p>Berth is reached at <code>${at.origin}</code>. Passwords and sessions should not cross a network without HTTPS, and nodes refuse it.</p>
    <p>Either put a reverse proxy with a certificate before it, or let Berth answer HTTPS itself. Then restart it with the address that browsers use:</p>
    <pre class="secret">PANEL_PUBLIC_URL=https://panel.example.com
PANEL_TLS_CERT=/etc/berth/fullchain.pem   # only without a proxy
PANEL_TLS_KEY=/etc/berth/privkey.pem      # only without a proxy</pre>`),
  )
