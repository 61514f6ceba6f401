import { getServer } from '../../../src/compute/servers/list.ts'
import { listMemberships } from '../../../src/identity/team/memberships.ts'
import { allIfAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { listActivity, listServerActivity } from '../../../src/platform/audit/activity.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Empty } from '../../components/section.tsx'
import { Pager } from '../../components/table.tsx'
import { ServerFrame } from '../../compute/servers/frame.tsx'
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

const reads = {
  server: reading(getServer, ({ params }) => ({ params })),
  jobs: reading(listJobs, ({ params }) => ({ query: { serverId: params['id'] ?? '', limit: '10' } })),
  memberships: allIfAllowed(listMemberships),
  activity: listServerActivity,
}

export const serverActivityPages = inEveryArea({
  path: '/servers/{id}/activity',
  reads,
  title: ({ server }) => `Activity of ${server.name}`,
  nav: 'servers',
  view: ({ activity, ...data }, area) => (
    <ServerFrame {...data} area={area}>
      <h2 class="sr">Activity</h2>
      {activity.data.length ? (
        <ActivityTable lines={activity.data} target={false} />
      ) : (
        <Empty>No activity on this server yet.</Empty>
      )}
      <Pager of={activity} />
    </ServerFrame>
  ),
})
