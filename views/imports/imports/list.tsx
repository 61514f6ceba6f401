import { createImport, listImports, listPanels } from '../../../src/imports/imports/imports.ts'
import { type Answers, aroundParts, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Menu } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Note } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { Cancel, Rename } from './actions.tsx'
import { Log } from './log-link.tsx'
import { comingOf, type Import, ImportState, importFiles, placeOf, statusWords, titleOf } from './words.tsx'

const reads = { imports: listImports, panels: aroundParts(reading(listPanels, () => ({}))) }
type Panels = Answers<typeof reads>['panels']

export const importsPage = page({
  path: '/admin/imports',
  reads,
  title: 'Imports',
  nav: 'imports',
  files: importFiles,
  view: ({ imports, panels }) => (
    <>
      <Head
        title="Imports"
        actions={<New />}
        sub={
          <span>
            Bring servers, packages, addresses and customers over from another panel. Reading changes nothing there.
          </span>
        }
      />
      {imports.data.map((one) => (
        <CertificateChanged of={one} />
      ))}
      <List
        of={imports}
        noun="import"
        filters={[
          { name: 'q', label: 'Name or address', placeholder: 'Name or address' },
          { name: 'status', label: 'State', options: Object.entries(statusWords) },
          { name: 'kind', label: 'Panel', options: optionsOf(panels) },
        ]}
        every={4}
        empty={
          <Empty title="No imports yet" action={<New />}>
            Berth reads the panel that you have, and you decide what becomes of its servers, packages, addresses and
            owners. Nothing is changed there, and you can stop at any time.
          </Empty>
        }
      >
        <Table label="Imports" rows={imports.data} columns={columns} idOf={({ id }) => id} />
      </List>
    </>
  ),
})

const optionsOf = (panels: Panels) => (panels?.panels ?? []).map(({ kind, label }) => [kind, label] as const)

const New = () =>
  useAt().may(createImport) ? (
    <Link class="btn pri" to="/admin/imports/new">
      <Icon name="plus" />
      New import
    </Link>
  ) : null

/** A panel whose certificate changed: it reads nothing more before somebody compares. */
const CertificateChanged = ({ of }: { of: Import }) =>
  of.asksFor?.isChanged ? (
    <Note
      level="warn"
      action={
        <Link to="/admin/imports/{id}" params={{ id: of.id }}>
          Compare
        </Link>
      }
    >
      <strong>The certificate of {placeOf(of)} has changed.</strong> “{titleOf(of)}” stopped reading until you compare
      the new fingerprint.
    </Note>
  ) : null

const columns: readonly Column<Import>[] = [
  {
    title: 'Import',
    kind: 'name',
    width: 34,
    cell: (one) => (
      <>
        <Link to="/admin/imports/{id}" params={{ id: one.id }}>
          {titleOf(one)}
        </Link>
        <small>
          {one.panel} · {placeOf(one)}
        </small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 20, cell: (one) => <ImportState of={one} /> },
  {
    title: 'Servers',
    kind: 'a',
    num: true,
    width: 14,
    cell: ({ servers, discoveredAt }) =>
      discoveredAt ? (
        <>
          {servers['total']!.toLocaleString('en')}
          <span class="per"> servers</span>
        </>
      ) : (
        '–'
      ),
  },
  {
    title: 'Come over',
    kind: 'b',
    num: true,
    width: 14,
    cell: (one) =>
      one.discoveredAt ? (
        <>
          {comingOf(one).toLocaleString('en')}
          <span class="per"> come over</span>
        </>
      ) : (
        '–'
      ),
  },
  { title: 'Started', kind: 'mid', width: 14, cell: ({ createdAt }) => <Time iso={createdAt} /> },
  {
    title: 'Actions',
    kind: 'more',
    cell: (one) => (
      <Menu label={`Actions for ${titleOf(one)}`} small>
        <Rename of={one} inMenu />
        <Log of={one} />
        <Cancel of={one} inMenu />
      </Menu>
    ),
  },
]
