// A failed job: its cause, where it stopped, the data, and the next button. The words of the node are for staff.
import { pageOf } from '../../../src/compute/gpu-instances/model.ts'
import type { getServer } from '../../../src/compute/servers/list.ts'
import { powerServer } from '../../../src/compute/servers/power.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { getJob } from '../../../src/platform/jobs/jobs.ts'
import { Action } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Time } from '../../components/time.tsx'
import { away, quickPower } from '../../compute/servers/power-buttons.tsx'

type Job = Answers<{ job: typeof getJob }>['job']
type Server = Answers<{ server: typeof getServer }>['server']
type FailureProps = {
  job: Job
  /** Undefined when the job concerns none, or none that this reader sees. */
  server: Server | undefined
  area: Area
}

export function Failure({ job, server, area }: FailureProps) {
  const at = useAt()
  const again = server ? nextOf(at, { retry: job.retry, server, area }) : null
  return (
    <div class="sec first">
      <section class="fail" aria-labelledby="failure-t">
        <header>
          <Icon name="warning" />
          <div>
            <h2 id="failure-t">{job.cause}</h2>
            <p>{leftBy(job)}</p>
          </div>
        </header>
        <dl>
          <div>
            <dt>Where it stopped</dt>
            <dd>
              <b>
                Step {job.step.n} of {job.step.of}
              </b>
              {job.step.name && `, ${job.step.name}`}
            </dd>
          </div>
          {job.dataLost !== null && job.serverId && (
            <div>
              <dt>Data on the server</dt>
              <dd>{job.dataLost ? <b>Deleted. The old system does not come back.</b> : 'This job deleted no data.'}</dd>
            </div>
          )}
          <div>
            <dt>What to do</dt>
            <dd>
              {nextStep(job, area, again !== null)} {area !== '/admin' && <ProviderTold job={job} />}
            </dd>
          </div>
        </dl>
        {job.serverId && (
          <div class="bar">
            {again}
            <Link class="btn" href={`${area}/servers/${job.serverId}`}>
              <Icon name="server" />
              Open server
            </Link>
            {area === '' && <AskSupport />}
          </div>
        )}
        {job.instanceId && (
          <div class="bar">
            <OpenInstance id={job.instanceId} area={area} />
            {area === '' && <AskSupport />}
          </div>
        )}
        {area === '/admin' && <TechnicalDetails job={job} />}
      </section>
    </div>
  )
}

/** The words about what was changed and what was not, from its steps. */
function leftBy({ kindTitle, steps, undoPending }: Job): string {
  if (undoPending) return `${kindTitle} failed. What is left of it on the node is rolled back when the node is back.`
  const begun = steps.filter(({ state }) => state !== 'waiting')
  if (begun.length === 0) return `${kindTitle} failed before it changed anything.`
  if (begun.some(({ state }) => state !== 'undone')) return `${kindTitle} stopped there. What it did before stays.`
  return `${kindTitle} failed. Everything it had changed was rolled back.`
}

function nextStep({ error }: Job, area: Area, isOffered: boolean): string {
  if (error?.code === 'cancelled') return 'Nothing: somebody stopped it.'
  const again = isOffered ? 'Try again.' : ''
  if (area === '/admin') return `${again} The technical details have the words of the node.`.trim()
  return isOffered ? 'Try again. If it fails again, ask your provider.' : 'Ask your provider if you still need it.'
}

/** The provider is told within a minute. */
const TOLD_WITHIN_MS = 120_000
function ProviderTold({ job: { providerToldAt, finishedAt, error } }: { job: Job }) {
  const { now } = useAt()
  if (providerToldAt)
    return (
      <>
        Your provider was told <Time iso={providerToldAt} />.
      </>
    )
  const isNew = finishedAt !== null && now - Date.parse(finishedAt) < TOLD_WITHIN_MS
  return isNew && error?.code !== 'cancelled' ? <>Your provider is being told.</> : null
}

type Retried = { retry: Job['retry']; server: Server; area: Area }
/** The button that does it again; null where the state of the server or the rights of the reader refuse that. */
function nextOf(at: At, { retry, server: s, area }: Retried) {
  if (retry === null || !s.allowed.includes(retry)) return null
  const page = `${area}/servers/${s.id}`
  if (retry === 'reinstall')
    return (
      <Link class="btn pri" href={`${page}/settings`}>
        Reinstall
      </Link>
    )
  if (retry === 'setup')
    return (
      <Link class="btn pri" href={page}>
        Set up again
      </Link>
    )
  // Cutting the power asks first, on the page of the server.
  const action = quickPower.find((each) => each === retry)
  return action && at.may(powerServer) ? (
    <Action
      op={powerServer}
      params={{ id: s.id }}
      body={{ action }}
      label="Retry"
      icon="restart"
      tone="pri"
      disabledReason={away(s)}
      done="Started again"
      leadsTo={page}
    />
  ) : null
}

function AskSupport() {
  const { support } = useAt().brand
  return support ? (
    <a class="btn bare" href={support}>
      Contact support
    </a>
  ) : null
}

const stateWords = { waiting: 'not begun', started: 'begun', done: 'done', undone: 'rolled back' } as const

const TechnicalDetails = ({ job }: { job: Job }) => (
  <div class="bar">
    <details class="row" id="technical">
      <summary>Technical details</summary>
      <pre>
        {`${job.error?.code}: ${job.error?.message}\n\n${job.steps
          .map(({ name, state }, i) => `${i + 1}. ${name}: ${stateWords[state]}`)
          .join('\n')}`}
      </pre>
    </details>
  </div>
)

export const OpenInstance = ({ id, area }: { id: string; area: Area }) => (
  <Link class="btn" href={pageOf(area, id)}>
    <Icon name="gpu" />
    Open GPU instance
  </Link>
)
