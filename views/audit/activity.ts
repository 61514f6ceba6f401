import { listActivity, listServerActivity } from '../../src/audit/activity.ts'
import { html } from '../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading } from '../../src/kernel/web/page.ts'
import { getServer } from '../../src/servers/list.ts'
import { type Area, inOwnArea } from '../parts/area.ts'
import { empty } from '../parts/card.ts'
import { head } from '../parts/head.ts'
import { pager } from '../parts/table.ts'
import { activityTable } from './table.ts'

export const activityPage = page({
  path: '/account/activity',
  reads: { activity: listActivity },
  title: 'Activity',
  nav: 'activity',
  view: ({ activity, at }) => html`
    ${head({ title: 'Activity', sub: at.actor.kind === 'staff' ? 'What you did, and what was done to your account.' : 'What you did, and what was done to your account and servers. If a refused sign-in was not you, change your password.' })}
    <section class="card" aria-label="Activity">
      ${activity.data.length ? activityTable(activity.data, at) : empty('Nothing has been done yet.')}
      ${pager(at, activity)}
    </section>`,
})

const reads = { server: reading(getServer, ({ params }) => ({ params })), activity: listServerActivity }
type OfServer = Answers<typeof reads> & { at: At }
const title = ({ server }: Answers<typeof reads>) => `Activity of ${server.name}`

export const serverActivityPage = page({
  path: '/admin/servers/{id}/activity',
  reads,
  title,
  nav: 'servers',
  view: (data) => ofServer(data, '/admin'),
})
export const resellerServerActivityPage = page({
  path: '/reseller/servers/{id}/activity',
  reads,
  title,
  nav: 'servers',
  view: (data) => ofServer(data, '/reseller'),
})
export const ownServerActivityPage = page({
  path: '/servers/{id}/activity',
  elsewhere: inOwnArea,
  reads,
  title,
  nav: 'servers',
  view: (data) => ofServer(data, ''),
})

const ofServer = ({ server: s, activity, at }: OfServer, area: Area) => html`
    ${head({
      title: 'Activity',
      trail: [
        ['Servers', `${area}/servers`],
        [s.name, `${area}/servers/${s.id}`],
      ],
      sub: 'What was done to it, by whom, and the job that came of it.',
    })}
    <section class="card" aria-label="Activity">
      ${activity.data.length ? activityTable(activity.data, at, { target: false }) : empty('Nobody has changed it yet.')}
      ${pager(at, activity)}
    </section>`
