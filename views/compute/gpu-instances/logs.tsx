// The output of an instance: its last lines, followed while the page is open (public/panel/page/instance-log.js).

import { downloadInstanceLogs, getInstanceLogs } from '../../../src/compute/gpu-instances/use/logs.ts'
import { type Answers, reading } from '../../../src/kernel/web/page.ts'
import { pathOf } from '../../components/action.tsx'
import { Icon } from '../../components/icon.tsx'
import { instancePage } from './area.ts'
import { InstanceFrame, instanceReads } from './frame.tsx'
import type { Instance } from './words.ts'

type Log = Answers<{ l: typeof getInstanceLogs }>['l']

export const instanceLogsPages = instancePage({
  path: '/{id}/logs',
  reads: {
    ...instanceReads,
    log: reading(getInstanceLogs, ({ params }) => ({ params, query: { lines: '1000' } })),
  },
  files: ['instance-log.mjs'],
  title: ({ instance }) => `Log of ${instance.name}`,
  view: ({ log, ...data }, area) => (
    <InstanceFrame {...data} area={area}>
      <LogSection log={log} instance={data.instance} />
    </InstanceFrame>
  ),
})

/** The sentences in place of lines, by the state of the log. */
const emptyWords = {
  read: 'Its programs have written nothing yet. Lines appear here as they are written.',
  none: 'It has no container now, and so no log.',
  unreachable: 'Its host does not answer now. The log goes on when it does.',
} satisfies Record<Log['state'], string>

/** The buttons are there once the script follows the log. */
function LogSection({ log, instance }: { log: Log; instance: Instance }) {
  const isEmpty = !log.lines.length
  return (
    <section
      class="sec"
      id="log"
      hx-morph-skip
      aria-labelledby="log-t"
      data-instance-log
      data-url={pathOf(getInstanceLogs, { id: instance.id })}
      data-cursor={log.cursor ?? undefined}
    >
      <header>
        <h2 id="log-t">Log</h2>
        <span class="muted">What its programs write. Its host keeps the newest 8 MiB.</span>
        <div class="acts">
          <span class="muted" role="status" data-log-state />
          <button type="button" class="btn s" hidden data-log-pause>
            <Icon name="pause" />
            Pause
          </button>
          <button type="button" class="btn s" hidden data-log-resume>
            <Icon name="play" />
            Resume
          </button>
          <a class="btn s" href={pathOf(downloadInstanceLogs, { id: instance.id })} download={`${instance.name}.log`}>
            <Icon name="download" />
            Download
          </a>
        </div>
      </header>
      <div class="log plain" tabIndex={0} role="region" aria-label="Log lines" hidden={isEmpty} data-log-box>
        <ol data-log-lines>
          {log.lines.map((line) => (
            <li>
              <span>{line}</span>
            </li>
          ))}
        </ol>
      </div>
      <p
        class="muted"
        hidden={!isEmpty}
        data-log-empty
        data-read={emptyWords.read}
        data-none={emptyWords.none}
        data-unreachable={emptyWords.unreachable}
      >
        {emptyWords[log.state]}
      </p>
      <p class="bar">
        <button type="button" class="btn s" hidden data-log-jump>
          <Icon name="arrow-down" />
          Jump to the end
        </button>
      </p>
      {log.truncated && <p class="hint">There are earlier lines: download the log to read them.</p>}
    </section>
  )
}
