import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { cancelJob } from '../../../src/platform/jobs/cancel.ts'
import { getJob, getJobLog } from '../../../src/platform/jobs/jobs.ts'
import { act } from '../../components/act.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { card, copyable, inside, kv, notice } from '../../components/card.ts'
import { head } from '../../components/head.ts'
import { live } from '../../components/live.ts'
import { jobLog } from '../../components/log.ts'
import { jobState } from '../../components/state.ts'
import { howLong, moment } from '../../components/time.ts'

const reads = { job: getJob, log: getJobLog }
type Data = Answers<typeof reads> & { at: At }

export const jobPages = inEveryArea({
  path: '/jobs/{jobId}',
  reads,
  title: ({ job }) => job.title,
  nav: 'jobs',
  view,
})

function errorTitle(job: Data['job'], ended: boolean): string {
  if (job.undoPending) return 'It failed. What is left of it on the node is undone when the node is back.'
  if (ended) return 'It failed, and what it had begun was undone.'
  if (job.cancelled) return 'It was cancelled and is being undone.'
  return job.undoing ? 'It failed and is being undone.' : 'A step failed and is tried again.'
}

const cancelButton = (at: At, job: Data['job']) =>
  job.cancellable &&
  act(at, cancelJob, { jobId: job.id }, 'Cancel job', {
    icon: 'stop',
    done: 'The job is being cancelled.',
    confirm: {
      consequences: ['It stops before its next step.', 'What it did is undone, so it ends as failed.'],
      keep: 'Let it go on',
    },
  })

const hasEnded = ({ state }: Data['job']) => state === 'succeeded' || state === 'failed'

function view({ job, log, at }: Data, area: Area): Html {
  const ended = hasEnded(job)
  return html`
    ${live(
      at,
      'job',
      ended ? undefined : 1,
      html`
      ${head({ title: job.title, trail: [['Jobs', `${area}/jobs`]], state: jobState(job), actions: [cancelButton(at, job), job.serverId && html`<a class="btn" href="${area}/servers/${job.serverId}">Open server</a>`] })}
      <p class="sr" role="status">${ended ? `${job.title}: ${job.state === 'failed' ? 'failed' : 'done'}.` : ''}</p>
      ${card(
        { id: 'progress', title: ended ? 'Result' : 'Progress' },
        html`
        ${!ended && inside(html`<p>Step ${job.step.n} of ${job.step.of}${job.step.name && html`: <strong>${job.step.name}</strong>`}${job.startedAt && html` <span class="muted">· ${howLong(job.startedAt, null, at.now)} so far · you may leave this page</span>`}</p><progress max="100" value="${job.progress}" aria-label="Progress">${job.progress} %</progress>`)}
        ${job.error && notice(ended ? 'bad' : 'warn', html`<strong>${errorTitle(job, ended)}</strong><br>${job.error.message}`)}
        ${!ended && !job.error && job.cancelled && notice('info', html`<strong>It is being cancelled.</strong><br>It stops after the step at hand; then what it did is undone.`)}
        ${job.state === 'succeeded' && notice('info', html`<strong>Done</strong>${job.startedAt && html` in ${howLong(job.startedAt, job.finishedAt, at.now)}`}.`)}
        ${inside(
          kv([
            ['Started by', job.startedBy.name],
            ['Cancelled by', job.cancelled && html`${job.cancelled.by.name}, ${moment(job.cancelled.at, at)}`],
            ['Node', job.nodeId && html`<a href="/admin/nodes/${job.nodeId}">${job.nodeName}</a>`],
            ['Began', moment(job.createdAt, at)],
            ['Ended', job.finishedAt && moment(job.finishedAt, at)],
            ['Id', copyable(job.id, 'id')],
          ]),
        )}`,
      )}`,
    )}
    ${jobLog(at, job.id, log.lines, ended)}`
}
