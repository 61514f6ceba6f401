// The nodes of a rolling maintenance and their order, which are the page's address: nothing is stored before it starts.
import { startRolling } from '../../../../src/compute/drains/rolling/rolling.ts'
import { listNodes } from '../../../../src/fleet/nodes/nodes.ts'
import { type Answers, page, readingAll } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { Action } from '../../../components/action.tsx'
import { Radios } from '../../../components/choices.tsx'
import { Check, Field } from '../../../components/field.tsx'
import { Head } from '../../../components/head.tsx'
import { Icon, type IconName } from '../../../components/icon.tsx'
import { Link } from '../../../components/link.tsx'
import { Empty, Section } from '../../../components/section.tsx'
import { NodeState } from '../../../components/state.tsx'
import { type Column, Table } from '../../../components/table.tsx'
import { count, list } from '../../../components/words.ts'
import { trail } from './words.tsx'

const reads = { nodes: readingAll(listNodes) }
type Node = Answers<typeof reads>['nodes']['data'][number]

export const chooseNodesPage = page({
  path: '/admin/rolling-maintenance/new',
  reads,
  title: 'Plan maintenance',
  nav: 'nodes',
  view: ({ nodes }) => <ChooseNodes nodes={nodes.data.filter(({ lostAt }) => lostAt === null)} />,
})

/** Of more nodes a search finds the others. */
const OTHERS_SHOWN = 50

function ChooseNodes({ nodes }: { nodes: readonly Node[] }) {
  const asked = new Set((useAt().query['order'] ?? '').split(','))
  const chosen = [...asked].flatMap((id) => nodes.find((one) => one.id === id) ?? [])
  const words = (useAt().query['q'] ?? '').toLowerCase()
  const others = nodes
    .filter(({ id, name: own, location }) => !asked.has(id) && `${own} ${location.name}`.toLowerCase().includes(words))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const order = chosen.map(({ id }) => id)
  return (
    <>
      <Head
        title="Plan maintenance"
        trail={trail}
        sub={<span>Each node is emptied, worked on and opened again, then the next one follows</span>}
        actions={<Start chosen={chosen} />}
      />
      {(words || others.length > OTHERS_SHOWN) && (
        <form class="tools" role="search" method="get" action={useAt().path}>
          <input type="hidden" name="order" value={order.join(',')} />
          <div class="search">
            <Icon name="search" />
            <label class="sr" for="q-q">
              Search nodes
            </label>
            <input id="q-q" name="q" type="search" value={words} placeholder="Node or location" />
          </div>
          <button class="btn">Search</button>
          {others.length > OTHERS_SHOWN && <b role="status">{`The first ${OTHERS_SHOWN} of ${others.length}`}</b>}
        </form>
      )}
      <form method="get" action={useAt().path}>
        {words && <input type="hidden" name="q" value={words} />}
        <Section id="chosen" title="In this order" count={chosen.length || undefined} flush first>
          {chosen.length ? (
            <Table label="In this order" rows={chosen} idOf={({ id }) => id} columns={chosenColumns(order)} />
          ) : (
            <Empty>No node is chosen yet. Add the first one below.</Empty>
          )}
        </Section>
        <Section id="others" title="Other nodes" count={others.length || undefined} flush>
          {others.length ? (
            <Table
              label="Other nodes"
              rows={others.slice(0, OTHERS_SHOWN)}
              idOf={({ id }) => id}
              columns={otherColumns(order)}
            />
          ) : (
            <Empty>
              {words ? 'No node matches.' : nodes.length ? 'Every node is chosen.' : 'There are no nodes yet.'}
            </Empty>
          )}
        </Section>
      </form>
    </>
  )
}

const about: Column<Node>[] = [
  { title: 'State', kind: 'state', width: 16, cell: (n) => <NodeState of={n} /> },
  { title: 'Location', kind: 'a', width: 18, cell: (n) => n.location.name },
  { title: 'Servers', kind: 'b', num: true, width: 12, cell: (n) => count(n.servers, 'server') },
]
const name = (cell: Column<Node>['cell']): Column<Node> => ({ title: 'Node', kind: 'name', width: 22, cell })
const NodeLink = ({ id, name: words }: Node) => (
  <Link to="/admin/nodes/{id}" params={{ id }}>
    {words}
  </Link>
)

const chosenColumns = (order: readonly string[]): Column<Node>[] => [
  name((n) => (
    <>
      {NodeLink(n)}
      <small>{order.indexOf(n.id) === 0 ? 'first' : `number ${order.indexOf(n.id) + 1}`}</small>
    </>
  )),
  ...about,
  {
    title: 'Order',
    kind: 'wide',
    width: 22,
    cell: (n) => {
      const place = order.indexOf(n.id)
      const without = order.filter((id) => id !== n.id)
      return (
        <span class="bar">
          {place > 0 && <Step of={n} order={without.toSpliced(place - 1, 0, n.id)} icon="arrow-up" words="Earlier" />}
          {place < order.length - 1 && (
            <Step of={n} order={without.toSpliced(place + 1, 0, n.id)} icon="arrow-down" words="Later" />
          )}
          <Step of={n} order={without} icon="close" words="Leave out" />
        </span>
      )
    },
  },
]
const otherColumns = (order: readonly string[]): Column<Node>[] => [
  name(NodeLink),
  ...about,
  {
    title: 'Order',
    kind: 'wide',
    width: 32,
    cell: (n) => <Step of={n} order={[...order, n.id]} icon="plus" words="Add" />,
  },
]

type StepProps = { of: Node; order: readonly string[]; icon: IconName; words: string }
/** Asks for this page with another order. */
const Step = ({ of, order, icon, words }: StepProps) => (
  <button class="btn s" name="order" value={order.join(',')} aria-label={`${words}: ${of.name}`}>
    <Icon name={icon} />
    {words}
  </button>
)

const Start = ({ chosen }: { chosen: readonly Node[] }) => (
  <Action
    op={startRolling}
    body={{ nodeIds: chosen.map(({ id }) => id) }}
    label="Start"
    icon="play"
    tone="pri"
    disabledReason={!chosen.length && 'Choose the first node.'}
    title={`Maintain ${count(chosen.length, 'node')} one after another?`}
    done={chosen[0] && `${chosen[0].name} is being emptied`}
    leadsTo="/admin/rolling-maintenance/{id}"
    wide
    confirm={{
      keep: 'Leave them as they are',
      consequences: [
        `In this order: ${list(chosen.map(({ name: words }) => words))}.`,
        chosen[0] && `${chosen[0].name} is closed and its servers move to other nodes, now.`,
        'It stops at the first node that does not become empty, and waits for you there.',
        'Owners are told nothing by it: tell them before, on the drain page of each node.',
      ],
    }}
    fields={
      <>
        <Radios
          scope="rolling"
          name="waitsFor"
          label="A node is done when"
          value="person"
          options={[
            { value: 'person', label: 'you say so', hint: 'Work on the machine, then confirm on the page.' },
            {
              value: 'reboot',
              label: 'it has restarted and is connected',
              hint: 'You restart it when it is empty. You can also confirm without a restart.',
            },
          ]}
        />
        <Check
          scope="rolling"
          name="bringBack"
          label="Bring its servers back to each node"
          hint="Without it they stay where they went."
        />
        <Field
          scope="rolling"
          name="atOnce"
          label="Moves at once"
          as="number"
          min={1}
          hint="Left empty: as many as the settings allow."
        />
        <Field
          scope="rolling"
          name="maxMbps"
          label="At most, in Mbit/s"
          as="number"
          nullable
          hint="Of each move. Left empty: as fast as the link and the settings allow."
        />
      </>
    }
  />
)
