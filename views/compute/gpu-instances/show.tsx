// An instance: how to connect first, then its cards, and beside them the time that is billed.

import { gpuInstanceUsage } from '../../../src/billing/usage/gpu/instance-usage.ts'
import { monthOf } from '../../../src/billing/usage/period.ts'
import { restartPolicyWords } from '../../../src/fleet/workloads/restart-policy.ts'
import { type Answers, ifAllowed, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { getInstanceMetrics } from '../../../src/platform/metrics/cards/show.ts'
import { HeldTime, heldWords } from '../../billing/usage/held.tsx'
import { nameOfMonth } from '../../billing/usage/month.tsx'
import { priceWords } from '../../catalog/goods.tsx'
import type { Area } from '../../components/area.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Command, Copyable, Facts, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Exact, Moment, Time } from '../../components/time.tsx'
import { count, exactGb, list } from '../../components/words.ts'
import { awaySince } from '../../fleet/nodes/stale.tsx'
import { CardPanels } from '../../platform/metrics/cards.tsx'
import { HELD } from './actions.tsx'
import { instancePage, tabOf } from './area.ts'
import { InstanceFrame, instanceReads } from './frame.tsx'
import { endWords, type Instance, sizeWords } from './words.ts'

const reads = {
  ...instanceReads,
  usage: reading(gpuInstanceUsage, ({ params }) => ({ params })),
  metrics: ifAllowed(getInstanceMetrics, ({ params }) => ({ params, query: { range: '1h' } })),
}
type Data = Answers<typeof reads>
type Usage = Data['usage']

export const instancePages = instancePage({
  path: '/{id}',
  reads,
  title: ({ instance }) => instance.name,
  view: (data, area) => (
    <InstanceFrame {...data} area={area}>
      <div class="split plain">
        <div>
          <Live id="connect-live" every={4}>
            <Connect instance={data.instance} area={area} />
          </Live>
          <Live id="cards-live" every={10}>
            {data.metrics && data.metrics.cards.length > 0 && (
              <Cards metrics={data.metrics} since={awaySince(data.instance)} />
            )}
          </Live>
        </div>
        <div>
          <Live id="time-live" every={10}>
            <MonthSoFar usage={data.usage} instance={data.instance} />
            <StopOrDelete />
            <About instance={data.instance} area={area} />
          </Live>
        </div>
      </div>
    </InstanceFrame>
  ),
})

/** The address that people copy; the link of Jupyter carries its token. */
function Connect({ instance, area }: { instance: Instance; area: Area }) {
  if (instance.status === 'suspended')
    return (
      <Section id="connect" title="Connect">
        <p class="muted">It is suspended, so nothing answers. Its cards, ports and files are kept.</p>
      </Section>
    )
  const isUp = instance.status === 'running'
  return (
    <Section id="connect" title="Connect">
      <div class="stack">
        {instance.sshCommand ? (
          <Command text={instance.sshCommand} what="SSH command" />
        ) : (
          <p class="muted">
            {instance.status === 'creating' ? 'Its address appears here soon.' : 'It has no address now.'}
          </p>
        )}
        {instance.jupyterUrl && <Jupyter url={instance.jupyterUrl} isUp={isUp} />}
        <WayIn instance={instance} isUp={isUp} />
        <Names instance={instance} isUp={isUp} />
        {!isUp && instance.sshCommand && <p class="muted">It answers while it is running.</p>}
        {instance.sshKeys.length === 0 && instance.status !== 'deleted' && (
          <p>
            No SSH key may log in. <Link href={tabOf(area, instance.id, '/settings')}>Choose keys</Link>
          </p>
        )}
        <Ports instance={instance} />
        <p class="hint">
          A rebuild keeps <code>/workspace</code> ({exactGb(instance.workspaceGb)}) and erases everything else.
        </p>
      </div>
    </Section>
  )
}

/** Without the token, which is long and secret: it is in what is opened and copied. */
function Jupyter({ url, isUp }: { url: string; isUp: boolean }) {
  const [address = url] = url.split('?')
  return (
    <div class="command cmd-row">
      <code>
        {address}
        <br />
        Jupyter, opens with its token
      </code>
      <button type="button" class="btn s" data-copy={url} aria-label="Copy Jupyter link">
        <Icon name="copy" />
        Copy
      </button>
      {isUp && (
        <a class="btn s" href={url} target="_blank" rel="noreferrer noopener">
          <Icon name="link" />
          Open
        </a>
      )}
    </div>
  )
}

/** The port that its image names, where neither Jupyter nor a name leads to it. */
function WayIn({ instance: { openUrl, jupyterUrl, httpPorts }, isUp }: { instance: Instance; isUp: boolean }) {
  if (openUrl === null || openUrl === jupyterUrl || httpPorts.some(({ url }) => url === openUrl)) return null
  return (
    <div class="command cmd-row">
      <code>
        {openUrl}
        <br />
        The page of its image
      </code>
      <button type="button" class="btn s" data-copy={openUrl} aria-label="Copy link of its page">
        <Icon name="copy" />
        Copy
      </button>
      {isUp && (
        <a class="btn s" href={openUrl} target="_blank" rel="noreferrer noopener" aria-label="Open its page">
          <Icon name="link" />
          Open
        </a>
      )}
    </div>
  )
}

/** Ports with an HTTP name of their own; that of Jupyter is above. */
function Names({ instance, isUp }: { instance: Instance; isUp: boolean }) {
  const names = instance.httpPorts.filter(({ url }) => !instance.jupyterUrl?.startsWith(url))
  return names.map(({ port, url }) => (
    <div class="command cmd-row">
      <code>
        {url}
        <br />
        Port {port}
      </code>
      <button type="button" class="btn s" data-copy={url} aria-label={`Copy link of port ${port}`}>
        <Icon name="copy" />
        Copy
      </button>
      {isUp && (
        <a class="btn s" href={url} target="_blank" rel="noreferrer noopener" aria-label={`Open port ${port}`}>
          <Icon name="link" />
          Open
        </a>
      )}
    </div>
  ))
}

/** Mapped ports of its programs; those of SSH, Jupyter and those with a name are above. */
function Ports({ instance }: { instance: Instance }) {
  const shown = [22, ...(instance.jupyterUrl ? [8888] : []), ...instance.httpPorts.map(({ port }) => port)]
  const others = instance.ports.filter(({ container }) => !shown.includes(container))
  if (instance.ownAddress && instance.address)
    return (
      <p>
        Every port of <Copyable text={instance.address} what="address" /> leads to it.
      </p>
    )
  if (!others.length || !instance.address) return null
  return (
    <Facts
      of={others.map(({ container, host }) => [
        `Port ${container}`,
        <Copyable text={`${instance.address}:${host}`} what={`address of port ${container}`} />,
      ])}
    />
  )
}

type CardsProps = { metrics: NonNullable<Data['metrics']>; since: string | undefined }
const Cards = ({ metrics, since }: CardsProps) => {
  const measured = metrics.cards.flatMap(({ measuredAt }) => measuredAt ?? [])
  return (
    <Section
      id="cards"
      title="Cards"
      count={
        measured[0] && (
          <>
            measured <Time iso={measured[0]} />
          </>
        )
      }
    >
      <CardPanels cards={metrics.cards} since={since} />
    </Section>
  )
}

const spellLooks = {
  running: ['ok', 'run', 'Running'],
  stopped: ['idle', 'stop', 'Stopped, held'],
  suspended: ['hold', 'hold', 'Suspended, held'],
} as const
/** So many spells are shown; all of them are in the usage. */
const MOST_SPELLS = 8
/** Shorter ones count, but are noise in the list: the moment between the order and the start. */
const SHORTEST_S = 1
const lengthOf = ({ from, to }: { from: string; to: string }) => (Date.parse(to) - Date.parse(from)) / 1000

function MonthSoFar({ usage, instance }: { usage: Usage; instance: Instance }) {
  const { now } = useAt()
  const spells = usage.intervals.filter((spell) => lengthOf(spell) >= SHORTEST_S).toReversed()
  return (
    <Section id="month" title={`${nameOfMonth(monthOf(now))} so far`}>
      <div class="stack">
        <div class="bar">
          <h3>
            <HeldTime seconds={usage.allocatedSeconds} />
          </h3>
          <span class="muted">held, {count(instance.cards.length, 'card')}</span>
        </div>
        {spells.length === 0 ? (
          <p class="muted">Nothing has been counted this month.</p>
        ) : (
          <ul class="rows">
            {spells.slice(0, MOST_SPELLS).map(({ state, from, to }) => {
              const [tone, shape, words] = spellLooks[state]
              return (
                <li>
                  <State tone={tone} shape={shape}>
                    {words}
                  </State>
                  <div class="grow">
                    <small>
                      <Exact iso={from} />
                    </small>
                  </div>
                  <span class="end">{heldWords(lengthOf({ from, to }))}</span>
                </li>
              )
            })}
          </ul>
        )}
        {spells.length > MOST_SPELLS && (
          <p class="muted">
            {count(spells.length - MOST_SPELLS, 'earlier spell')} this month: running for{' '}
            {heldWords(usage.runningSeconds)} in all, stopped for {heldWords(usage.stoppedSeconds)}.
          </p>
        )}
        <p class="hint">Billed from creation until it is deleted, also while stopped. Months are in UTC.</p>
      </div>
    </Section>
  )
}

const StopOrDelete = () => (
  <Section id="stop-or-delete" title="Stop or delete?">
    <Facts
      of={[
        [
          'Stop',
          <>Ends your programs and keeps your files. {HELD.replace('Its', 'The')} Start it again at any time.</>,
        ],
        ['Delete', 'Gives the cards back and ends the billing. Everything under /workspace is deleted with it.'],
      ]}
    />
  </Section>
)

const About = ({ instance, area }: { instance: Instance; area: Area }) => (
  <Section id="about" title="Instance">
    <Facts
      of={[
        ['Offer', instance.offer.name],
        ['Price', instance.price && priceWords(instance.price)],
        ['Processor', sizeWords(instance)],
        [
          'Image',
          <>
            {instance.image.name}
            {instance.image.docsUrl && (
              <>
                {' · '}
                <a href={instance.image.docsUrl} target="_blank" rel="noreferrer noopener">
                  Instructions
                </a>
              </>
            )}
          </>,
        ],
        ['Location', instance.location.name],
        ['Keys', instance.sshKeys.length > 0 ? list(instance.sshKeys.map(({ name }) => name)) : 'None'],
        ['Environment', instance.environment?.length ? list(instance.environment.map(nameOfVariable)) : null],
        ['Command', instance.command && <code>{instance.command.join(' ')}</code>],
        ['Restart policy', restartPolicyWords[instance.restartPolicy]],
        ['Ended last', instance.lastEnd && <EndedLast end={instance.lastEnd} />],
        ['Host', instance.node && <Link href={`/admin/nodes/${instance.node.id}`}>{instance.node.name}</Link>],
        ['Placement', instance.placement],
        ['Cards', area === '/admin' && instance.cards.some(({ uuid }) => uuid) && <CardIds instance={instance} />],
        ['Created', <Moment iso={instance.createdAt} />],
        ['Billing service id', instance.billingServiceId],
        ['Id', <Copyable text={instance.id} what="id" />],
      ]}
    />
  </Section>
)

/** Of `NAME=value`: values may be secrets, and the settings have them. */
const nameOfVariable = (variable: string) => variable.split('=')[0] ?? ''

const EndedLast = ({ end }: { end: NonNullable<Instance['lastEnd']> }) => (
  <>
    <Time iso={end.at} />. {endWords(end)}
  </>
)

const CardIds = ({ instance }: { instance: Instance }) => (
  <>
    {instance.cards.map(({ uuid }) => (
      <div class="mono">{uuid}</div>
    ))}
  </>
)
