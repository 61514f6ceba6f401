import { page } from '../../../src/kernel/web/page.ts'
import { listActivity } from '../../../src/platform/audit/activity.ts'
import { Head } from '../../components/head.tsx'
import { Empty } from '../../components/section.tsx'
import { Pager } from '../../components/table.tsx'
import { ActivityTable } from './table.tsx'

export const activityPage = page({
  path: '/account/activity',
  reads: { activity: listActivity },
  title: 'Activity',
  nav: 'activity',
  view: ({ activity, at }) => (
    <>
      <Head
        title="Activity"
        sub={
          <span>
            {at.actor.kind === 'staff'
              ? 'What you did, and what was done to your account.'
              : 'What you did, and what was done to your account and servers. If you do not recognise a refused ' +
                'sign-in, change your password.'}
          </span>
        }
      />
      {activity.data.length ? <ActivityTable lines={activity.data} /> : <Empty>No activity yet.</Empty>}
      <Pager of={activity} />
    </>
  ),
})
