// How a drain ended: its figures beside what was planned, what happened to its servers, and what comes next.
import type { getMaintenance } from '../../../src/compute/drains/maintenance.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Figure, Stats } from '../../components/figures.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Facts, Section } from '../../components/section.tsx'
import type { Tone } from '../../components/state.tsx'
import { Clock, howLong } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'
import { downtime, duration } from '../transfers/words.tsx'
import type { Drain, DrainServer } from './words.tsx'

export type ShownMaintenance = Answers<{ of: typeof getMaintenance }>['of']

const planned = ({ expectedSeconds, pausedSeconds }: Drain) =>
  `planned ${duration(expectedSeconds)} at most` + (pausedSeconds ? `, paused ${duration(pausedSeconds)}` : '')

/** The figures at the end, beside what was planned. */
export function Outcome({ drain }: { drain: Drain }) {
  const { now } = useAt()
  const { counts, servers } = drain
  const moved = servers.filter(({ state }) => state === 'moved')
  const times = moved.flatMap(({ downtimeMs }) => downtimeMs ?? []).toSorted((a, b) => a - b)
  const copied = moved.reduce((sum, { bytesCopied }) => sum + bytesCopied, 0)
  const stays = counts.servers - counts.moved - counts.gone
  return (
    <Stats>
      <Figure
        title="Moved"
        n={counts.moved}
        of={`of ${counts.servers}`}
        words={counts.gone ? `${counts.gone} gone` : ''}
      />
      <Figure title="Took" n={howLong(drain.createdAt, drain.finishedAt, now)} words={planned(drain)} />
      {times.length > 0 && (
        <Figure
          title="Median downtime"
          n={downtime(times[Math.floor(times.length / 2)]!)}
          words={`longest ${downtime(times.at(-1)!)}`}
        />
      )}
      <Figure title="Copied" n={bytes(copied)} />
      <Figure title={drain.kind === 'drain' ? 'Still here' : 'Not brought back'} n={stays} bad={stays > 0} />
    </Stats>
  )
}

type Happened = { icon: IconName; tone: Tone; title: string; words: string; times: readonly (string | null)[] }
/** The outcome in sentences: those that moved by their way, then each that did not. */
function happenedIn({ servers, kind }: Drain): Happened[] {
  const moved = Map.groupBy(
    servers.filter(({ state }) => state === 'moved'),
    ({ mode, downtimeMs }) => (mode === 'cold' && !downtimeMs ? 'off' : (mode ?? 'off')),
  )
  const timesOf = (of: readonly DrainServer[]) => of.map(({ endedAt }) => endedAt)
  return [
    ...[...moved].map(
      ([mode, of]): Happened => ({
        ...{ icon: 'check', tone: 'ok', times: timesOf(of) },
        title: `${count(of.length, 'server')} ${movedWords[mode](of.length)}`,
        words: offFor(of),
      }),
    ),
    ...servers
      .filter(({ state }) => state === 'failed' || state === 'left' || state === 'stopped' || state === 'gone')
      .slice(0, NAMED)
      .map(
        (one): Happened => ({
          icon: one.state === 'stopped' ? 'power' : one.state === 'gone' ? 'check' : 'warning',
          tone: one.state === 'gone' ? 'ok' : 'warn',
          title: `${one.hostname} ${stayedWords(one.state, kind)}`,
          words: one.reason ?? '',
          times: [one.endedAt],
        }),
      ),
  ]
}
/** At most so many are named one by one; the list below has all of them. */
const NAMED = 10
const were = (n: number, one: string, many: string) => (n === 1 ? one : many)
const movedWords: Record<NonNullable<DrainServer['mode']> | 'off', (n: number) => string> = {
  live: (n) => `moved while ${were(n, 'it', 'they')} ran`,
  near_live: () => 'had a short stop',
  cold: (n) => `${were(n, 'was', 'were')} shut down first`,
  reassigned: (n) => `${were(n, 'waits', 'wait')} for setup elsewhere now`,
  off: (n) => `${were(n, 'was', 'were')} off`,
}
const stayedWords = (state: DrainServer['state'], kind: Drain['kind']) =>
  state === 'stopped'
    ? 'was stopped'
    : state === 'gone'
      ? 'was gone already'
      : kind === 'drain'
        ? 'stayed here'
        : 'did not come back'

/** `off for 300 ms to 1.2 s, as announced` */
function offFor(of: readonly DrainServer[]): string {
  const times = of.flatMap(({ downtimeMs }) => downtimeMs || []).toSorted((a, b) => a - b)
  const [shortest, longest] = [times[0], times.at(-1)]
  if (shortest === undefined || longest === undefined) return 'Nothing to notice'
  const late = of.filter(({ downtimeMs, expectedDowntimeMs }) => (downtimeMs ?? 0) > expectedDowntimeMs).length
  const range = [...new Set([downtime(shortest), downtime(longest)])].join(' to ')
  return `Off for ${range}, ${late ? `${late} longer than announced` : 'as announced'}`
}

export function WhatHappened({ drain, maintenance }: { drain: Drain; maintenance: ShownMaintenance | undefined }) {
  const happened = happenedIn(drain)
  if (!happened.length) return null
  return (
    <div class={maintenance ? 'split' : undefined}>
      <div>
        <Section id="happened" title="What happened">
          <ul class="rows wrap">
            {happened.map(({ icon, tone, title, words, times }) => (
              <li>
                <span class={`st ${tone}`}>
                  <Icon name={icon} />
                </span>
                <div class="grow">
                  <b>{title}</b>
                  <small>{words}</small>
                </div>
                <span class="end muted">
                  <Times of={times} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
      </div>
      {maintenance && (
        <div>
          <ComeBack of={maintenance} />
          {maintenance.rolling && <NextNode of={maintenance.rolling} />}
        </div>
      )}
    </div>
  )
}

/** The first and the last of some moments. */
function Times({ of }: { of: readonly (string | null)[] }) {
  const known = of.filter((one) => one !== null).toSorted()
  const [first, last] = [known[0], known.at(-1)]
  if (!first || !last) return null
  return Date.parse(last) - Date.parse(first) < 1000 ? (
    <Clock iso={first} />
  ) : (
    <>
      <Clock iso={first} />–<Clock iso={last} />
    </>
  )
}

const ComeBack = ({ of: { back, stopped, node } }: { of: ShownMaintenance }) => (
  <Section
    id="come-back"
    title={back ? 'Bring them back?' : 'The end of the maintenance'}
    words={
      back
        ? `When ${node.name} is opened, ${count(back.servers - back.cannot, 'server')} can return to it, or stay away.`
        : `When ${node.name} is opened, it takes new servers again.`
    }
  >
    <Facts
      of={[
        ['Takes', back && `at most ${duration(back.expectedSeconds)}`],
        ['Live', back && `${back.live} of ${back.servers}`],
        ['Start again', stopped.length > 0 && stopped.map(({ hostname }) => hostname).join(', ')],
      ]}
    />
  </Section>
)

const NextNode = ({ of: { id, next } }: { of: NonNullable<ShownMaintenance['rolling']> }) => (
  <Section
    id="next-node"
    title="Next node"
    words={next ? `${next.name} follows when the work here is done.` : 'It is the last one of this maintenance.'}
  >
    <div class="bar">
      <Link class="btn s" to="/admin/rolling-maintenance/{id}" params={{ id }}>
        Show the nodes
      </Link>
    </div>
  </Section>
)
