import { adoptBaseline } from '../../../src/compute/cpu-baseline/adopt.ts'
import { type getBaseline, setBaseline } from '../../../src/compute/cpu-baseline/baseline.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'

type Baseline = Answers<{ cpu: typeof getBaseline }>['cpu']
type Node = Baseline['nodes'][number]
type Server = Baseline['servers'][number]

const named = (model: string | null) => model ?? 'That of its node'

/** The CPU model of new servers, the nodes that run it, and the servers that have another one. */
export const CpuBaseline = ({ of: cpu }: { of: Baseline }) => (
  <>
    <Section
      id="cpu"
      title="CPU model"
      count={cpu.model ?? 'Not set'}
      words={wordsOf(cpu)}
      actions={<Choose of={cpu} />}
      flush
    >
      {cpu.nodes.length > 0 && (
        <Table label="CPUs of nodes" rows={cpu.nodes} idOf={({ node }) => node.id} columns={nodeColumns(cpu)} />
      )}
    </Section>
    {cpu.servers.length > 0 && (
      <Section
        id="other-cpus"
        title="Servers with another CPU model"
        count={cpu.serversTotal}
        actions={<Adopt of={cpu} />}
        flush
      >
        <Table
          label="Servers with another CPU model"
          rows={cpu.servers}
          idOf={({ server }) => server.id}
          columns={serverColumns}
        />
      </Section>
    )}
  </>
)

function wordsOf({ model, proposed, nodes }: Baseline) {
  if (model !== null) {
    const others = nodes.filter(({ runs }) => !runs).length
    return others
      ? `New servers have this CPU model. ${count(others, 'node', 'nodes')} cannot run it, and will have none of them.`
      : 'New servers have this CPU model, and every node runs it.'
  }
  return proposed === null
    ? 'New servers have all that the CPU of their node has.'
    : `New servers have all that the CPU of their node has. All nodes run ${proposed}: with it each can take over ` +
        'the servers of the others.'
}

const nodeColumns = ({ model }: Baseline): Column<Node>[] => [
  {
    title: 'Node',
    kind: 'name',
    width: 24,
    cell: ({ node }) => <Link href={`/admin/nodes/${node.id}`}>{node.name}</Link>,
  },
  { title: 'CPU', kind: 'mid', width: 40, cell: ({ cpu }) => cpu ?? '' },
  {
    title: 'State',
    kind: 'state',
    width: 30,
    cell: ({ models, runs }) =>
      models === 0 ? (
        <State tone="idle" shape="dot">
          Does not say
        </State>
      ) : runs ? (
        <State tone="ok" shape="tick">
          {model === null ? count(models, 'CPU model') : `Runs ${model}`}
        </State>
      ) : (
        <State tone="warn" shape="fail">
          Cannot run {model}
        </State>
      ),
  },
]

const serverColumns: readonly Column<Server>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 30,
    cell: ({ server }) => <Link href={`/admin/servers/${server.id}`}>{server.hostname}</Link>,
  },
  { title: 'Node', kind: 'a', width: 24, cell: ({ node }) => node.name },
  {
    title: 'CPU model',
    kind: 'b',
    width: 40,
    cell: ({ model, pending }) => (
      <>
        {named(model)}
        {pending && <small>From its next start from off</small>}
      </>
    ),
  },
]

const Choose = ({ of: { location, model, proposed, common } }: { of: Baseline }) => (
  <Action
    op={setBaseline}
    params={{ id: location.id }}
    label={model === null ? 'Set' : 'Change'}
    of="CPU model"
    icon="pencil"
    small
    title={`CPU model of new servers in ${location.name}`}
    submit="Set CPU model"
    done="The CPU model is set"
    fields={
      <Select
        scope="cpu"
        name="model"
        label="CPU model"
        nullable
        value={model ?? proposed ?? ''}
        options={[
          { value: '', label: 'That of the node' },
          ...[...new Set([...(model === null ? [] : [model]), ...common])].map((name) => ({
            value: name,
            label: name === proposed ? `${name} (the best that all nodes run)` : name,
          })),
        ]}
        hint="Servers that are there keep theirs. A system that needs more than it offers does not start."
      />
    }
  />
)

function Adopt({ of: { location, model, servers } }: { of: Baseline }) {
  const others = servers.filter((server) => server.model !== model)
  return (
    others.length > 0 && (
      <Action
        op={adoptBaseline}
        params={{ id: location.id }}
        body={{ serverIds: others.map(({ server }) => server.id) }}
        label={`Change ${count(others.length, 'server')}`}
        of="to the CPU model"
        icon="refresh"
        small
        title={`Give ${count(others.length, 'server')} the CPU model of ${location.name}?`}
        submit={`Change ${count(others.length, 'server')}`}
        done="The servers are being changed"
        confirm={{
          keep: 'Keep theirs',
          consequences: [
            'Servers that run keep theirs until they are stopped and started, or restarted in the panel.',
            'Windows may ask to be activated again.',
          ],
        }}
      />
    )
  )
}
