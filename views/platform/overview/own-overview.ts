import { listServers } from '../../../src/compute/servers/list.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { getOwnOverview } from '../../../src/platform/overview/own-overview.ts'
import { areaOf } from '../../components/area.ts'
import { attentionAndChecklist } from '../../components/attention.ts'
import { card, empty } from '../../components/card.ts'
import { head } from '../../components/head.ts'
import { live } from '../../components/live.ts'
import { serverStates } from '../../components/state.ts'
import { list } from '../../components/words.ts'
import { ownServerTable } from '../../compute/servers/own.ts'
import { announced } from '../announcements/banner.ts'
import { jobTable } from '../jobs/table.ts'

const reads = {
  announcements: reading(listAnnouncements, () => ({})),
  overview: reading(getOwnOverview, () => ({})),
  servers: reading(listServers, () => ({ query: { limit: '8' } })),
  jobs: reading(listJobs, () => ({ query: { state: 'running', limit: '8' } })),
}
type Data = Answers<typeof reads>

export const ownOverviewPage = page({
  path: '/',
  reads,
  title: 'Overview',
  nav: 'overview',
  elsewhere: (at) => areaOf(at) || undefined,
  view: ({ announcements, overview, servers, jobs, at }) => html`
    ${head({ title: 'Overview' })}
    ${announced(announcements)}
    ${live(
      at,
      'overview',
      5,
      html`
      ${attentionAndChecklist(overview, at, 'First steps')}
      ${jobs.total > 0 && card({ id: 'jobs', title: 'Running jobs', count: jobs.total, actions: jobs.nextCursor && html`<a href="/jobs?state=running">Show all</a>` }, jobTable(jobs.data, at, ''))}
      ${card(
        {
          id: 'servers',
          title: 'Servers',
          count: counted(overview),
          actions: servers.nextCursor && html`<a href="/servers">Show all ${servers.total.toLocaleString('en')}</a>`,
        },
        servers.data.length
          ? ownServerTable(servers.data, at)
          : empty('You have no server yet. Your provider orders servers for you; they appear here automatically.'),
      )}`,
    )}`,
})

/** `3 running, 1 suspended` */
const counted = ({ servers }: Data['overview']): Html | undefined => {
  const states = Object.entries(servers)
  return states.length
    ? html`${list(states.map(([status, n]) => `${n} ${(serverStates[status as keyof typeof serverStates] ?? status).toLowerCase()}`))}`
    : undefined
}
