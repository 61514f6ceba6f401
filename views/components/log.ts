// A job's log: numbered lines that can be linked to. The server draws what there is; public/panel/job-log.js appends what comes.

import { type Html, html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { getJobLog } from '../../src/platform/jobs/jobs.ts'
import { pathOf } from './act.ts'
import { clock, zoneName } from './time.ts'

type Line = { n: number; at: string; level: string; text: string }

export const jobLog = (at: At, jobId: string, lines: readonly Line[], ended: boolean): Html => html`
  <section class="card" id="log" hx-morph-skip aria-labelledby="log-t" x-data="jobLog" data-url="${pathOf(getJobLog, { jobId })}" data-name="${jobId}"${ended && html` data-ended`}>
    <header><div class="bar"><h2 id="log-t">Log</h2><span class="muted">Times in ${zoneName(at)}</span></div><div class="acts">${!ended && html`<button type="button" class="btn" aria-pressed="true" x-ref="follow" x-on:click="toggle">Follow</button>`}<button type="button" class="btn" x-on:click="copyAll">Copy log</button><button type="button" class="btn" x-on:click="save">Download</button></div></header>
    <ol role="list" class="log" tabindex="0" aria-label="Log lines" x-ref="lines" x-on:scroll="scrolled">${lines.map(
      (l) =>
        html`<li id="L${l.n}" class="${l.level}"><a href="#L${l.n}" aria-label="Line ${l.n}">${l.n}</a>${clock(l.at, at)}<span>${l.text}</span></li>`,
    )}</ol>
    <p class="words muted" x-ref="none"${lines.length > 0 && html` hidden`}>No lines yet.</p>
  </section>`
