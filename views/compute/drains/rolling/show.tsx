// Maintenance of several nodes: how far it is, where it stopped, and the ways on.
import {
  cancelRolling,
  confirmRolling,
  getRolling,
  resumeRolling,
  skipNode,
} from '../../../../src/compute/drains/rolling/rolling.ts'
import { page } from '../../../../src/kernel/web/page.ts'
import { Action } from '../../../components/action.tsx'
import { Head } from '../../../components/head.tsx'
import { Link } from '../../../components/link.tsx'
import { Live } from '../../../components/live.tsx'
import { Facts, Note, Section } from '../../../components/section.tsx'
import { type Column, Table } from '../../../components/table.tsx'
import { Exact, Moment } from '../../../components/time.tsx'
import { isAtWork, type Rolling, type RollingNode, RollingNodeState, RollingState, titleOf, trail } from './words.tsx'

export const rollingPage = page({
  path: '/admin/rolling-maintenance/{id}',
  reads: { rolling: getRolling },
  title: ({ rolling }) => titleOf(rolling),
  nav: 'nodes',
  view: ({ rolling }) => (
    <Live id="rolling" every={rolling.finishedAt === null ? 2 : undefined}>
      <Head
        title={titleOf(rolling)}
        trail={trail}
        state={<RollingState of={rolling} tag />}
        sub={
          <>
            <span>
              started <Exact iso={rolling.createdAt} /> by {rolling.startedBy.name}
            </span>
            <span>
              {rolling.done} of {rolling.nodes.length} done
            </span>
          </>
        }
        actions={<Actions of={rolling} />}
      />
      <Now of={rolling} />
      <Section id="nodes" title="Nodes" flush first>
        <Table label="Nodes" rows={rolling.nodes} idOf={({ id }) => id} columns={columnsFor(rolling)} />
      </Section>
      <Section id="how" title="How">
        <Facts
          of={[
            [
              'A node is done',
              rolling.waitsFor === 'reboot' ? 'when it has restarted, or you say so' : 'when you say so',
            ],
            ['Its servers', rolling.bringBack ? 'come back to it' : 'stay where they went'],
            ['Ended', rolling.finishedAt && <Moment iso={rolling.finishedAt} />],
          ]}
        />
      </Section>
    </Live>
  ),
})

/** The reason why it waits, and the next step. */
function Now({ of: rolling }: { of: Rolling }) {
  const { node, state, reason, waitsFor, drainId } = rolling
  const drain = drainId && (
    <Link class="btn" to="/admin/drains/{id}" params={{ id: drainId }}>
      See the drain
    </Link>
  )
  if (state === 'paused' && node)
    return (
      <Note level="bad" action={drain}>
        <strong>It stopped at {node.name}.</strong> {reason} Mend that and try again, or skip {node.name}: it stays
        closed as it is.
      </Note>
    )
  if (isAtWork(rolling) && node)
    return (
      <Note
        level="info"
        action={
          <Link class="btn" to="/admin/nodes/{id}" params={{ id: node.id }}>
            Open {node.name}
          </Link>
        }
      >
        <strong>{node.name} is empty.</strong>{' '}
        {waitsFor === 'reboot'
          ? 'Restart it now. It goes on by itself when the machine has restarted and is connected.'
          : 'Work on it now, and say here when that is done.'}
      </Note>
    )
  return state === 'cancelled' && reason ? <Note level="info">{reason}</Note> : null
}

function Actions({ of: rolling }: { of: Rolling }) {
  const { id, node, nodes, state, phase, bringBack } = rolling
  if (!node) return null
  const params = { id }
  const next = nodes[nodes.findIndex((one) => one.id === node.id) + 1]
  const follows = next ? `${next.name} is closed and its servers move, now.` : 'It was the last node.'
  return (
    <>
      {isAtWork(rolling) && (
        <Action
          op={confirmRolling}
          params={params}
          label={`${node.name} is done`}
          icon="check"
          tone="pri"
          title={`Is the work on ${node.name} done?`}
          submit="It is done"
          done="It goes on"
          confirm={{
            keep: 'Not yet',
            consequences: [
              `${node.name} takes new servers again.`,
              bringBack && 'Its servers come back to it first.',
              bringBack && next ? `Then ${next.name} is emptied.` : follows,
            ],
          }}
        />
      )}
      {state === 'paused' && (
        <>
          <Action
            op={resumeRolling}
            params={params}
            label={phase === 'returning' ? 'Go on' : `Try ${node.name} again`}
            icon={phase === 'returning' ? 'play' : 'refresh'}
            tone="pri"
            done="It goes on"
          />
          <Action
            op={skipNode}
            params={params}
            label={`Skip ${node.name}`}
            title={`Skip ${node.name}?`}
            done={`${node.name} is skipped`}
            confirm={{ keep: 'Stay here', consequences: [`${node.name} stays as it is now, closed or open.`, follows] }}
          />
        </>
      )}
      <Action
        op={cancelRolling}
        params={params}
        label="End it"
        title={`End the maintenance of ${nodes.length === 1 ? 'this node' : 'these nodes'}?`}
        done="It has ended"
        confirm={{
          keep: 'Go on with it',
          consequences: [
            'No further node is emptied.',
            `${node.name} stays as it is. A drain at work goes on until it is cancelled on its own page.`,
          ],
        }}
      />
    </>
  )
}

const columnsFor = (rolling: Rolling): Column<RollingNode>[] => [
  {
    title: 'Node',
    kind: 'name',
    width: 34,
    cell: ({ id, name }) => (
      <Link to="/admin/nodes/{id}" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { title: 'State', kind: 'state', width: 36, cell: (one) => <RollingNodeState of={one} rolling={rolling} /> },
  {
    title: 'Drain',
    kind: 'a',
    width: 30,
    cell: ({ state }) =>
      state === 'at_hand' && rolling.drainId ? (
        <Link to="/admin/drains/{id}" params={{ id: rolling.drainId }}>
          See the drain
        </Link>
      ) : (
        '–'
      ),
  },
]
