// The maintenance of a node, on the node's page: what was done, what comes next, and what waits for its end.
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { duration } from '../transfers/words.tsx'
import { EndMaintenance } from './end.tsx'
import type { ShownMaintenance } from './outcome.tsx'
import { ServerLink, titleOf } from './words.tsx'

export type { ShownMaintenance }

type Maintained = ShownMaintenance & { drain: NonNullable<ShownMaintenance['drain']> }
type Props = { of: Maintained }

/** Is the node being emptied, or was it, and was it not opened since? */
export const isInMaintenance = (maintenance: ShownMaintenance | undefined): maintenance is Maintained =>
  maintenance?.drain?.kind === 'drain'
const isOver = ({ drain }: Maintained) => drain.finishedAt !== null
const step = ({ steps }: Maintained, wanted: Maintained['steps'][number]['name']) =>
  steps.find(({ name }) => name === wanted)!
const isEmpty = (of: Maintained) => isOver(of) && step(of, 'stopped').done && step(of, 'cleared').done

export const MaintenanceTag = () => (
  <State tone="hold" shape="hold" tag>
    In maintenance
  </State>
)

/** In place of the buttons that close and open a node. */
export const EndOfMaintenance = ({ of }: Props) =>
  isOver(of) ? <EndMaintenance node={of.node} moved={of.back?.servers ?? 0} stopped={of.stopped.length} /> : null

/** Servers that come back to a node that is open again. */
export const ComingBack = ({ of }: { of: ShownMaintenance | undefined }) =>
  of?.drain?.kind === 'return' ? <DrainBar drain={of.drain} /> : null

/** Below the tabs: the drain, and whether the machine may be switched off. */
export const MaintenanceBars = ({ of }: Props) => {
  const { drain, node, rolling } = of
  return (
    <>
      <DrainBar drain={drain} words={step(of, 'drained').words} />
      {rolling && (
        <div class="job-bar">
          <Icon name="jobs" />
          <span class="cut">
            <b>One of several nodes.</b> {rolling.next ? `${rolling.next.name} follows.` : 'It is the last one.'}
          </span>
          <Link to="/admin/rolling-maintenance/{id}" params={{ id: rolling.id }}>
            Show them
          </Link>
        </div>
      )}
      {isOver(of) && (
        <Note level={isEmpty(of) ? 'info' : 'warn'}>
          <strong>{isEmpty(of) ? `${node.name} is empty.` : `${node.name} is not empty.`}</strong>{' '}
          {isEmpty(of)
            ? 'Nothing runs here and nothing new is placed. Memory may be changed, the machine may be switched off.'
            : 'Stop what is left, or drain it again, before you switch it off.'}
        </Note>
      )}
    </>
  )
}

const DrainBar = ({ drain, words }: { drain: Maintained['drain']; words?: string | null }) => (
  <div class={`job-bar${drain.finishedAt === null && drain.state !== 'paused' ? ' on' : ''}`}>
    <Icon name={drain.finishedAt === null ? (drain.state === 'paused' ? 'wait' : 'work') : 'check'} />
    <span class="cut">
      {drain.finishedAt === null ? (
        <>
          <b>{titleOf(drain)}</b>: {drain.counts.moved} of {drain.counts.servers} moved
          {drain.state === 'paused' && ', paused'}
        </>
      ) : (
        <>
          <b>{drain.state === 'cancelled' ? 'Drain cancelled' : 'Drained'}</b> by {drain.startedBy.name}{' '}
          <Time iso={drain.finishedAt} /> · {words}
        </>
      )}
    </span>
    <Link to="/admin/drains/{id}" params={{ id: drain.id }}>
      See the drain
    </Link>
  </div>
)

/** There are servers that come back or start again when the maintenance ends. */
export const hasReturningServers = ({ back, stopped, drain }: Props['of']) =>
  drain.finishedAt !== null && (!!back || stopped.length > 0)
export const WereHere = ({ of: { back, stopped, node } }: Props) => (
  <Section id="were-here" title="Servers that were here">
    <ul class="rows wrap">
      {back && (
        <li>
          <Icon name="transfer" />
          <div class="grow">
            <b>{count(back.servers - back.cannot, 'server')} can come back</b>
            <small>
              {back.atOnce} at once, within {duration(back.expectedSeconds)}, {back.live} of them while they run.
              {back.cannot > 0 && ` ${count(back.cannot, 'server')} cannot now.`} They come back or stay away, as you
              choose when you end the maintenance.
            </small>
          </div>
        </li>
      )}
      {stopped.map(({ id, hostname }) => (
        <li>
          <Icon name={id.startsWith('gpu_') ? 'gpu' : 'server'} />
          <div class="grow">
            <b>
              <ServerLink of={{ id, hostname, kind: id.startsWith('gpu_') ? 'gpu_instance' : 'server' }} /> waits here,
              off
            </b>
            <small>Stopped with a notice to its owner. It starts when {node.name} is opened.</small>
          </div>
        </li>
      ))}
    </ul>
  </Section>
)

/** The steps by the book. The first one that is not done is the next one. */
export function MaintenanceSteps({ of: { steps } }: Props) {
  const next = steps.find(({ done }) => !done)
  return (
    <Section id="steps" title="Maintenance by the book">
      <ol class="steps">
        {steps.map((one) => (
          <li class={one.done ? 'done' : one === next ? 'now' : undefined}>
            <span>
              {one.title}
              {one.done ? <span class="sr">: done</span> : one === next && <span class="sr">: next</span>}
            </span>
            {(one.words || one.at || one.by) && (
              <small>
                {one.words}
                {one.words && (one.at || one.by) && ' · '}
                {one.at && <Time iso={one.at} />}
                {one.by && ` by ${one.by}`}
              </small>
            )}
          </li>
        ))}
      </ol>
    </Section>
  )
}
