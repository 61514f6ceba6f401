import type { ComponentChildren } from 'preact'
import { targetsOf } from '../../../src/kernel/audit/target.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { listActivity } from '../../../src/platform/audit/activity.ts'
import type { listAudit } from '../../../src/platform/audit/audit.ts'
import { mishaps } from '../../../src/platform/audit/line.ts'
import { areaOf } from '../../components/area.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Clock, Exact, MomentCell } from '../../components/time.tsx'
import { shortId } from '../../components/words.ts'
import { iconOf, wordsOf } from './words.ts'

type Line = Answers<{ audit: typeof listAudit }>['audit']['data'][number]
type Activity = Answers<{ activity: typeof listActivity }>['activity']['data'][number]
type Target = Pick<Line, 'target' | 'targetName' | 'targetKind' | 'targetGone'>

/** The page that this reader has of what a line is about; undefined where there is none, or none any more. */
const pageOf = ({ registry, actor }: At, { target, targetKind, targetGone }: Target): string | undefined =>
  target === null
    ? undefined
    : targetsOf(registry)
        .find(({ prefix }) => target.startsWith(`${prefix}_`))
        ?.page?.({ id: target, kind: targetKind, isGone: targetGone }, actor)

export function TargetLink({ of: line }: { of: Target }) {
  const { target, targetName } = line
  const href = pageOf(useAt(), line)
  if (target === null) return <>–</>
  const words = targetName ?? `${target.split('_')[0]}_${shortId(target)}`
  const look = { title: target, ...(!targetName && { class: 'mono' }) }
  return href ? (
    <Link href={href} {...look}>
      {words}
    </Link>
  ) : (
    <span {...look}>{words}</span>
  )
}

/** Which of several things an operation did. */
export const actionOf = ({ details }: Line) =>
  typeof details === 'object' && details !== null && 'action' in details ? String(details.action) : null

type DeedProps = { operation: string; action: string | null }
/** The icon of what was done. */
export function DeedIcon({ operation, action }: DeedProps) {
  return <Icon name={iconOf(useAt(), operation, action) ?? 'history'} class="muted" />
}
/** When a visit to the console began and ended; nothing for what lasts no time. */
export const Visit = ({ of: { at, until } }: { of: { at: string; until: string | null } }) =>
  until && (
    <>
      opened <Clock iso={at} />, closed <Clock iso={until} />
    </>
  )

type WhatProps = DeedProps & { jobId: string | null; visit?: { at: string; until: string | null } }
const What = ({ operation, action, jobId, visit }: WhatProps) => {
  const at = useAt()
  return (
    <>
      <b>
        <DeedIcon operation={operation} action={action} /> {wordsOf(at, operation, action)}
      </b>
      {visit?.until && (
        <small>
          <Visit of={visit} />
        </small>
      )}
      <small>
        <span class="mono">
          {operation}
          {action && ` ${action}`}
        </span>
        {jobId && (
          <>
            {' '}
            · <Link href={`${areaOf(at)}/jobs/${jobId}`}>Job</Link>
          </>
        )}
      </small>
    </>
  )
}

const ways = {
  page: 'in the panel',
  token: 'by token',
  support: 'in a support session',
  system: 'on the host',
  node: 'by the node',
} as const

type OriginProps = { via: Line['via'] | undefined; from: string | null }
/** How a change came: by page or token, and from which address. */
const Origin = ({ via, from }: OriginProps) => (
  <>
    {via && ways[via.type]}
    {via?.name && ` ${via.name}`}
    {from && (
      <>
        {via && ' · '}
        <span class="mono">{from}</span>
      </>
    )}
  </>
)

const Result = ({ of: { operation, result } }: { of: Pick<Line, 'operation' | 'result'> }) =>
  mishaps.has(operation) ? (
    <State tone="warn" shape="away">
      Noticed
    </State>
  ) : result === 'done' ? (
    <State tone="ok" shape="tick">
      Done
    </State>
  ) : (
    <State tone="bad" shape="fail">
      {result === 'sign_in_failed' ? 'Refused' : result}
    </State>
  )

/** How many refused sign-ins the line stands for beside its own. */
const More = ({ of: { details } }: { of: Line }) =>
  typeof details === 'object' && details !== null && 'more' in details && typeof details.more === 'number' ? (
    <small>and {details.more.toLocaleString('en')} more</small>
  ) : null

const activityColumns: readonly Column<Activity>[] = [
  {
    title: 'What',
    kind: 'name',
    width: 34,
    cell: (l) => <What operation={l.operation} action={l.action} jobId={l.jobId} visit={l} />,
  },
  { title: 'Result', kind: 'state', width: 14, cell: (l) => <Result of={l} /> },
  { title: 'When', kind: 'addr', width: 16, cell: (l) => <MomentCell iso={l.at} /> },
  {
    title: 'Who',
    width: 16,
    cell: (l) => (
      <>
        {l.who.you ? 'You' : l.who.name}
        <small>
          <Origin via={l.who.name === 'System' ? undefined : l.via} from={l.from} />
        </small>
      </>
    ),
  },
  { title: 'Target', width: 12, cell: (l) => <TargetLink of={l} /> },
]

/** Activity on the reader's own things. `target`: false where every line is about the same thing. */
export const ActivityTable = ({ lines, target = true }: { lines: readonly Activity[]; target?: boolean }) => (
  <Table
    label="Activity"
    rows={lines}
    columns={target ? activityColumns : activityColumns.filter((c) => c.title !== 'Target')}
    idOf={(l) => l.id}
    flow
  />
)

const auditColumns: readonly Column<Line>[] = [
  {
    title: 'What',
    kind: 'name',
    width: 34,
    cell: (l) => <What operation={l.operation} action={actionOf(l)} jobId={l.jobId} />,
  },
  {
    title: 'Result',
    kind: 'state',
    width: 14,
    cell: (l) => (
      <>
        <Result of={l} />
        <More of={l} />
      </>
    ),
  },
  { title: 'When', kind: 'addr', width: 16, cell: (l) => <MomentCell iso={l.at} /> },
  {
    title: 'Who',
    width: 16,
    cell: (l) => (
      <>
        {l.actor.name}
        <small>
          <Origin via={l.via} from={l.from} />
        </small>
      </>
    ),
  },
  { title: 'Target', width: 12, cell: (l) => <TargetLink of={l} /> },
  { title: 'Details', width: 8, cell: (l) => <Details of={l} /> },
]

export const AuditTable = ({ lines }: { lines: readonly Line[] }) => (
  <Table label="Audit log" rows={lines} columns={auditColumns} idOf={(l) => l.id} flow />
)

const Details = ({ of: l }: { of: Line }) => (
  <details class="row" id={`d-${l.id}`}>
    <summary>
      Show<span class="sr"> details of {l.operation}</span>
    </summary>
    {l.changes.length > 0 && <Changes of={l.changes} />}
    {l.details === null ? (
      <p class="muted">The request had no body.</p>
    ) : (
      <>
        <p class="muted">Request body:</p>
        <pre>{JSON.stringify(l.details, null, 2)}</pre>
      </>
    )}
    <small>
      Request <code>{l.requestId}</code>
    </small>
  </details>
)

const Changes = ({ of: changes }: { of: Line['changes'] }) => (
  <ul class="will">
    {changes.map((c) => (
      <li>
        <code>{c.field}</code>: <Value of={c.before} /> → <Value of={c.after} />
      </li>
    ))}
  </ul>
)

/** As people read it: lists are lists, times are times. */
const Value = ({ of: value }: { of: unknown }): ComponentChildren =>
  value === null || value === '' ? (
    <span class="muted">empty</span>
  ) : typeof value === 'object' ? (
    <code>{JSON.stringify(value)}</code>
  ) : /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value)) ? (
    <Exact iso={String(value)} />
  ) : (
    String(value)
  )
