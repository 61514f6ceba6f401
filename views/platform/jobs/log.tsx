// A job's log: numbered lines that can be linked to. The server draws what there is; public/panel/page/job-log.js
// appends what comes.
import { getJobLog } from '../../../src/platform/jobs/jobs.ts'
import { pathOf } from '../../components/action.tsx'
import { Clock, ZoneName } from '../../components/time.tsx'

type Line = { n: number; at: string; level: string; text: string }

export const JobLog = ({ jobId, lines, ended }: { jobId: string; lines: readonly Line[]; ended: boolean }) => (
  <section
    class="sec"
    id="log"
    hx-morph-skip
    aria-labelledby="log-t"
    x-data="jobLog"
    data-url={pathOf(getJobLog, { jobId })}
    data-name={jobId}
    data-ended={ended ? '' : undefined}
  >
    <header>
      <h2 id="log-t">Log</h2>
      <span class="muted">
        Times in <ZoneName />
      </span>
      <div class="acts">
        {!ended && (
          <button type="button" class="btn s" aria-pressed="true" x-ref="follow" x-on:click="toggle">
            Follow
          </button>
        )}
        <button type="button" class="btn s" x-on:click="copyAll">
          Copy log
        </button>
        <button type="button" class="btn s" x-on:click="save">
          Download
        </button>
      </div>
    </header>
    <ol class="log" tabIndex={0} aria-label="Log lines" x-ref="lines" x-on:scroll="scrolled">
      {lines.map((line) => (
        <LogLine {...line} />
      ))}
    </ol>
    <p class="muted" x-ref="none" hidden={lines.length > 0}>
      No lines yet.
    </p>
  </section>
)

const LogLine = ({ n, at, level, text }: Line) => (
  <li id={`L${n}`} class={level}>
    <a href={`#L${n}`} aria-label={`Line ${n}`}>
      {n}
    </a>
    <Clock iso={at} />
    <span>{text}</span>
  </li>
)
