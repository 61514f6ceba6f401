import { getImport, importLog } from '../../../src/imports/imports/imports.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Head } from '../../components/head.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { addressWith, type Column, Table } from '../../components/table.tsx'
import { MomentCell } from '../../components/time.tsx'
import { importFiles, importsTrail, titleOf } from './words.tsx'

const behind = (n = ''): Record<string, string> => (/^\d{1,9}$/.test(n) ? { after: n } : {})
const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  log: reading(importLog, ({ params, query }) => ({
    params,
    query: behind(query['after']),
  })),
}
type Line = Answers<typeof reads>['log']['lines'][number]

export const importLogPage = page({
  path: '/admin/imports/{id}/log',
  reads,
  title: ({ import: of }) => `Log of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: ({ import: of, log }) => (
    <>
      <Head
        title="Log"
        trail={[...importsTrail, [titleOf(of), `/admin/imports/${of.id}`]]}
        sub={<span>What this import did and found. No line has a secret in it.</span>}
      />
      <Section id="log" title="Lines" quiet flush first>
        <Live id="lines" every={of.status === 'discovering' ? 2 : undefined} class="">
          {log.lines.length ? (
            <Table label="Lines" rows={log.lines} idOf={({ n }) => `L${n}`} columns={columns} />
          ) : (
            <Empty>There are no lines behind this one.</Empty>
          )}
          {log.lines.length === MOST && <Later after={log.lines.at(-1)!.n} />}
        </Live>
      </Section>
    </>
  ),
})
/** The API answers so many lines at a time. */
const MOST = 500

const Later = ({ after }: { after: number }) => (
  <nav class="pager end" aria-label="Pages">
    <a class="btn s" href={addressWith(useAt(), { after: String(after) })} rel="next">
      Later lines
    </a>
  </nav>
)

const levels: Record<Line['level'], { words: string; tone: Tone; shape: IconName }> = {
  info: { words: 'Done', tone: 'idle', shape: 'dot' },
  warning: { words: 'Look at it', tone: 'warn', shape: 'away' },
  error: { words: 'Stopped', tone: 'bad', shape: 'fail' },
}
const columns: readonly Column<Line>[] = [
  { title: 'What', kind: 'name', width: 62, cell: ({ text }) => <span class="why">{text}</span> },
  {
    title: 'Kind',
    kind: 'state',
    width: 14,
    cell: ({ level }) => (
      <State tone={levels[level].tone} shape={levels[level].shape}>
        {levels[level].words}
      </State>
    ),
  },
  { title: 'When', kind: 'wide', width: 24, cell: ({ at }) => <MomentCell iso={at} /> },
]
