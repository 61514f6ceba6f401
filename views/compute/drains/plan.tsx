// The plan of emptying a node, before anything is started.
import { announceMaintenance, previewNotice } from '../../../src/compute/drains/announce.ts'
import { listDrains } from '../../../src/compute/drains/list.ts'
import { exportPlan, planOfNode } from '../../../src/compute/drains/plan/node-plan.ts'
import { startDrain } from '../../../src/compute/drains/start.ts'
import { type Answers, ifAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Check, Field, MomentField, Select } from '../../components/field.tsx'
import { Figure, Meter, Stats } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Download, Filters } from '../../components/list.tsx'
import { Empty, Facts, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'
import { duration, modeWords } from '../transfers/words.tsx'
import { Choose, ChooseForm, choiceWords, Later, ScheduledNote } from './later.tsx'
import { ServerLink, titleOf } from './words.tsx'

const reads = {
  // Filters and the server of a choice are the page's own.
  plan: reading(planOfNode, ({ params }) => ({ params })),
  notice: reading(previewNotice, ({ params }) => ({ params })),
  drains: ifAllowed(listDrains, ({ params }) => ({ query: { nodeId: params['id'] ?? '', limit: '1' } })),
}
export type Plan = Answers<typeof reads>['plan']
type Notice = Answers<typeof reads>['notice']
export type LastDrain = NonNullable<Answers<typeof reads>['drains']>['data'][number] | undefined
export type PlannedServer = Plan['servers'][number]

export const drainPlanPage = page({
  path: '/admin/nodes/{id}/drain',
  reads,
  title: ({ plan }) => `Drain ${plan.node.name}`,
  nav: 'nodes',
  view: ({ plan, notice, drains }) => <PlanPage plan={plan} notice={notice} drain={drains?.data[0]} />,
})

function PlanPage({ plan, notice, drain }: { plan: Plan; notice: Notice; drain: LastDrain }) {
  const { node, totals } = plan
  return (
    <>
      <Head
        title={`Drain ${node.name}`}
        trail={[
          ['Nodes', '/admin/nodes'],
          [node.name, `/admin/nodes/${node.id}`],
        ]}
        state={
          <State tone="warn" shape="wait" tag>
            Plan, nothing started
          </State>
        }
        sub={
          <>
            <span>
              {count(totals.servers, 'server')} of {count(totals.owners, 'customer')}
            </span>
            <span>
              plan made <Time iso={plan.madeAt} />
            </span>
          </>
        }
        actions={
          <>
            <Start plan={plan} drain={drain} />
            <Later plan={plan} drain={drain} />
            <Announce plan={plan} notice={notice} />
            {totals.servers > 0 && <Download op={exportPlan} params={{ id: node.id }} query={{}} label="CSV" />}
          </>
        }
      />
      {drain && (
        <Note
          level="info"
          action={
            <Link class="btn" to="/admin/drains/{id}" params={{ id: drain.id }}>
              Open
            </Link>
          }
        >
          {drain.finishedAt === null ? (
            <strong>{titleOf(drain)} is under way.</strong>
          ) : (
            <>
              {titleOf(drain)} ended <Time iso={drain.finishedAt} />.
            </>
          )}
        </Note>
      )}
      <ScheduledNote of={plan.scheduled} node={plan.node} />
      <ChooseForm plan={plan} />
      <PlanFigures plan={plan} />
      <CannotMove servers={plan.servers} plan={plan} />
      <PlannedServers servers={plan.servers} plan={plan} />
      <div class="split">
        <div>
          <Afterwards plan={plan} />
        </div>
        <div>
          <Section
            id="told"
            title="Who notices"
            words={
              totals.ownersToTell
                ? `${count(totals.ownersToTell, 'customer')} with a server that is off for a moment.`
                : 'Nobody: no server is off for it.'
            }
          >
            <Facts
              of={[
                ['At once', plan.atOnce],
                ['To copy', `at most ${bytes(totals.bytes)}`],
                ['On failure', 'The server stays on the node and is listed; the others go on.'],
                [
                  'Stay here',
                  plan.ended > 0 && `disks of ${count(plan.ended, 'terminated server')} that can be brought back`,
                ],
              ]}
            />
          </Section>
        </div>
      </div>
    </>
  )
}

const Start = ({ plan: { node, totals, atOnce }, drain }: { plan: Plan; drain: LastDrain }) => (
  <Action
    op={startDrain}
    params={{ id: node.id }}
    label="Start draining"
    icon="play"
    tone="pri"
    disabledReason={
      (totals.servers === 0 && 'No server is on it.') ||
      (drain?.finishedAt === null && 'A drain of it is under way already.')
    }
    title={`Drain ${node.name}?`}
    done={`${node.name} is being emptied`}
    leadsTo="/admin/drains/{id}"
    confirm={{
      keep: 'Leave it as it is',
      consequences: [
        `${node.name} is closed for new servers.`,
        `${count(totals.moves, 'server')} ${totals.moves === 1 ? 'moves' : 'move'}, ${atOnce} at once, within ` +
          `${duration(totals.expectedSeconds)}.`,
        totals.ownersToTell > 0 && `${count(totals.ownersToTell, 'customer')} will notice a stop.`,
        totals.cannotMove > 0 && `${count(totals.cannotMove, 'server')} cannot move now and stay here.`,
        'It can be paused and cancelled at any time.',
      ],
    }}
    fields={
      <>
        <Field scope="drain" name="reason" label="Reason" hint="Your colleagues read it on the page of the node." />
        <Field
          scope="drain"
          name="atOnce"
          label="Moves at once"
          as="number"
          min={1}
          hint={`Left empty: ${atOnce}, which the settings allow.`}
        />
        <Field
          scope="drain"
          name="maxMbps"
          label="At most, in Mbit/s"
          as="number"
          nullable
          hint="Of each move. Left empty: as fast as the link and the settings allow."
        />
        <Select
          scope="drain"
          name="onFailure"
          label="When a server cannot move"
          value="continue"
          options={[
            { value: 'continue', label: 'go on with the others' },
            { value: 'pause', label: 'pause and wait for a person' },
          ]}
        />
      </>
    }
  />
)

/** Tells the owners before; nothing sends it by itself. */
const Announce = ({ plan: { node }, notice }: { plan: Plan; notice: Notice }) => (
  <Action
    op={announceMaintenance}
    params={{ id: node.id }}
    label="Tell owners"
    icon="mail"
    wide
    disabledReason={notice.recipients.length === 0 && 'No owner would notice anything.'}
    title={`Tell owners of the maintenance of ${node.name}?`}
    submit="Send"
    done="The owners are told"
    confirm={{
      keep: 'Tell nobody',
      consequences: [
        `These get a notice and a mail: ${notice.recipients.map(({ name }) => name).join(', ')}.`,
        <>The first reads: {notice.paragraphs.slice(1).join(' ')}</>,
        'The drain begins by itself at that time only if you say so here.',
      ],
    }}
    fields={
      <>
        <MomentField scope="announce" name="startsAt" label="Begins" />
        <MomentField scope="announce" name="endsAt" label="Ends" nullable />
        <Field scope="announce" name="text" label="Words of your own" hint="A paragraph of the mail." />
        <Check scope="announce" name="drain" label="Begin the drain by itself at that time" />
      </>
    }
  />
)

/** The figures of a plan in a strip: how many move in which way. */
export function PlanFigures({ plan }: { plan: Pick<Plan, 'servers' | 'totals' | 'atOnce'> }) {
  const { servers, totals, atOnce } = plan
  const noticed = servers.filter(({ to, expectedDowntimeMs }) => to && expectedDowntimeMs > 0)
  const byMode = Map.groupBy(noticed, ({ mode }) => mode!)
  return (
    <Stats>
      {[...byMode].map(([mode, of]) => (
        <Figure title={modeWords[mode]} n={of.length} words={`off for ${longest(of)} at most`} />
      ))}
      <Figure title="Are off" n={totals.off} words="nothing to notice" />
      <Figure
        title="Cannot move"
        n={totals.cannotMove}
        bad={totals.cannotMove > 0}
        words={totals.cannotMove ? 'see below' : 'none'}
      />
      <Figure title="Takes" n={duration(totals.expectedSeconds)} words={`${atOnce} at once, at most`} />
    </Stats>
  )
}
const longest = (of: readonly PlannedServer[]) =>
  duration(Math.max(...of.map(({ expectedDowntimeMs }) => expectedDowntimeMs)) / 1000)

type InPlan = { servers: readonly PlannedServer[]; plan: Plan }
function CannotMove({ servers, plan }: InPlan) {
  const stay = servers.filter(({ reason }) => reason !== null)
  if (!stay.length) return null
  return (
    <Section id="cannot" title={`Cannot move: ${stay.length}`} flush>
      <ul class="rows wrap">
        {stay.map((one) => (
          <li>
            <span class="st bad">
              <Icon name={one.kind === 'server' ? 'server' : 'gpu'} />
            </span>
            <div class="grow">
              <b>
                <ServerLink of={one} />
              </b>
              <small>
                {one.reason} {one.remedy}
              </small>
            </div>
            {one.kind === 'server' && <Choose of={one} plan={plan} />}
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** The servers that move, in the order in which they do. */
function PlannedServers({ servers, plan }: InPlan) {
  const { query } = useAt()
  const going = servers.filter(({ to }) => to)
  const text = (query['q'] ?? '').toLowerCase()
  const shown = going.filter(
    ({ hostname, owner, mode, to }) =>
      (!text || hostname.toLowerCase().includes(text) || owner.name.toLowerCase().includes(text)) &&
      (!query['mode'] || mode === query['mode']) &&
      (!query['to'] || to!.id === query['to']),
  )
  if (!going.length)
    return (
      <Section id="servers" title="Servers" quiet>
        <Empty>{servers.length ? 'None of its servers can move.' : 'It is empty: no server is on it.'}</Empty>
      </Section>
    )
  const modes = [...new Set(going.map(({ mode }) => mode!))]
  const targets = new Map(going.map(({ to }) => [to!.id, to!.name]))
  return (
    <>
      <Filters
        of={[
          { name: 'q', label: 'Server or customer', placeholder: 'Server or customer' },
          { name: 'mode', label: 'How', options: modes.map((mode) => [mode, modeWords[mode]] as const) },
          { name: 'to', label: 'Goes to', options: [...targets] },
        ]}
      >
        <b role="status">{count(shown.length, 'server')}</b>
      </Filters>
      {shown.length ? (
        <Table label="Plan" rows={shown} idOf={({ id }) => id} columns={columnsIn(plan)} />
      ) : (
        <Empty>No server matches these filters.</Empty>
      )}
    </>
  )
}

const columnsIn = (plan: Plan): Column<PlannedServer>[] => [
  {
    title: 'Server',
    kind: 'name',
    width: 20,
    cell: (one) => (
      <>
        <ServerLink of={one} />
        <small>
          {one.owner.name}
          {one.choice && `, chosen: ${choiceWords(one.choice)}`}
        </small>
      </>
    ),
  },
  { title: 'How', kind: 'state', width: 16, cell: (one) => <How of={one} /> },
  { title: 'Goes to', kind: 'addr', width: 14, cell: ({ to }) => to?.name ?? '–' },
  { title: 'To copy', kind: 'a', num: true, width: 14, cell: ({ bytes: n }) => (n ? bytes(n) : 'nothing') },
  { title: 'Takes', kind: 'b', num: true, width: 14, cell: ({ expectedSeconds }) => duration(expectedSeconds) },
  {
    title: 'Downtime',
    num: true,
    width: 14,
    cell: ({ expectedDowntimeMs: ms }) => (ms ? duration(ms / 1000) : '–'),
  },
  { title: 'Choice', kind: 'wide', width: 12, cell: (one) => <Choose of={one} plan={plan} /> },
]

export const How = ({
  of: { mode, expectedDowntimeMs },
}: {
  of: Pick<PlannedServer, 'mode' | 'expectedDowntimeMs'>
}) =>
  mode === null ? (
    <State tone="hold" shape="hold">
      Cannot move
    </State>
  ) : expectedDowntimeMs ? (
    <State tone="warn" shape="wait">
      {modeWords[mode]}
    </State>
  ) : (
    <State tone="idle" shape="stop">
      {mode === 'reassigned' ? modeWords[mode] : 'Is off'}
    </State>
  )

export const Afterwards = ({ plan: { nodes } }: { plan: Pick<Plan, 'nodes'> }) => (
  <Section id="afterwards" title="Afterwards">
    {nodes.length ? (
      <div class="stack">
        {nodes.map(({ node, memoryPercent, memoryPercentAfter }) => (
          <Meter
            label={`${node.name} memory`}
            value={memoryPercentAfter}
            total={100}
            words={`${memoryPercent} → ${memoryPercentAfter} %`}
          />
        ))}
      </div>
    ) : (
      <p class="muted">No other node takes any of them.</p>
    )}
  </Section>
)
