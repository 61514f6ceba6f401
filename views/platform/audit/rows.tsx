import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { listServerActivity } from '../../../src/platform/audit/activity.ts'
import type { listAudit } from '../../../src/platform/audit/audit.ts'
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { State } from '../../components/state.tsx'
import { Time } from '../../components/time.tsx'
import { actionOf, DeedIcon, TargetLink, Visit } from './table.tsx'
import { wordsOf } from './words.ts'

type Line = Answers<{ a: typeof listServerActivity }>['a']['data'][number]

/** Activity on one thing as rows: the action, the person and the time. */
export const ActivityRows = ({ lines, area }: { lines: readonly Line[]; area: Area }) => (
  <ul class="rows">
    {lines.map((line) => (
      <Row of={line} area={area} />
    ))}
  </ul>
)

type Change = Answers<{ a: typeof listAudit }>['a']['data'][number]
/** The newest changes in a narrow column: what was done, its target, the person and the time. */
export const ChangeRows = ({ lines }: { lines: readonly Change[] }) => (
  <ul class="rows">
    {lines.map((line) => (
      <li id={line.id}>
        <DeedIcon operation={line.operation} action={actionOf(line)} />
        <div class="grow">
          <span class="cut">
            {wordsOf(useAt(), line.operation, actionOf(line))}
            {line.target !== null && (
              <>
                {' · '}
                <TargetLink of={line} />
              </>
            )}
          </span>
          <small>
            {line.actor.name}
            {line.result !== 'done' && ` · ${line.result}`}
          </small>
        </div>
        <span class="end muted">
          <Time iso={line.at} />
        </span>
      </li>
    ))}
  </ul>
)

const Row = ({ of: l, area }: { of: Line; area: Area }) => (
  <li id={l.id}>
    <DeedIcon operation={l.operation} action={l.action} />
    <div class="grow">
      <b>{wordsOf(useAt(), l.operation, l.action)}</b>
      <small>
        {l.who.you ? 'You' : l.who.name}
        {l.from && (
          <>
            {' '}
            · from <span class="mono">{l.from}</span>
          </>
        )}
        {l.until && (
          <>
            {' '}
            · <Visit of={l} />
          </>
        )}
        {l.jobId && (
          <>
            {' '}
            · <Link href={`${area}/jobs/${l.jobId}`}>Job</Link>
          </>
        )}
      </small>
    </div>
    {l.result !== 'done' && (
      <State tone="bad" shape="fail">
        {l.result}
      </State>
    )}
    <span class="end muted">
      <Time iso={l.at} />
    </span>
  </li>
)
