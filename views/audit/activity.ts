import { listActivity } from '../../src/audit/activity.ts'
import { html } from '../../src/kernel/web/html.ts'
import { page } from '../../src/kernel/web/page.ts'
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
    ${head({ title: 'Activity', sub: at.actor.kind === 'staff' ? 'What you did, and what was done to your account.' : 'What you did, and what was done to your account and servers. A refused sign-in that was not you: change your password.' })}
    <section class="card" aria-label="Activity">
      ${activity.data.length ? activityTable(activity.data, at) : empty('Nothing was done yet.')}
      ${pager(at, activity)}
    </section>`,
})
