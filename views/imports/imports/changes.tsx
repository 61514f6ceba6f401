import { listChanges } from '../../../src/imports/discovery/discover.ts'
import { getImport } from '../../../src/imports/imports/imports.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { Head } from '../../components/head.tsx'
import type { IconName } from '../../components/icon.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Moment } from '../../components/time.tsx'
import { importFiles, importsTrail, listWords, titleOf } from './words.tsx'

const reads = { import: reading(getImport, ({ params }) => ({ params })), changes: listChanges }
type Change = Answers<typeof reads>['changes']['data'][number]

export const changesPage = page({
  path: '/admin/imports/{id}/changes',
  reads,
  title: ({ import: of }) => `Changes of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: ({ import: of, changes }) => (
    <>
      <Head
        title="Since the last reading"
        trail={[...importsTrail, [titleOf(of), `/admin/imports/${of.id}`]]}
        sub={
          of.discoveredAt && (
            <span>
              Read <Moment iso={of.discoveredAt} />
            </span>
          )
        }
      />
      <Section id="changes" title="Changes" quiet flush first>
        <List
          of={changes}
          noun="change"
          filters={[{ name: 'change', label: 'Kind', options: kinds }]}
          empty={<Empty>Nothing has changed on the panel between the last two readings.</Empty>}
        >
          <Table label="Changes" rows={changes.data} columns={columns} />
        </List>
      </Section>
    </>
  ),
})

const appearances: Record<Change['change'], { words: string; tone: Tone; shape: IconName }> = {
  new: { words: 'New', tone: 'ok', shape: 'dot' },
  gone: { words: 'Gone', tone: 'idle', shape: 'fail' },
  changed: { words: 'Changed', tone: 'warn', shape: 'wait' },
}
const kinds = Object.entries(appearances).map(([name, { words }]) => [name, words] as const)
const first = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1)

const columns: readonly Column<Change>[] = [
  {
    title: 'What',
    kind: 'name',
    width: 40,
    cell: ({ name, list }) => (
      <>
        <b>{name}</b>
        <small>{first(listWords[list][0])}</small>
      </>
    ),
  },
  {
    title: 'Change',
    kind: 'state',
    width: 20,
    cell: ({ change }) => (
      <State tone={appearances[change].tone} shape={appearances[change].shape}>
        {appearances[change].words}
      </State>
    ),
  },
  { title: 'Of it', kind: 'wide', width: 40, cell: ({ words }) => words && first(words) },
]
