// A new package, as a page: its fields are many, so they stand in groups, beside how many of it would fit now.
import type { AssetName } from '../../../public/assets.ts'
import { getStockOfSize } from '../../../src/billing/provisioning/stock-of-size.ts'
import { packageFields } from '../../../src/catalog/packages/fields.ts'
import { createPackage, listPackages } from '../../../src/catalog/packages/packages.ts'
import type { Query } from '../../../src/kernel/api/operation.ts'
import { type Answers, allIfAllowed, ifNamed, page, readingAll } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listPools } from '../../../src/network/ip-pools/pools.ts'
import { CallForm } from '../../components/action.tsx'
import { Chooser, chooserFiles, fewOf } from '../../components/forms/chooser.tsx'
import { ListedFields } from '../../components/forms/listed-fields.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Facts, Note } from '../../components/section.tsx'
import { size, traffic } from '../../components/words.ts'

const PATH = '/admin/packages/new'
const FORM = 'package-form'

type Package = Answers<{ p: typeof listPackages }>['p']['data'][number]
type Fits = Answers<{ f: typeof getStockOfSize }>['f'] | undefined

export const newPackagePage = page({
  path: PATH,
  reads: {
    packages: readingAll(listPackages),
    pools: allIfAllowed(listPools),
    fits: ifNamed(getStockOfSize, ({ query }, { packages, pools }) => {
      const asked = sizeIn({ ...valuesOf(copied(packages, query), hasIpv6(pools)), ...query })
      return asked && { query: asked }
    }),
  },
  title: 'New package',
  nav: 'packages',
  files: ['forms.css', ...chooserFiles] satisfies AssetName[],
  view: ({ packages, pools, fits }) => <NewPackage packages={packages.data} pools={pools} fits={fits} />,
})

type Pools = Answers<{ p: typeof listPools }>['p'] | undefined
/** Where no pool has IPv6, a package that asks for it could not be ordered. */
const hasIpv6 = (pools: Pools) => !pools || pools.data.some(({ version }) => version === 6)
const copied = ({ data }: { data: readonly Package[] }, query: Query): Package | undefined =>
  data.find(({ id }) => id === query['from'])

/** The values of the fields that say where it fits, as the form has them at first. */
const valuesOf = (from: Package | undefined, withIpv6: boolean): Query => {
  const initial = { memoryMb: 2048, diskGb: 40, ipv4: 1, ipv6Prefix: withIpv6 ? 64 : null, storageClass: null }
  const { memoryMb, diskGb, ipv4, ipv6Prefix, storageClass } = from ?? initial
  return {
    memoryMb: String(memoryMb),
    diskGb: String(diskGb),
    ipv4: String(ipv4),
    ipv6Prefix: String(ipv6Prefix ?? ''),
    storageClass: storageClass ?? '',
  }
}

/** The size that is being typed; undefined while a field of it says nothing that an order could have. */
function sizeIn(values: Query): Query | undefined {
  const asked: Record<string, string> = {}
  for (const name of ['memoryMb', 'diskGb', 'ipv4', 'ipv6Prefix', 'storageClass'] as const) {
    const value = values[name]?.trim() ?? ''
    const field = packageFields[name]
    if (value === '') {
      if (field.usual !== null) return undefined
      continue
    }
    const { minimum, maximum, maxLength } = getStockOfSize.query![name] as Bounds
    const isNumber = minimum !== undefined && maximum !== undefined
    const fits = isNumber
      ? /^\d{1,9}$/.test(value) && +value >= minimum && +value <= maximum
      : value.length <= (maxLength ?? 0)
    if (!fits) return undefined
    asked[name] = value
  }
  return asked
}
type Bounds = { minimum?: number; maximum?: number; maxLength?: number }

type Props = { packages: readonly Package[]; pools: Pools; fits: Fits }
function NewPackage({ packages, pools, fits }: Props) {
  const at = useAt()
  const from = copied({ data: packages }, at.query)
  const known = packages.filter(({ archived }) => !archived)
  return (
    <>
      <Head
        title="New package"
        trail={[['Packages', '/admin/packages']]}
        sub={<span>Four fields are enough: name, vCPUs, memory and disk. The rest has sensible values.</span>}
        actions={known.length > 0 && at.may(createPackage) && <CopyFrom packages={known} from={from} />}
      />
      {at.may(createPackage) ? (
        <CallForm op={createPackage} id={FORM} class="order" done="{name} is added" leadsTo="/admin/packages">
          <div>
            <ListedFields
              list={packageFields}
              scope="package"
              of={from && { ...from, name: '', billingProductId: null }}
              initial={hasIpv6(pools) ? {} : { ipv6Prefix: '' }}
            />
          </div>
          <aside aria-label="Summary">
            <div class="sum stack">
              {from && <CopiedFrom from={from} />}
              <FitsNow fits={fits} from={from} />
              <button class="btn pri">
                <Icon name="plus" />
                Create package
              </button>
            </div>
          </aside>
        </CallForm>
      ) : (
        <Note level="info">Your role may look at packages and not add one.</Note>
      )}
    </>
  )
}

/** A form of its own that the browser sends: the page comes again with the values of that package. */
const CopyFrom = ({ packages, from }: { packages: readonly Package[]; from: Package | undefined }) => (
  <form method="get" action={PATH} class="bar copy-from">
    <Chooser
      scope="copy"
      name="from"
      label="Copy from"
      of="package"
      value={from?.id}
      choices={fewOf([...(from ? [from] : []), ...packages.filter(({ id }) => id !== from?.id)])}
    />
    <button class="btn">Copy</button>
  </form>
)

const CopiedFrom = ({ from }: { from: Package }) => (
  <>
    <h2>As {from.name}</h2>
    <Facts
      of={[
        ['Size', size(from)],
        ['Traffic', from.trafficGb ? `${traffic(from.trafficGb)} a month` : 'Unlimited'],
        ['Left empty', 'Name and billing product id: each package has its own.'],
      ]}
    />
  </>
)

/** The reasons that refuse the order behind the last one. */
const limitWords: Record<NonNullable<Fits>['locations'][number]['limit'], string> = {
  memory: 'memory runs out first',
  reserve: 'the rest is kept in reserve',
  disk: 'disk runs out first',
  storage_class: 'no storage of this class',
  storage_silent: 'its storage does not answer',
  addresses: 'addresses run out first',
  closed: 'closed for orders',
  disconnected: 'its nodes are not connected',
  hypervisor_silent: 'a hypervisor does not answer',
  reconnecting: 'its nodes are reconnecting',
  no_node: 'no node that could take it',
}

/** Counted again while the size is typed. */
const FitsNow = ({ fits, from }: { fits: Fits; from: Package | undefined }) => (
  <div
    id="fits"
    class="stack"
    aria-live="polite"
    hx-get={PATH + (from ? `?from=${from.id}` : '')}
    hx-include={`#${FORM}`}
    hx-trigger={`input delay:300ms from:#${FORM}`}
    hx-select="#fits"
    hx-swap="outerMorph"
    hx-sync="replace"
  >
    {fits ? (
      <>
        <p>
          Now <b>{amount(fits)}</b> of these fit.
        </p>
        <ul class="rows">
          {fits.locations.map(({ location, limit, ...stock }) => (
            <li>
              <span class="grow">
                {location.name}
                <small>{limitWords[limit]}</small>
              </span>
              <b class="num">{amount(stock)}</b>
            </li>
          ))}
        </ul>
      </>
    ) : (
      <p class="muted">How many fit now is counted once memory, disk and addresses have values that can be ordered.</p>
    )}
  </div>
)

const amount = ({ available, orMore }: { available: number; orMore: boolean }) =>
  `${available.toLocaleString('en')}${orMore ? ' or more' : ''}`
