// A GPU host: what it can take, and its cards.
import { checkCard } from '../../../src/fleet/gpus/check.ts'
import { changeGpuCard, changeGpuHost, forgetGpuCard, type listGpus } from '../../../src/fleet/gpus/hosts.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, Edit, Menu } from '../../components/action.tsx'
import { Check, Field } from '../../components/field.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Facts, Note, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { For, Time } from '../../components/time.tsx'
import { mb } from '../../components/words.ts'
import { awaySince, Stale } from '../nodes/stale.tsx'

export type Host = Answers<{ g: typeof listGpus }>['g']['data'][number]
type Card = Host['cards'][number]

type HostProps = { of: Host; title: string; href?: string }
export const GpuHost = ({ of: h, title, href }: HostProps) => (
  <Section
    id={`host-${h.nodeId}`}
    title={href ? <Link href={href}>{title}</Link> : title}
    count={<HostState of={h} />}
    actions={<ChangeHost of={h} />}
  >
    <div class="in words">
      {h.engine === null && <Note level="bad">The node reports no container engine, so it runs no instances.</Note>}
      {h.engine?.problems.map((problem) => (
        <Note level="bad">{problem}</Note>
      ))}
      {h.httpProblem !== null && <Note level="bad">HTTP names are not served: {h.httpProblem}</Note>}
      {h.cards.flatMap((c) =>
        c.problems.map((problem) => (
          <Note level="warn">
            <b class="mono">{c.bus}</b> {problem} {c.heldBy && 'An instance holds this card.'}
          </Note>
        )),
      )}
      <Facts
        pairs
        of={[
          ['Location', h.location.name],
          ['Free cards', `${h.cards.filter(({ state }) => state === 'free').length} of ${h.cards.length}`],
          ['vCPUs', `${h.heldVcpus} of ${h.vcpus} taken`],
          ['Container engine', h.engine && `${h.engine.name} ${h.engine.version}`],
          ['Reached at', h.address ?? 'No address: set one, or ports cannot be reached'],
          ['Mapped ports', `${h.firstPort} to ${h.lastPort}, ${h.heldPorts.toLocaleString('en')} taken`],
          ['HTTP names', h.httpDomain && `*.${h.httpDomain}${h.httpState === 'waiting' ? ', being set up' : ''}`],
        ]}
      />
    </div>
    <Stale since={awaySince(h)}>
      <Table label={`Cards of ${h.name}`} rows={h.cards} columns={columns} idOf={(card) => card.id} />
    </Stale>
  </Section>
)

const HostState = ({ of: h }: { of: Host }) => {
  const [tone, shape, words] = h.connected
    ? h.engine === null || h.engine.problems.length
      ? (['bad', 'fail', 'Cannot run instances'] as const)
      : h.open
        ? (['ok', 'dot', 'Takes new instances'] as const)
        : (['hold', 'hold', 'Closed for new instances'] as const)
    : (['bad', 'away', 'Not connected'] as const)
  return (
    <State tone={tone} shape={shape} tag>
      {words}
    </State>
  )
}

const states: Record<Card['state'], readonly [tone: Tone, shape: IconName, words: string]> = {
  free: ['ok', 'dot', 'Free'],
  held: ['work', 'run', 'In use'],
  checking: ['work', 'work', 'Being checked'],
  closed: ['hold', 'hold', 'Closed'],
  broken: ['bad', 'fail', 'Broken'],
  missing: ['bad', 'away', 'Missing'],
}

const columns: readonly Column<Card>[] = [
  {
    title: 'Card',
    kind: 'name',
    width: 26,
    cell: (c) => (
      <>
        <b title={c.model}>{c.model}</b>
        <small class="mono" title={c.uuid}>
          {c.bus}
        </small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 26, cell: (c) => <CardState of={c} /> },
  {
    title: 'Instance',
    kind: 'addr',
    width: 22,
    cell: (c) =>
      c.heldBy && (
        <Link href={`/admin/gpu-instances/${c.heldBy.id}`} title={c.heldBy.name ?? c.heldBy.id}>
          {c.heldBy.name ?? c.heldBy.id}
        </Link>
      ),
  },
  { title: 'Memory', kind: 'a', num: true, width: 10, cell: (c) => mb(c.memoryMb) },
  {
    title: 'Last check',
    kind: 'mid',
    width: 16,
    cell: (c) =>
      c.checkedAt && (
        <>
          <Time iso={c.checkedAt} />
          {c.clearedMb !== null && <small>{mb(c.clearedMb)} cleared</small>}
        </>
      ),
  },
  { title: 'Driver', kind: 'lo', width: 10, cell: (c) => c.driver },
  { title: 'Actions', kind: 'more', cell: (c) => <CardMenu of={c} /> },
]

const CardState = ({ of: c }: { of: Card }) => {
  const [tone, shape, words] = states[c.state]
  return (
    <>
      <State tone={tone} shape={shape}>
        {words}
      </State>
      {c.state === 'missing' && c.since && (
        <small>
          <For iso={c.since} />
        </small>
      )}
      {c.problems[0] && <small title={c.problems.join(' ')}>{c.problems[0]}</small>}
    </>
  )
}

/** Nothing for readers who may only look. */
const CardMenu = ({ of: c }: { of: Card }) =>
  useAt().may(changeGpuCard) ? (
    <Menu label={`Actions for ${c.model} at ${c.bus}`} small>
      <Action
        op={changeGpuCard}
        params={{ id: c.id }}
        label={c.open ? 'Close' : 'Open'}
        of={c.bus}
        inMenu
        body={{ open: !c.open }}
        done={c.open ? 'The card is not sold any more' : 'The card is sold again once it has passed a check'}
      />
      {!c.heldBy && c.open && c.state !== 'missing' && (
        <Action
          op={checkCard}
          params={{ id: c.id }}
          label="Check now"
          of={c.bus}
          inMenu
          title={`Check the card at ${c.bus}?`}
          done="The check has begun"
          confirm={{
            keep: 'Not now',
            consequences: ['Its memory is cleared and tested.', 'It is not sold until it has passed.'],
          }}
        />
      )}
      {c.state === 'missing' && !c.heldBy && (
        <Action
          op={forgetGpuCard}
          params={{ id: c.id }}
          label="Forget"
          of={c.bus}
          inMenu
          tone="bad"
          title={`Forget the card at ${c.bus}?`}
          done="The card is forgotten"
          confirm={{
            keep: 'Keep it listed',
            consequences: ['It is not shown any more.', 'If its node reports it again, it is a new card.'],
          }}
        />
      )}
    </Menu>
  ) : null

const ChangeHost = ({ of: h }: { of: Host }) => (
  <Edit
    op={changeGpuHost}
    params={{ id: h.nodeId }}
    of={h.name}
    title={`Change the GPU host ${h.name}`}
    fields={
      <>
        <Check
          scope={h.nodeId}
          name="open"
          label="Takes new instances"
          checked={h.open}
          hint="Instances that it has stay. Whether the node takes servers is set on its page."
        />
        <Field
          scope={h.nodeId}
          name="publicAddress"
          label="Address of mapped ports"
          nullable
          mono
          value={h.publicAddress}
          placeholder={h.publicAddress === null ? (h.address ?? '') : ''}
          hint="IPv4, where people reach the ports of instances. Empty: the address that the node names."
        />
        <div class="pair">
          <Field scope={h.nodeId} name="firstPort" label="First port" as="number" required value={h.firstPort} />
          <Field
            scope={h.nodeId}
            name="lastPort"
            label="Last port"
            as="number"
            required
            value={h.lastPort}
            hint="Instances keep the ports that they have."
          />
        </div>
        <Field
          scope={h.nodeId}
          name="httpDomain"
          label="Domain of HTTP names"
          nullable
          mono
          value={h.httpDomain}
          placeholder={h.httpDomain === null ? 'gpu1.example.com' : ''}
          hint="Every name under it leads to this host, and it is used for nothing else. Empty: ports have no names."
        />
      </>
    }
  />
)
