import type { AssetName } from '../../../public/assets.ts'
import { packageFields } from '../../../src/catalog/packages/fields.ts'
import { changePackage, createPackage, listPackages } from '../../../src/catalog/packages/packages.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { CallForm, Menu } from '../../components/action.tsx'
import { ListedFields } from '../../components/forms/listed-fields.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count, size, traffic } from '../../components/words.ts'
import { ArchiveEntry, GoodsState } from '../goods.tsx'

type Package = Answers<{ p: typeof listPackages }>['p']['data'][number]

/** The parameter of the address with the id of the package that is edited: one form, not one in each row. */
const EDITED = 'edit'
const addressAt = ({ path, query }: Pick<At, 'path' | 'query'>, edited: string | undefined) => {
  const { [EDITED]: _, ...others } = query
  const text = new URLSearchParams({ ...others, ...(edited && { [EDITED]: edited }) }).toString()
  return path + (text && `?${text}`)
}

export const packagesPage = page({
  path: '/admin/packages',
  reads: { packages: reading(listPackages, ({ query: { [EDITED]: _, ...query } }) => ({ query })) },
  title: 'Packages',
  nav: 'packages',
  files: ['forms.css'] satisfies AssetName[],
  view: ({ packages }) => (
    <>
      <Head
        title="Packages"
        actions={<AddPackage />}
        sub={<span>Sizes that servers are ordered in. A server keeps the size it was ordered with.</span>}
      />
      <List
        of={packages}
        noun="package"
        sorts={columns}
        empty={
          <Empty title="No packages yet">
            A package is what you sell: memory, disk and traffic. Every order needs one.
          </Empty>
        }
      >
        <Table label="Packages" rows={packages.data} columns={columns} idOf={(p) => p.id} sortable />
      </List>
      <Editing of={packages.data} />
    </>
  ),
})

const columns: readonly Column<Package>[] = [
  {
    title: 'Package',
    kind: 'name',
    width: 20,
    sort: 'name',
    usual: true,
    cell: (p) => (
      <>
        <b title={p.name}>{p.name}</b>
        {p.billingProductId && <small class="mono">{p.billingProductId}</small>}
      </>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 12,
    sort: 'archived',
    cell: (p) => <GoodsState of={p} />,
  },
  { title: 'Size', kind: 'addr', width: 24, sort: 'memoryMb', cell: (p) => <span title={size(p)}>{size(p)}</span> },
  {
    title: 'Traffic',
    kind: 'a',
    width: 15,
    sort: 'trafficGb',
    cell: (p) => (p.trafficGb ? `${traffic(p.trafficGb)} a month` : 'Unlimited'),
  },
  {
    title: 'Addresses',
    kind: 'b',
    width: 16,
    cell: (p) => `${p.ipv4} IPv4${p.ipv6Prefix ? `, IPv6 /${p.ipv6Prefix}` : ''}`,
  },
  {
    title: 'Servers',
    kind: 'mid',
    num: true,
    width: 8,
    cell: (p) =>
      p.servers ? (
        <Link to="/admin/servers" query={{ packageId: p.id }}>
          {p.servers}
        </Link>
      ) : (
        '0'
      ),
  },
  { title: 'Actions', kind: 'more', cell: (p) => <PackageMenu of={p} /> },
]

const AddPackage = () =>
  useAt().may(createPackage) ? (
    <Link class="btn pri" to="/admin/packages/new">
      <Icon name="plus" />
      Add package
    </Link>
  ) : null

/** Nothing for readers who may only look. */
function PackageMenu({ of: p }: { of: Package }) {
  const at = useAt()
  if (!at.may(changePackage)) return null
  return (
    <Menu label={`Actions for ${p.name}`} small>
      <a href={addressAt(at, p.id)}>
        Edit<span class="sr"> {p.name}</span>
      </a>
      <ArchiveEntry
        op={changePackage}
        of={p}
        consequences={[
          'It can no longer be ordered.',
          p.servers > 0 && `${count(p.servers, 'existing server')} with it keep${p.servers === 1 ? 's' : ''} running.`,
        ]}
      />
    </Menu>
  )
}

/** The form of the package that the address names, over the list. */
function Editing({ of }: { of: readonly Package[] }) {
  const at = useAt()
  const p = of.find(({ id }) => id === at.query[EDITED])
  if (!p || !at.may(changePackage)) return null
  const back = addressAt(at, undefined)
  return (
    <dialog class="wide" id="edit-package" open data-back={back} aria-labelledby="edit-package-t">
      <CallForm op={changePackage} params={{ id: p.id }} done="Saved" leadsTo={back}>
        <h2 id="edit-package-t">Edit {p.name}</h2>
        <ListedFields list={packageFields} scope="edit-package" of={p} />
        <div class="bar end">
          <Link class="btn" href={back}>
            Cancel
          </Link>
          <button class="btn pri">Save</button>
        </div>
      </CallForm>
    </dialog>
  )
}
