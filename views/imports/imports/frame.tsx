// The header of every page of an import: its state, what can be done with it, and its steps.
import type { ComponentChildren } from 'preact'
import { exportMapping } from '../../../src/imports/mapping/spreadsheet.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Menu, pathOf } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Note } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { Cancel, Discover, OtherCredentials, type Panel, Rename, RunDryRun } from './actions.tsx'
import { Log } from './log-link.tsx'
import { comingOf, type Import, ImportState, importsTrail, listCount, placeOf, titleOf } from './words.tsx'

type FrameProps = {
  of: Import
  panel?: Panel | undefined
  step: StepName
  /** In place of the button that reads the panel. */
  actions?: ComponentChildren
  /** Entries of the menu before the others. */
  more?: ComponentChildren
  /** Everything is fetched again while the import is at work, not the header alone. */
  isWhole?: boolean
  children: ComponentChildren
}
/** It changes by itself while it is at work, and while decisions are compared. */
const everyOf = ({ status, isCompared }: Import) =>
  status === 'discovering'
    ? 1
    : status === 'migrating' || status === 'checking' || (status === 'mapping' && !isCompared)
      ? 2
      : status === 'verifying'
        ? 5
        : undefined

export function ImportFrame({ isWhole, children, ...header }: FrameProps) {
  const { of } = header
  return (
    <>
      <Live id="import" every={everyOf(of)} class="">
        <Header {...header} />
        {isWhole && children}
      </Live>
      {!isWhole && children}
    </>
  )
}

const Header = ({ of, panel, step, actions, more }: Omit<FrameProps, 'children' | 'isWhole'>) => (
  <>
    <Head
      title={titleOf(of)}
      trail={importsTrail}
      state={<ImportState of={of} tag />}
      sub={<Summary of={of} />}
      actions={
        <>
          {actions}
          {!actions && <Discover of={of} isPrimary={of.discoveredAt === null} />}
          {!actions && of.discoveredAt && <RunDryRun of={of} />}
          <Menu label="More actions">
            {more}
            <Rename of={of} inMenu />
            {of.discoveredAt && <MappingFile of={of} />}
            {of.discoveredAt && <MessagesLink of={of} />}
            <OtherCredentials of={of} panel={panel} inMenu />
            <Log of={of} />
            <Cancel of={of} inMenu />
          </Menu>
        </>
      }
    />
    <Steps of={of} current={step} />
    <Notices of={of} />
  </>
)

const Summary = ({ of }: { of: Import }) => (
  <>
    <span>{of.panel}</span>
    <span class="mono">{placeOf(of)}</span>
    {of.discoveredAt && <span>{listCount(of.servers['total']!, 'servers')}</span>}
    {of.discoveredAt && (
      <span>
        read <Time iso={of.discoveredAt} />
      </span>
    )}
  </>
)

function MappingFile({ of: { id } }: { of: Import }) {
  return useAt().may(exportMapping) ? (
    <a href={pathOf(exportMapping, { id })} download>
      <Icon name="download" />
      Mapping as CSV
    </a>
  ) : null
}

const MessagesLink = ({ of: { id } }: { of: Import }) => (
  <Link to="/admin/imports/{id}/messages" params={{ id }}>
    <Icon name="mail" />
    Messages to owners
  </Link>
)

export type StepName = 'connect' | 'discover' | 'decide' | 'dry-run' | 'migrate' | 'verify' | 'finish' | 'clean-up'
type Step = {
  name: StepName
  title: string
  words?: ComponentChildren
  look?: 'done' | 'part' | 'off' | 'run'
}
function stepsOf(of: Import): Step[] {
  const { asksFor, trouble, status, discoveredAt, checkedAt, servers, left } = of
  const isReading = status === 'discovering'
  const isConnected = discoveredAt !== null && !asksFor
  const hasStarted = of.startedAt !== null
  return [
    {
      name: 'connect',
      title: 'Connect',
      ...(asksFor
        ? { look: 'off', words: 'certificate' }
        : isConnected
          ? { look: 'done', words: <Time iso={of.createdAt} /> }
          : isReading
            ? { look: 'run' }
            : trouble
              ? { look: 'off', words: 'stopped' }
              : { look: 'part' }),
    },
    {
      name: 'discover',
      title: 'Discover',
      ...(isReading
        ? { look: 'run', words: 'reading' }
        : discoveredAt && { look: 'done', words: listCount(servers['total']!, 'servers') }),
    },
    {
      name: 'decide',
      title: 'Decide',
      ...(discoveredAt &&
        !isReading &&
        (left.decisions
          ? { look: 'part', words: `${left.decisions.toLocaleString('en')} left` }
          : { look: 'done', words: 'all decided' })),
    },
    {
      name: 'dry-run',
      title: 'Dry run',
      ...(status === 'checking'
        ? { look: 'run', words: 'under way' }
        : checkedAt && {
            look: hasStarted || servers['ready'] === comingOf(of) ? 'done' : 'part',
            words: hasStarted
              ? `${toMoveOf(of).toLocaleString('en')} were ready`
              : `${servers['ready']!.toLocaleString('en')} of ${servers['total']!.toLocaleString('en')} ready`,
          }),
    },
    ...stepsOfMoving(of),
  ]
}

/** How many were started: each of them waits, moves, has moved or has failed. */
export const toMoveOf = ({ servers: s }: Pick<Import, 'servers'>) =>
  s['ready']! + s['moving']! + s['moved']! + s['failed']! + s['rolled_back']!

function stepsOfMoving(of: Import): Step[] {
  const { status, startedAt, servers, endedAt } = of
  const isOver = status === 'finished'
  const moved = servers['moved']!
  const all = toMoveOf(of)
  const movedWords = moved === all ? '' : ` of ${all.toLocaleString('en')}`
  return [
    {
      name: 'migrate',
      title: 'Migrate',
      ...(startedAt !== null && {
        look: status === 'migrating' ? 'run' : moved === all || isOver ? 'done' : 'part',
        words: `${moved.toLocaleString('en')}${movedWords} moved`,
      }),
    },
    {
      name: 'verify',
      title: 'Verify',
      ...(isOver ? { look: 'done' } : status === 'verifying' && { look: 'run', words: 'under way' }),
    },
    { name: 'finish', title: 'Finish', ...(isOver && { look: 'done', words: endedAt && <Time iso={endedAt} /> }) },
    { name: 'clean-up', title: 'Clean up' },
  ]
}

const ofFirstPage: ReadonlySet<StepName> = new Set(['connect', 'discover', 'decide'])
const addressOfStep = (id: string, name: StepName) => `/admin/imports/${id}${ofFirstPage.has(name) ? '' : `/${name}`}`

const Steps = ({ of, current }: { of: Import; current: StepName }) => (
  <nav aria-label="Steps of the import">
    <ol class="path">
      {stepsOf(of).map(({ name, title, words, look }) => (
        <li>
          <Link
            href={addressOfStep(of.id, name)}
            class={look ?? ''}
            {...(name === current && { 'aria-current': 'step' as const })}
          >
            <b>{title}</b>
            {words && <small>{words}</small>}
          </Link>
        </li>
      ))}
    </ol>
  </nav>
)

/** The cause that stopped the last reading, remarks of the panel about the credentials, and work that goes on. */
const Notices = ({ of: { trouble, asksFor, warnings, status, isCompared, discoveredAt } }: { of: Import }) => (
  <>
    {trouble && !asksFor && status !== 'discovering' && (
      <Note level="bad">
        <strong>The reading stopped.</strong> {trouble.message}{' '}
        {discoveredAt
          ? 'What was known before still counts.'
          : 'Nothing was changed there. Mend the cause and read again.'}
      </Note>
    )}
    {warnings.map((words) => (
      <Note level="warn">{words}</Note>
    ))}
    {status === 'mapping' && !isCompared && (
      <Note level="info">Your decisions are being compared with what is here: accounts, pools and addresses.</Note>
    )}
  </>
)
