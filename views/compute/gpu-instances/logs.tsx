// The output of an instance: its last lines, followed while the page is open.

import { downloadInstanceLogs, getInstanceLogs } from '../../../src/compute/gpu-instances/use/logs.ts'
import { type Answers, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { pathOf } from '../../components/action.tsx'
import { Icon } from '../../components/icon.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { addressWith } from '../../components/table.tsx'
import { instancePage } from './area.ts'
import { InstanceFrame, instanceReads } from './frame.tsx'
import type { Instance } from './words.ts'

type Log = Answers<{ l: typeof getInstanceLogs }>['l']

export const instanceLogsPages = instancePage({
  path: '/{id}/logs',
  reads: {
    ...instanceReads,
    log: reading(getInstanceLogs, ({ params }) => ({ params, query: { lines: '300' } })),
  },
  title: ({ instance }) => `Log of ${instance.name}`,
  view: ({ log, ...data }, area) => (
    <InstanceFrame {...data} area={area}>
      <LogSection log={log} instance={data.instance} />
    </InstanceFrame>
  ),
})

function LogSection({ log, instance }: { log: Log; instance: Instance }) {
  const at = useAt()
  const follows = at.query['follow'] !== 'no'
  return (
    <Section
      id="log"
      title="Log"
      actions={
        <>
          <a
            class="btn s"
            href={addressWith(at, { follow: follows ? 'no' : null })}
            aria-current={follows ? 'true' : undefined}
          >
            <Icon name={follows ? 'arrow-down' : 'play'} />
            {follows ? 'Pause' : 'Follow'}
          </a>
          <a class="btn s" href={pathOf(downloadInstanceLogs, { id: instance.id })} download={`${instance.name}.log`}>
            <Icon name="download" />
            Download
          </a>
        </>
      }
      words={`The output of its programs${follows ? ', read again every few seconds' : ''}. Its host keeps a megabyte.`}
    >
      <Live id="log-live" every={follows ? 4 : undefined}>
        <Lines of={log} />
      </Live>
    </Section>
  )
}

/** Newest first, and drawn from the bottom up: the end of the log is in view, and stays there while lines come. */
function Lines({ of: { state, lines, truncated } }: { of: Log }) {
  if (state === 'unreachable') return <Empty>Its host does not answer now. The log is there again when it does.</Empty>
  if (state === 'none') return <Empty>It has no container now, and so no log.</Empty>
  if (!lines.length) return <Empty>Its programs have written nothing yet.</Empty>
  return (
    <>
      <ol class="log plain" tabIndex={0} aria-label="Log lines, newest first">
        {lines.toReversed().map((line) => (
          <li>
            <span>{line}</span>
          </li>
        ))}
      </ol>
      {truncated && <p class="hint">There are earlier lines: download the log to read them.</p>}
    </>
  )
}
