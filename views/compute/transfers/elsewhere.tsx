// A server that another node runs than its record says, after a restore: staff say here that it is there.
import { getServer } from '../../../src/compute/servers/list.ts'
import { adoptServer, getElsewhere } from '../../../src/compute/transfers/elsewhere/adopt.ts'
import { listMemberships } from '../../../src/identity/team/memberships.ts'
import { type Answers, allIfAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { Action } from '../../components/action.tsx'
import { Link } from '../../components/link.tsx'
import { Facts, Note, Section } from '../../components/section.tsx'
import { ServerFrame } from '../servers/frame.tsx'
import type { Server } from '../servers/words.ts'

const reads = {
  server: reading(getServer, ({ params }) => ({ params })),
  jobs: reading(listJobs, ({ params }) => ({ query: { serverId: params['id'] ?? '', limit: '10' } })),
  memberships: allIfAllowed(listMemberships),
  elsewhere: reading(getElsewhere, ({ params }) => ({ params })),
}
type Elsewhere = Answers<typeof reads>['elsewhere']

export const elsewherePage = page({
  path: '/admin/servers/{id}/elsewhere',
  reads,
  title: ({ server }) => `Where ${server.name} is`,
  nav: 'servers',
  view: ({ elsewhere, ...data }) => (
    <ServerFrame {...data} area="/admin">
      <Section id="elsewhere" title="Where it is" first>
        <Facts
          of={[
            ['By the records', <NodeLink of={elsewhere.recorded} />],
            [
              'Run by',
              elsewhere.nodes.length ? elsewhere.nodes.map((node) => <NodeLink of={node} />) : 'no other node',
            ],
          ]}
        />
        <Decide server={data.server} of={elsewhere} />
      </Section>
    </ServerFrame>
  ),
})

const NodeLink = ({ of: { id, name } }: { of: Elsewhere['recorded'] }) => (
  <>
    <Link href={`/admin/nodes/${id}`}>{name}</Link>{' '}
  </>
)

function Decide({ server: s, of: { nodes, possible, reason, changes, recorded } }: { server: Server; of: Elsewhere }) {
  const [there] = nodes
  if (!there) return <p class="muted">No other node says that it runs it. Nothing has to be decided.</p>
  if (!possible)
    return (
      <Note level="warn">
        <strong>The record cannot follow it.</strong> {reason}
      </Note>
    )
  return (
    <>
      <p>
        It may have moved after the state that was restored. Then its only disk is there, and the record has to follow
        it. If it is the one there that is out of date, shut it down on {there.name} instead (virsh shutdown).
      </p>
      <Action
        op={adoptServer}
        params={{ id: s.id }}
        body={{ nodeId: there.id }}
        label={`It is on ${there.name}`}
        title={`Is ${s.hostname} on ${there.name}?`}
        submit="It is there"
        done={`The record of ${s.hostname} follows it`}
        confirm={{
          keep: 'Leave it',
          consequences: [
            ...changes,
            `No disk is deleted on ${recorded.name}: what is left there shows under its differences.`,
            'It runs on. The firewall of the records holds at once, and their size from its next start.',
          ],
        }}
      />
    </>
  )
}
