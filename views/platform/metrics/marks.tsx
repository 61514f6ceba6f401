// The jobs and alerts of a server in the time that its charts show: public/metrics.js makes each row a mark in them.
import { type Answers, type At, inPart, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { getTimeline } from '../../../src/platform/timeline/timeline.ts'
import { areaOf } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Section } from '../../components/section.tsx'
import { EntryTable } from '../timeline/page.tsx'
import { everyOf, momentsIn } from './charts.tsx'

/** The most marks, the newest ones: more cannot be told apart. */
const MOST_MARKS = 40
/** A timeline tells of so long at once; it begins later than the charts of a year. */
const LONGEST_MS = 93 * 86_400_000

const PART = 'marks'
function timeOf(at: At): { since: string; until: string } {
  const { from, to } = momentsIn(at)
  const since = Math.max(from, to - LONGEST_MS + 1000)
  return { since: new Date(since).toISOString(), until: new Date(to).toISOString() }
}
/** The read of the page; the other parts of it do not ask for it. */
export const marksRead = inPart(
  PART,
  reading(getTimeline, (at) => ({ params: at.params, query: { ...timeOf(at), limit: String(MOST_MARKS) } })),
)

type Timeline = NonNullable<Answers<{ of: typeof marksRead }>['of']>
export function Marks({ of: timeline }: { of: Timeline | undefined }) {
  const at = useAt()
  const rows = timeline?.data.filter(({ kind, jobId }) => kind !== 'change' || jobId) ?? []
  return (
    <Live id={PART} every={everyOf(at) && 60} class="">
      <Section id="happened" title="Jobs and alerts in this time" count={rows.length || undefined} flush>
        {rows.length > 0 ? (
          <EntryTable of={rows} label="Jobs and alerts in this time" />
        ) : (
          <p class="muted">None: nothing is marked in the charts.</p>
        )}
      </Section>
      {timeline && timeline.total > MOST_MARKS && <Others time={timeOf(at)} />}
    </Live>
  )
}

const Others = ({ time }: { time: ReturnType<typeof timeOf> }) => {
  const at = useAt()
  const path = `${areaOf(at)}/servers/${at.params['id']}/activity`
  return (
    <p class="muted">
      The newest are shown. All others are under <Link href={`${path}?${new URLSearchParams(time)}`}>Activity</Link>.
    </p>
  )
}
