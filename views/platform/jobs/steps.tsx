// The steps of a job, each with what has become of it.

import type { Answers } from '../../../src/kernel/web/page.ts'
import type { getJob } from '../../../src/platform/jobs/jobs.ts'
import { Section } from '../../components/section.tsx'

type Job = Answers<{ job: typeof getJob }>['job']
type Step = Job['steps'][number]

/** How a step is drawn (panel.css) and read: `n` counts from 1. Only the one that has failed is drawn as bad. */
function lookOf({ state, step }: Job, ended: boolean, n: number, of: Step['state']): [string, string] {
  if (state === 'failed' && n === step.n) return ['off', of === 'undone' ? 'failed, rolled back' : 'failed']
  if (of === 'started' && !ended) return ['now', 'under way']
  return of === 'done' ? ['done', ''] : ['', of === 'undone' ? 'rolled back' : '']
}

/** The plan of the job; before it is planned, nothing. */
export const Steps = ({ job, ended }: { job: Job; ended: boolean }) =>
  job.steps.length > 0 ? (
    <Section id="steps" title="Steps">
      <ol class="steps">
        {job.steps.map(({ name, state }, i) => {
          const [look, words] = lookOf(job, ended, i + 1, state)
          return (
            <li class={look || undefined} aria-current={look === 'now' ? 'step' : undefined}>
              {name}
              {state === 'done' && <span class="sr"> (done)</span>}
              {words && <small>{words}</small>}
            </li>
          )
        })}
      </ol>
    </Section>
  ) : null
