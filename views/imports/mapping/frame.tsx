// The pages on which an import is decided: one tab for each part.
import type { ComponentChildren } from 'preact'
import { getImport } from '../../../src/imports/imports/imports.ts'
import { changeMapping } from '../../../src/imports/mapping/mapping.ts'
import { exportMapping } from '../../../src/imports/mapping/spreadsheet.ts'
import { reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Download } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { PageTabs } from '../../components/table.tsx'
import type { PartName } from '../imports/decisions.tsx'
import { ImportFrame } from '../imports/frame.tsx'
import type { Import } from '../imports/words.tsx'

/** The reads of every page on which something is decided. */
export const mappingReads = {
  import: reading(getImport, ({ params }) => ({ params })),
}
/** The page and the filters that a list of rows knows. */
export const listed = (query: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(['cursor', 'limit', ...names].flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
export const rowFilters = ['undecided', 'proposed', 'q']

const withCount = (words: string, n: number) => (n ? `${words} ${n.toLocaleString('en')}` : words)
const tabsOf = ({ id, left }: Import): [href: string, words: string][] => [
  [`/admin/imports/${id}/packages`, withCount('Packages', left.packages.rows)],
  [`/admin/imports/${id}/ranges`, withCount('Ranges', left.ranges.rows)],
  [`/admin/imports/${id}/locations`, withCount('Locations', left.hypervisors.rows)],
  [`/admin/imports/${id}/owners`, withCount('Owners', left.owners.rows)],
  [`/admin/imports/${id}/billing`, 'Billing numbers'],
  [`/admin/imports/${id}/servers`, 'Servers'],
]

type FrameProps = { of: Import; part?: PartName; children: ComponentChildren }
/** `part`: the one that the spreadsheet of this page has. */
export const MappingFrame = ({ of, part, children }: FrameProps) => (
  <ImportFrame
    of={of}
    step="decide"
    actions={
      of.discoveredAt && (
        <>
          <Download op={exportMapping} params={{ id: of.id }} label="CSV" query={part ? { part } : {}} />
          <Link class="btn" to="/admin/imports/{id}/file" params={{ id: of.id }}>
            <Icon name="upload" />
            Upload CSV
          </Link>
        </>
      )
    }
  >
    <PageTabs label="Decisions" of={tabsOf(of)} />
    {of.discoveredAt ? children : <Empty>The panel was not read yet. Read it first, then decide.</Empty>}
  </ImportFrame>
)

/** May the reader decide now? */
export const useMayMap = ({ actions }: Import): boolean => useAt().may(changeMapping) && actions.includes('map')
