import { getServer } from '../../../src/compute/servers/list.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { listActivity, listServerActivity } from '../../../src/platform/audit/activity.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { empty } from '../../html/card.ts'
import { head } from '../../html/head.ts'
import { pager } from '../../html/table.ts'
import { activityTable } from './table.ts'

export const activityPage = page({
  path: '/account/activity',
  reads: { activity: listActivity },
  title: 'Activity',
  nav: 'activity',
  view: ({ activity, at }) => html`
    ${head({ title: 'Activity', sub: at.actor.kind === 'staff' ? 'What you did, and what was done to your account.' : 'What you did, and what was done to your account and servers. If a refused sign-in was not you, change your password.' })}
    <section class="sec" aria-label="Activity">
      ${activity.data.length ? activityTable(activity.data, at) : empty('Nothing has been done yet.')}
      ${pager(at, activity)}
    </section>`,
})

const reads = { server: reading(getServer, ({ params }) => ({ params })), activity: listServerActivity }
export const serverActivityPages = inEveryArea({
  path: '/servers/{id}/activity',
  reads,
  title: ({ server }) => `Activity of ${server.name}`,
  nav: 'servers',
  view: (data, area) => ofServer(data, area),
})

const ofServer = ({ server: s, activity, at }: Answers<typeof reads> & { at: At }, area: Area) => html`
    ${head({
      title: 'Activity',
      trail: [
        ['Servers', `${area}/servers`],
        [s.name, `${area}/servers/${s.id}`],
      ],
      sub: 'What was done to it, by whom, and the job that came of it.',
    })}
    <section class="sec" aria-label="Activity">
      ${activity.data.length ? activityTable(activity.data, at, { target: false }) : empty('Nobody has changed it yet.')}
      ${pager(at, activity)}
    </section>`
