// The dialog in which staff move a server: every node with what keeps it from taking the server, how it would move
// there, and for how long it would be off. Choices are in the address; each draws the dialog again.
import type { ComponentChildren } from 'preact'
import type { AssetName } from '../../../public/assets.ts'
import { getServer } from '../../../src/compute/servers/list.ts'
import { moveModes } from '../../../src/compute/transfers/forecast.ts'
import { moveServer } from '../../../src/compute/transfers/move.ts'
import { moveOptions } from '../../../src/compute/transfers/options.ts'
import { listMemberships } from '../../../src/identity/team/memberships.ts'
import { type Answers, allIfAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { CallForm, TypeToConfirm } from '../../components/action.tsx'
import { Field, MomentField, Select } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { ServerFrame } from '../servers/frame.tsx'
import type { Server } from '../servers/words.ts'
import { Setting } from '../workloads/settings-entry.tsx'
import { MoveLink } from './move-link.tsx'
import { duration, modeLooks } from './words.tsx'

/** The choices in the address that the operation takes; anything else is left to the form. */
const asked = (query: Readonly<Record<string, string>>) => {
  const { mode, maxMbps } = query
  return {
    ...(moveModes.some((one) => one === mode) && { mode: mode! }),
    ...(/^[1-9]\d{0,5}$/.test(maxMbps ?? '') && { maxMbps: maxMbps! }),
  }
}
const reads = {
  // Without the choices in the address, which are not its own.
  server: reading(getServer, ({ params }) => ({ params })),
  jobs: reading(listJobs, ({ params }) => ({ query: { serverId: params['id'] ?? '', limit: '10' } })),
  memberships: allIfAllowed(listMemberships),
  options: reading(moveOptions, ({ params, query }) => ({ params, query: asked(query) })),
}
type Options = Answers<typeof reads>['options']
type Node = Options['nodes'][number]

export const moveServerPage = page({
  path: '/admin/servers/{id}/move',
  reads,
  title: ({ server }) => `Move ${server.name}`,
  nav: 'servers',
  files: ['moves.css'] satisfies AssetName[],
  view: ({ options, ...data }) => (
    <ServerFrame {...data} area="/admin">
      <Section id="node" title="Node" first>
        <p class="muted">{`It is on ${options.from.name}.`}</p>
      </Section>
      <MoveDialog server={data.server} options={options} />
    </ServerFrame>
  ),
})

type Choosing = { server: Server; options: Options }
function MoveDialog({ server: s, options }: Choosing) {
  const back = `/admin/servers/${s.id}`
  const { query } = useAt()
  const chosen = options.nodes.find(({ node, possible }) => possible && node.id === query['nodeId'])
  const to = chosen?.node ?? options.chosen
  const readdress = chosen?.newAddresses === true
  return (
    <dialog class="l" id="move" open data-back={back} aria-labelledby="move-t">
      <CallForm
        op={moveServer}
        params={{ id: s.id }}
        redraws
        {...(readdress && { body: { readdress } })}
        done={`Move of ${s.hostname} accepted`}
        leadsTo="/admin/transfers/{transferId}"
      >
        <div class="dh">
          <div>
            <h2 id="move-t">Move {s.hostname}</h2>
            <p class="muted">{introduction(options, chosen ?? options)}</p>
          </div>
          <Link class="btn bare ico s" href={back} aria-label="Close">
            <Icon name="close" />
          </Link>
        </div>
        {options.notMovable && (
          <Tip warn title="It cannot be moved now.">
            {options.notMovable}
          </Tip>
        )}
        <div class="frame">
          <Table
            label="Nodes"
            rows={rowsOf(options)}
            idOf={({ id }) => `n-${id}`}
            columns={columnsFor(chosen?.node.id)}
          />
        </div>
        <How />
        {options.waiting && (
          <Tip title="A move of it waits">
            until <Exact iso={options.waiting.startsAt} />. This one takes its place.
          </Tip>
        )}
        <Tip title="What its owner notices:">{noticed(options, readdress)}</Tip>
        {readdress && (
          <>
            <Tip warn title={chosen.getsBack ? 'It gets its former addresses back.' : 'It gets new addresses.'}>
              They are kept for it from now on. The old ones stay in force until it switches over, and are held for it
              afterwards, so that it can go back. Its system gets the others at its start there. Its owner is told both
              by mail, now and at the end.
            </Tip>
            <TypeToConfirm id="move-n" text={s.hostname} />
          </>
        )}
        <div class="df">
          <span class="hint">If it fails, the server stays on {options.from.name}.</span>
          <Link class="btn" href={back}>
            Cancel
          </Link>
          <Submit server={s} options={options} to={to} isGated={readdress} />
        </div>
      </CallForm>
    </dialog>
  )
}

function introduction(
  { from }: Options,
  { bytes: total, sharedStorage }: Pick<Node, 'bytes' | 'sharedStorage'>,
): string {
  const copied = total ? ` At most ${bytes(total)} are copied: holes of its disks are not.` : ''
  return `It is on ${from.name}.${sharedStorage === null ? '' : ` ${sharedStorage}`}${copied}`
}
const noticed = ({ changes }: Options, readdress: boolean) =>
  readdress
    ? `${changes.join(' ')} Other addresses; names in reverse DNS do not come along. Firewall and traffic count stay.`
    : `${changes.join(' ') || 'Nothing.'} Addresses, firewall, private networks and traffic count stay.`

const Tip = ({ title, warn, children }: { title: string; warn?: boolean; children: ComponentChildren }) => (
  <div class={warn ? 'tip warn' : 'tip'}>
    <Icon name={warn ? 'warning' : 'info'} />
    <span>
      <b>{title}</b> {children}
    </span>
  </div>
)

type SubmitProps = Choosing & { to: { name: string } | null; isGated: boolean }
function Submit({ server: s, options, to, isGated }: SubmitProps) {
  const reason = s.job
    ? 'A job is working on it. Wait until it has ended.'
    : (options.notMovable ?? (to ? undefined : 'No node can take it.'))
  const face = (
    <>
      <Icon name="transfer" />
      {to ? `Move to ${to.name}` : 'Move'}
    </>
  )
  return reason ? (
    <button type="button" class="btn pri" aria-disabled="true" title={reason} data-why={reason}>
      {face}
    </button>
  ) : (
    <button class="btn pri" disabled={isGated} data-gated={isGated ? '' : undefined}>
      {face}
    </button>
  )
}

const How = () => {
  const { query } = useAt()
  const { mode, maxMbps } = asked(query)
  return (
    <div class="fields">
      <Select
        scope="move"
        name="mode"
        label="How"
        value={mode ?? 'auto'}
        options={[
          { value: 'auto', label: 'Shortest stop' },
          { value: 'cold', label: 'Shut down first' },
        ]}
      />
      <Field scope="move" name="maxMbps" label="At most" as="number" nullable unit="Mbit/s" value={maxMbps} asks />
      <MomentField scope="move" name="startsAt" label="When" nullable hint="Empty: now." />
    </div>
  )
}

/** The first row leaves the node to placement. `reason`: why it cannot be chosen. */
type Row = { newAddresses: boolean; getsBack: boolean } & Pick<
  Node,
  'mode' | 'expectedSeconds' | 'expectedDowntimeMs' | 'reason' | 'note' | 'bytes'
> & {
    id: string
    value: string
    name: string
    about: string
  }
function rowsOf({ chosen, nodes, location: own }: Options): Row[] {
  const best = nodes.find(({ node }) => node.id === chosen?.id)
  return [
    {
      id: 'best',
      value: '',
      name: 'Best node',
      about: chosen ? `placement chooses: ${chosen.name}` : 'placement chooses',
      ...{
        mode: best?.mode ?? null,
        reason: best ? null : 'no node can take it',
        note: best?.note ?? null,
        bytes: best?.bytes ?? null,
        newAddresses: false,
        getsBack: false,
      },
      ...{ expectedSeconds: best?.expectedSeconds ?? null, expectedDowntimeMs: best?.expectedDowntimeMs ?? null },
    },
    ...nodes.map(({ node, memoryPercent, memoryPercentAfter, location, ...rest }) => ({
      id: node.id,
      value: node.id,
      name: node.name,
      about:
        location.id !== own.id
          ? location.name
          : memoryPercent === null
            ? ''
            : rest.possible
              ? `memory ${memoryPercent} → ${memoryPercentAfter} %`
              : `memory ${memoryPercent} %`,
      ...rest,
    })),
  ]
}

const columnsFor = (chosen: string | undefined): Column<Row>[] => [
  {
    title: 'Choose',
    kind: 'tick',
    head: <span class="sr">Choose</span>,
    cell: ({ id, value, mode }) => (
      <span class="tickbox">
        <input
          type="radio"
          name="nodeId"
          id={`to-${id}`}
          value={value}
          data-as="null"
          checked={value === (chosen ?? '') && mode !== null}
          disabled={mode === null}
        />
      </span>
    ),
  },
  {
    title: 'Node',
    kind: 'name',
    width: 26,
    cell: ({ id, name, about }) => (
      <>
        <label for={`to-${id}`}>{name}</label>
        <small>{about}</small>
      </>
    ),
  },
  { title: 'How', kind: 'state', width: 18, cell: ({ mode }) => <Way mode={mode} /> },
  {
    title: 'Takes',
    kind: 'a',
    num: true,
    width: 12,
    cell: ({ expectedSeconds: seconds }) => (seconds === null ? '–' : seconds === 0 ? 'at once' : duration(seconds)),
  },
  {
    title: 'Downtime',
    kind: 'b',
    num: true,
    width: 12,
    cell: ({ expectedDowntimeMs: ms }) => (ms === null ? '–' : ms === 0 ? 'none' : duration(ms / 1000)),
  },
  {
    title: 'Note',
    kind: 'wide',
    width: 30,
    cell: ({ reason, note, newAddresses, getsBack, bytes: copied, mode }) => {
      const addresses = getsBack ? 'its former addresses' : newAddresses ? 'new addresses' : undefined
      const storage = copied === 0 && mode !== 'reassigned' ? 'nothing is copied' : ''
      return firstUpper(reason ?? note ?? addresses ?? storage)
    },
  },
]
const firstUpper = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1)

const Way = ({ mode }: Pick<Row, 'mode'>) => {
  const { words, tone, shape } = mode === null ? modeLooks.none : modeLooks[mode]
  return (
    <State tone={tone} shape={shape}>
      {words}
    </State>
  )
}

/** The entry among the settings of a server, which leads to that dialog. */
export const MoveServer = ({ server: s }: { server: Server }) => (
  <Setting op={moveServer} title="Node" words={s.node?.name ?? ''}>
    <MoveLink server={s} />
  </Setting>
)
