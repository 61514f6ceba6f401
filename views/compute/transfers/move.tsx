// The page on which staff move a server to another node: every node with what keeps it from taking the server.
import { getServer } from '../../../src/compute/servers/list.ts'
import { moveServer } from '../../../src/compute/transfers/move.ts'
import { moveOptions } from '../../../src/compute/transfers/options.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Empty, Facts, Note, Section } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { bytes } from '../../components/words.ts'
import type { Server } from '../servers/words.ts'
import { Setting } from '../workloads/settings-entry.tsx'
import { duration, modeWords } from './words.tsx'

const reads = { server: getServer, options: moveOptions }
type Data = Answers<typeof reads>
type Options = Data['options']
type Node = Options['nodes'][number]

export const moveServerPage = page({
  path: '/admin/servers/{id}/move',
  reads,
  title: ({ server }) => `Move ${server.name}`,
  nav: 'servers',
  view: (data) => <MovePage {...data} />,
})

function MovePage({ server: s, options }: Data) {
  return (
    <>
      <Head
        title="Move to another node"
        trail={[
          ['Servers', '/admin/servers'],
          [s.name, `/admin/servers/${s.id}`],
        ]}
        sub={
          <p>
            {s.hostname} is on {options.from.name} now. It keeps its disks, addresses, firewall and private networks.
          </p>
        }
        actions={options.chosen && <MoveTo server={s} options={options} node={options.chosen} isChosen />}
      />
      {options.notMovable && (
        <Note level="warn">
          <strong>It cannot be moved now.</strong>
          <br />
          {options.notMovable}
        </Note>
      )}
      <Section id="forecast" title="What happens">
        <Facts
          of={[
            ['How', modeWords[options.mode]],
            ['To copy', options.bytes > 0 && `at most ${bytes(options.bytes)}: holes are not copied`],
            ['Takes', options.expectedSeconds > 0 && `at most ${duration(options.expectedSeconds)}`],
            ['Off for', options.expectedDowntimeMs > 0 && `at most ${duration(options.expectedDowntimeMs / 1000)}`],
            ['The owner notices', options.changes.join(' ') || 'Nothing.'],
            ['If it fails', `The server stays on ${options.from.name}.`],
          ]}
        />
      </Section>
      <Section id="nodes" title="Nodes">
        {options.nodes.length ? (
          <Table label="Nodes" rows={options.nodes} idOf={(one) => one.node.id} columns={columnsFor(s, options)} />
        ) : (
          <Empty>There is no other node.</Empty>
        )}
      </Section>
    </>
  )
}

const columnsFor = (server: Server, options: Options): Column<Node>[] => [
  {
    title: 'Node',
    kind: 'name',
    width: 30,
    cell: ({ node }) => <Link href={`/admin/nodes/${node.id}`}>{node.name}</Link>,
  },
  {
    title: 'Memory',
    kind: 'mid',
    width: 20,
    cell: ({ memoryPercent, memoryPercentAfter, possible }) =>
      memoryPercent === null ? '–' : possible ? `${memoryPercent} → ${memoryPercentAfter} %` : `${memoryPercent} %`,
  },
  {
    title: 'Fits',
    kind: 'addr',
    width: 30,
    cell: ({ reason, note }) => (reason !== null ? `Cannot: ${reason}` : note === null ? 'Yes' : `Yes, but it ${note}`),
  },
  {
    title: 'Actions',
    kind: 'a',
    width: 20,
    cell: ({ node, reason }) => <MoveTo server={server} options={options} node={node} reason={reason} />,
  },
]

type MoveToProps = {
  server: Server
  options: Options
  node: { id: string; name: string }
  reason?: string | null
  /** By placement: the main action of the page. */
  isChosen?: true
}
const MoveTo = ({ server: s, options, node, reason, isChosen }: MoveToProps) => (
  <Action
    op={moveServer}
    params={{ id: s.id }}
    body={{ nodeId: node.id }}
    label={isChosen ? `Move to ${node.name}` : 'Choose'}
    {...(!isChosen && { of: node.name, small: true })}
    tone={isChosen && 'pri'}
    part={isChosen ? 'chosen' : node.id}
    title={`Move ${s.hostname} to ${node.name}?`}
    submit={`Move to ${node.name}`}
    done={`${s.hostname} is on its way to ${node.name}`}
    leadsTo={`/admin/transfers?serverId=${s.id}`}
    disabledReason={
      (s.job ? 'A job is working on it. Wait until it has ended.' : undefined) ??
      options.notMovable ??
      (reason ? `It cannot: ${reason}.` : undefined)
    }
    confirm={{
      keep: `Leave it on ${options.from.name}`,
      consequences: options.changes.length ? options.changes : ['Its owner notices nothing.'],
    }}
    fields={
      options.bytes > 0 && (
        <Field
          scope={`mbps-${isChosen ? 'chosen' : node.id}`}
          name="maxMbps"
          label="At most, in Mbit/s"
          type="number"
          hint="Left empty: as fast as the link and the settings allow."
        />
      )
    }
  />
)

/** The entry among the settings of a server, which leads to that page. */
export const MoveServer = ({ server: s }: { server: Server }) => (
  <Setting op={moveServer} title="Node" words={s.node?.name ?? ''}>
    <Link class="btn" to="/admin/servers/{id}/move" params={{ id: s.id }}>
      Move to another node
    </Link>
  </Setting>
)
