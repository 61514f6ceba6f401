import type { AssetName } from '../../../public/assets.ts'
import { cancelTransfer } from '../../../src/compute/transfers/cancel.ts'
import { changeLimit } from '../../../src/compute/transfers/change-limit.ts'
import { MOST_MBPS } from '../../../src/compute/transfers/forecast.ts'
import { getProgress, getTransfer } from '../../../src/compute/transfers/list.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Amount, Stats } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Facts, Note, Section } from '../../components/section.tsx'
import { Exact, howLong, Moment, span, Time } from '../../components/time.tsx'
import { bytes, list } from '../../components/words.ts'
import { Rate } from './rate.tsx'
import { downtime, duration, Flow, modeWords, TransferState } from './words.tsx'

const reads = { transfer: getTransfer, progress: getProgress }
type Answered = Answers<typeof reads>
type Transfer = Answered['transfer']
type Progress = Answered['progress']
type Of = { of: Transfer }
type Followed = Of & { progress: Progress }

export const transferPage = page({
  path: '/admin/transfers/{id}',
  reads,
  title: ({ transfer }) => `Move of ${transfer.server.hostname}`,
  nav: 'transfers',
  files: ['moves.css'] satisfies AssetName[],
  view: ({ transfer, progress }) => <TransferPage of={transfer} progress={progress} />,
})

const hasEnded = ({ finishedAt }: Transfer) => finishedAt !== null
/** It waits for its time, which is known. */
const isWaiting = (of: Transfer) => of.startsAt !== null && of.jobId === null && !hasEnded(of)

function TransferPage({ of, progress }: Followed) {
  const ended = hasEnded(of)
  return (
    <Live id="transfer" every={ended ? undefined : isWaiting(of) ? 10 : 1}>
      <Head
        title={of.server.hostname}
        trail={[['Transfers', '/admin/transfers']]}
        state={<TransferState of={of} tag />}
        sub={<About of={of} />}
        actions={<Actions of={of} />}
      />
      <p class="sr" role="status">
        {ended && `The move of ${of.server.hostname} has ended: ${of.state}.`}
      </p>
      {!ended && <Running of={of} progress={progress} />}
      {of.error && <Why of={of} />}
      <section class="sec first" aria-labelledby="ends-t">
        <h2 class="sr" id="ends-t">
          Progress
        </h2>
        <Ends of={of} />
      </section>
      <Stats>{ended ? <AfterIt of={of} /> : <MeanwhileFigures of={of} />}</Stats>
      <div class="split">
        <div>
          {progress.rates.length > 1 && <Rate rates={progress.rates} maxMbps={of.maxMbps} />}
          <More of={of} />
        </div>
        <div>
          {progress.steps.length > 0 && <Steps of={progress} />}
          <IfItFails of={of} />
        </div>
      </div>
    </Live>
  )
}

const About = ({ of: { from, to, startedBy, byOwner, createdAt, id } }: Of) => (
  <>
    <Flow from={from.name} to={to.name} />
    <span>
      {byOwner ? 'asked for by' : 'started by'} {startedBy.name}
      {byOwner && ', for its owner'}
    </span>
    <span>
      <Time iso={createdAt} />
    </span>
    <Copyable text={id} what="id of the transfer" />
  </>
)

const Actions = ({ of: transfer }: Of) => (
  <>
    <Link class="btn" href={`/admin/servers/${transfer.server.id}`}>
      <Icon name="server" />
      Open server
    </Link>
    {!hasEnded(transfer) && (
      <Action
        op={changeLimit}
        params={{ id: transfer.id }}
        label="Change limit"
        submit="Change"
        done="The limit is changed."
        fields={
          <Field
            scope="limit"
            name="maxMbps"
            label="At most"
            as="number"
            nullable
            unit="Mbit/s"
            min={1}
            max={MOST_MBPS}
            value={transfer.maxMbps}
            hint="The copy at work keeps it within seconds. Empty: no limit but that of the settings."
          />
        }
      />
    )}
    {transfer.addressesHeldUntil && (
      <Link
        class="btn"
        to="/admin/servers/{id}/move"
        params={{ id: transfer.server.id }}
        query={{ nodeId: transfer.from.id }}
      >
        <Icon name="transfer" />
        Move back
      </Link>
    )}
    {transfer.cancellable && (
      <Action
        op={cancelTransfer}
        params={{ id: transfer.id }}
        label="Cancel move"
        icon="stop"
        done={isWaiting(transfer) ? 'The move is cancelled.' : 'The move is being cancelled.'}
        confirm={{ consequences: consequencesOf(transfer), keep: 'Go on moving' }}
      />
    )}
  </>
)
const consequencesOf = ({ from, to, ...transfer }: Transfer) =>
  transfer.jobId === null
    ? [`The server stays on ${from.name}. Nothing has been copied.`]
    : [
        transfer.downtimeMs === null
          ? `The server runs on at ${from.name}.`
          : `The server is started again on ${from.name}.`,
        `What was copied to ${to.name} is deleted.`,
      ]

/** Always one line high. */
const Running = ({ of, progress }: Followed) => (
  <div class="job-bar on">
    <Icon name={isWaiting(of) ? 'wait' : 'refresh'} />
    <span class="cut">{isWaiting(of) ? <Until of={of} /> : <Step of={of} progress={progress} />}</span>
    <progress max={100} value={of.progress} aria-label="Progress">{`${of.progress} %`}</progress>
  </div>
)
const Until = ({ of: { startsAt } }: Of) => (
  <>
    <b>Waiting for its time</b>: <Exact iso={startsAt!} />. Until then nothing is held for it.
  </>
)
function Step({ of: { step, secondsLeft }, progress: { steps } }: Followed) {
  const n = steps.findIndex(({ state }) => state === 'running')
  return (
    <>
      <b>{n < 0 ? (step ?? 'Waiting for its turn') : `Step ${n + 1} of ${steps.length} · ${steps[n]!.title}`}</b>
      {secondsLeft !== null && ` · ${duration(secondsLeft)} left`}
      {' · you can leave this page'}
    </>
  )
}

function Why({ of }: Of) {
  const words = !hasEnded(of)
    ? 'It has not begun yet, and is tried again for an hour.'
    : of.downtimeMs === null
      ? `It stayed on ${of.from.name}, and ran all the time.`
      : `It stayed on ${of.from.name}.`
  return (
    <Note level={!hasEnded(of) ? 'warn' : of.state === 'cancelled' ? 'info' : 'bad'}>
      <strong>{words}</strong>
      <br />
      {of.error}
    </Note>
  )
}

function Ends({ of }: Of) {
  const [there, here] = placesOf(of)
  const share = of.bytesTotal ? Math.min(100, Math.round((100 * of.bytesCopied) / of.bytesTotal)) : 0
  const copied = of.mode === 'reassigned' ? 'nothing to copy' : copiedOf(of)
  return (
    <div class="ends">
      <End title="From" node={of.from} words={there} />
      <div class="pipe">
        <span>{of.bytesPerSecond === null ? ' ' : rateOf(of.bytesPerSecond)}</span>
        <progress max={100} value={of.state === 'finished' ? 100 : share} aria-label="Copied">{`${share} %`}</progress>
        <span class="muted">{copied}</span>
      </div>
      <End title="To" node={of.to} words={here} />
    </div>
  )
}
const copiedOf = ({ bytesCopied, bytesTotal, ...of }: Transfer) =>
  of.finishedAt === null ? `${bytes(bytesCopied)} of at most ${bytes(bytesTotal)}` : `${bytes(bytesCopied)} copied`
const rateOf = (perSecond: number) => `${bytes(perSecond)}/s`

const End = ({ title, node, words }: { title: string; node: Transfer['from']; words: string }) => (
  <div>
    <small>{title}</small>
    <b>
      <Link href={`/admin/nodes/${node.id}`}>{node.name}</Link>
    </b>
    <small>{words}</small>
  </div>
)
/** Where the server is now: said of the node that it leaves, and of the one to which it goes. */
function placesOf(of: Transfer): readonly [string, string] {
  if (of.state === 'finished') return ['left', 'it is here']
  if (hasEnded(of)) return ['it is here', 'cleared']
  if (isWaiting(of) || of.beganAt === null) return ['it is here', 'waiting']
  if (of.state === 'switching')
    return of.cancellable ? ['off, stays here if it fails', 'prepared'] : ['left', 'it starts here']
  return ['it is here', 'being prepared']
}

function MeanwhileFigures({ of }: Of) {
  const { now } = useAt()
  const { bytesCopied, bytesTotal, secondsLeft, downtimeMs, expectedDowntimeMs, expectedSeconds, beganAt } = of
  const percent = bytesTotal ? Math.min(100, Math.round((100 * bytesCopied) / bytesTotal)) : 0
  return (
    <>
      <Amount title="Copied" value={`${percent} %`} words={copiedOf(of)} />
      <Amount
        title="Downtime so far"
        value={downtimeMs === null ? '0 s' : downtime(downtimeMs)}
        words={announced(expectedDowntimeMs / 1000) ?? 'none announced'}
      />
      <Amount
        title="Time left"
        value={secondsLeft === null ? '–' : duration(secondsLeft)}
        words={secondsLeft === null ? 'no copy is at work' : 'of this copy, at this rate'}
      />
      <Amount
        title="Running for"
        value={beganAt ? howLong(beganAt, null, now) : '–'}
        words={announced(expectedSeconds) ?? 'at once'}
      />
    </>
  )
}

const announced = (seconds: number) =>
  seconds > 0 ? `announced: ${seconds < 1 ? '' : 'at most '}${duration(seconds)}` : undefined

/** The same figures as before it, beside what was announced. */
function AfterIt({ of }: Of) {
  const { now } = useAt()
  const { bytesCopied, downtimeMs, expectedDowntimeMs, expectedSeconds, beganAt, finishedAt } = of
  const ms = beganAt && finishedAt ? Date.parse(finishedAt) - Date.parse(beganAt) : 0
  return (
    <>
      <Amount
        title="Copied"
        value={of.mode === 'reassigned' ? 'nothing' : bytes(bytesCopied)}
        words={bytesCopied > 0 && ms > 0 ? `${rateOf((bytesCopied * 1000) / ms)} on average` : ' '}
      />
      <Amount
        title="Downtime"
        value={downtimeMs ? downtime(downtimeMs) : 'none'}
        words={announced(expectedDowntimeMs / 1000) ?? 'none announced'}
      />
      <Amount
        title="Took"
        value={beganAt ? howLong(beganAt, finishedAt, now) : '–'}
        words={announced(expectedSeconds) ?? 'at once'}
      />
    </>
  )
}

const Steps = ({ of: { steps } }: { of: Progress }) => {
  const { now } = useAt()
  return (
    <Section id="steps" title="Steps">
      <ol class="steps timed">
        {steps.map(({ title, note, state, startedAt, seconds }) => (
          <li class={stepClasses[state]} aria-current={state === 'running' ? 'step' : undefined}>
            <span>
              {title}
              {state === 'done' && <span class="sr"> (done)</span>}
            </span>
            {state !== 'waiting' && startedAt && (
              <span class="took">{seconds === null ? howLong(startedAt, null, now) : span(seconds * 1000)}</span>
            )}
            {state === 'undone' ? <small>undone</small> : state !== 'done' && note && <small>{note}</small>}
          </li>
        ))}
      </ol>
    </Section>
  )
}
const stepClasses: Record<Progress['steps'][number]['state'], string | undefined> = {
  waiting: undefined,
  running: 'now',
  done: 'done',
  undone: 'off',
}

const More = ({ of: transfer }: Of) => (
  <Section id="about" title="Move">
    <Facts
      of={[
        ['How', modeWords[transfer.mode]],
        ['Limit', transfer.maxMbps !== null && `${transfer.maxMbps.toLocaleString('en')} Mbit/s`],
        ['Old addresses', transfer.addresses && list(transfer.addresses.removed)],
        ['New addresses', transfer.addresses && list(transfer.addresses.added)],
        ['Inside the server', transfer.inside && insideWords[transfer.inside]],
        ['Old ones held until', transfer.addressesHeldUntil && <Exact iso={transfer.addressesHeldUntil} />],
        [isWaiting(transfer) ? 'Begins' : 'Was to begin', transfer.startsAt && <Moment iso={transfer.startsAt} />],
        ['Began', transfer.beganAt && <Moment iso={transfer.beganAt} />],
        ['Ended', transfer.finishedAt && <Moment iso={transfer.finishedAt} />],
        ['Log', transfer.jobId && <Link href={`/admin/jobs/${transfer.jobId}`}>Every step and line of its job</Link>],
        [
          'Other moves',
          <Link to="/admin/transfers" query={{ serverId: transfer.server.id }}>
            Of this server
          </Link>,
        ],
      ]}
    />
  </Section>
)

const insideWords: Record<NonNullable<Transfer['inside']>, string> = {
  waiting: 'Its guest agent is asked until it answers',
  done: 'Its system has the new addresses',
  given_up: 'No guest agent has answered',
}

const IfItFails = ({ of: { from, to, ...of } }: Of) =>
  of.finishedAt === null ? (
    <Section id="fails" title="If it fails">
      <div class="tip">
        <Icon name="info" />
        <span>
          <b>Until it switches over</b> the server stays on {from.name}, and nothing is left on {to.name}.{' '}
          <b>After that</b> it runs on {to.name}, and {from.name} is cleared.
        </span>
      </div>
    </Section>
  ) : null
