import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { getJob, getJobLog } from '../../../src/platform/jobs/jobs.ts'
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

const hasEnded = ({ state }: Data['job']) => state === 'succeeded' || state === 'failed'

function view({ job, log, at }: Data, area: Area): Html {
  const ended = hasEnded(job)
  return html`
    ${live(
      at,
      'job',
      ended ? undefined : 1,
      html`
      ${head({ title: job.title, trail: [['Jobs', `${area}/jobs`]], state: jobState(job), actions: job.serverId && html`<a class="btn" href="${area}/servers/${job.serverId}">Open server</a>` })}
      <p class="sr" role="status">${ended ? `${job.title}: ${job.state === 'failed' ? 'failed' : 'done'}.` : ''}</p>
      ${card(
        { id: 'progress', title: ended ? 'Result' : 'Progress' },
        html`
        ${!ended && inside(html`<p>Step ${job.step.n} of ${job.step.of}${job.step.name && html`: <strong>${job.step.name}</strong>`}${job.startedAt && html` <span class="muted">· ${howLong(job.startedAt, null, at.now)} so far · you may leave this page</span>`}</p><progress max="100" value="${job.progress}" aria-label="Progress">${job.progress} %</progress>`)}
        ${job.error && notice(ended ? 'bad' : 'warn', html`<strong>${ended ? 'It failed, and what it had begun was undone.' : job.undoing ? 'It failed and is being undone.' : 'A step failed and is tried again.'}</strong><br>${job.error.message}`)}
        ${job.state === 'succeeded' && notice('info', html`<strong>Done</strong>${job.startedAt && html` in ${howLong(job.startedAt, job.finishedAt, at.now)}`}.`)}
        ${inside(
          kv([
            ['Started by', job.startedBy.name],
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
