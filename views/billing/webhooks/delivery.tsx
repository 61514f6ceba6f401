// One delivery, with the request and the answer of each attempt.
import { quoted } from '../../../agent/protocol/shell-quote.ts'
import { type getDelivery, redeliver } from '../../../src/billing/webhooks/deliveries.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Icon } from '../../components/icon.tsx'
import { Copyable, Facts, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Moment, Time } from '../../components/time.tsx'

export type Delivery = Answers<{ d: typeof getDelivery }>['d']
type Attempt = Delivery['attempts'][number]
type Of = { of: Delivery }

const appearances = {
  waiting: ['warn', 'wait', 'Waiting'],
  delivered: ['ok', 'tick', 'Delivered'],
  failed: ['bad', 'fail', 'Failed'],
} as const

/** In lists: the shape alone, with its word for screen readers. */
export function DeliveryShape({ of: { state } }: { of: Pick<Delivery, 'state'> }) {
  const [tone, shape, words] = appearances[state]
  return (
    <State tone={tone} shape={shape}>
      <span class="sr">{words}</span>
    </State>
  )
}

function DeliveryState({ of: d }: Of) {
  const [tone, shape, words] = appearances[d.state]
  return (
    <State tone={tone} shape={shape} tag>
      {d.state !== 'waiting' ? (
        words
      ) : d.attemptCount && d.nextAttemptAt ? (
        <>
          Next attempt <Time iso={d.nextAttemptAt} />
        </>
      ) : (
        'On its way'
      )}
    </State>
  )
}

export const DeliveryDetail = ({ of: d }: Of) => (
  <>
    <Section
      id="about"
      title={d.event}
      count={<DeliveryState of={d} />}
      actions={
        <>
          <Action
            op={redeliver}
            params={{ id: d.id }}
            label="Redeliver"
            icon="refresh"
            small
            done="The event is sent once more"
          />
          <AsCurl of={d} />
        </>
      }
    >
      <Facts
        pairs
        of={[
          ['Event', <Copyable text={d.eventId} what="the id of the event" />],
          ['Delivery', <Copyable text={d.id} what="the id of the delivery" />],
          ['Queued', <Moment iso={d.createdAt} />],
          ['Ended', d.endedAt && <Moment iso={d.endedAt} />],
          ['Attempts', d.maxAttempts === 1 ? 'Only one: it was sent by hand' : `${d.attemptCount} of ${d.maxAttempts}`],
          ['Why it failed', d.error],
        ]}
      />
    </Section>
    {d.attempts.length > 0 && <Attempts of={d} />}
    {d.attempts.at(-1) && <Answer of={d.attempts.at(-1)!} />}
    <Sent of={d} />
  </>
)

const Attempts = ({ of: d }: Of) => (
  <Section
    id="attempts"
    title="Attempts"
    count={d.maxAttempts > 1 ? `${d.attempts.length} of ${d.maxAttempts}` : undefined}
  >
    <ul class="rows">
      {d.attempts.toReversed().map((attempt) => (
        <li>
          <AttemptState of={attempt} />
          <div class="grow">
            <b>Attempt {attempt.n}</b>
            <small>
              <Moment iso={attempt.at} />
              {attempt.error && `: ${attempt.error}`}
              {attempt.address && ` Sent to ${attempt.address}.`}
            </small>
            {attempt.n < d.attempts.length && <Earlier of={attempt} />}
          </div>
          <span class="end muted">{duration(attempt.durationMs)}</span>
        </li>
      ))}
    </ul>
  </Section>
)

/** The newest answer stands below. */
const Earlier = ({ of: attempt }: { of: Attempt }) => (
  <details class="row" id={`attempt-${attempt.n}`}>
    <summary>
      Request and answer<span class="sr"> of attempt {attempt.n}</span>
    </summary>
    <pre class="code">{`${requestText(attempt)}\n\n${answerText(attempt)}`}</pre>
  </details>
)

const AttemptState = ({ of: { error, response } }: { of: Attempt }) =>
  error === null ? (
    <State tone="ok" shape="tick">
      {response?.status}
    </State>
  ) : (
    <State tone="bad" shape="fail">
      {response?.status ?? 'None'}
    </State>
  )

const Answer = ({ of: attempt }: { of: Attempt }) => (
  <Section id="answer" title={`Answer to attempt ${attempt.n}`}>
    <div class="stack">
      <pre class="code" tabindex={0} role="region" aria-label="Answer">
        {answerText(attempt)}
      </pre>
    </div>
  </Section>
)

function Sent({ of: d }: Of) {
  const last = d.attempts.at(-1)
  const text = last ? `${requestText(last)}\n\n${pretty(d.body)}` : pretty(d.body)
  return (
    <Section
      id="sent"
      title={last ? 'What was sent' : 'What is sent'}
      actions={
        <button type="button" class="btn s ico" data-copy={d.body} aria-label="Copy the body" title="Copy the body">
          <Icon name="copy" />
        </button>
      }
    >
      <div class="stack">
        <pre class="code" tabindex={0} role="region" aria-label="Request">
          {text}
        </pre>
      </div>
    </Section>
  )
}

/** The command sends the bytes of the last attempt; its time is that of the attempt, so a receiver may refuse it. */
function AsCurl({ of: d }: Of) {
  const last = d.attempts.at(-1)
  return last ? (
    <button type="button" class="btn s" data-copy={curlOf(last, d.body)}>
      <Icon name="copy" />
      As curl
    </button>
  ) : null
}

export const curlOf = ({ request: { method, url, headers } }: Attempt, body: string): string =>
  [
    `curl -sS -i -X ${method} ${quoted(url)}`,
    ...headers.map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-binary ${quoted(body)}`,
  ].join(' \\\n  ')

type Header = { name: string; value: string }
const lines = (headers: readonly Header[]) => headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
const requestText = ({ request: { method, url, headers } }: Attempt) => {
  const { pathname, search, host } = new URL(url)
  return `${method} ${pathname}${search} HTTP/1.1\nHost: ${host}\n${lines(headers)}`
}
const answerText = ({ response, error }: Attempt) =>
  response
    ? `HTTP/1.1 ${response.status}\n${lines(response.headers)}\n\n${response.body}${response.truncated ? '\n…' : ''}`
    : (error ?? 'There was no answer.')

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

const duration = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)
