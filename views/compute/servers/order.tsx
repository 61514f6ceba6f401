// The whole order on one page. Choices are the address; each redraws what the others leave possible, with the reason.
import type { ComponentChildren } from 'preact'
import { priceOf } from '../../../src/catalog/goods.ts'
import type { listOfferedImages } from '../../../src/catalog/images/images.ts'
import type { listGroups } from '../../../src/compute/placement-groups/groups.ts'
import type { createResellerServer, createServer } from '../../../src/compute/servers/create.ts'
import type { listCustomers } from '../../../src/identity/customers/customers.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { MOST_CHOICES } from '../../../src/platform/choices/choices.ts'
import { Price } from '../../catalog/goods.tsx'
import { CallForm } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import { Field, type Option, Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Facts, Note, Section } from '../../components/section.tsx'
import { count, exactGb, list, size, smallSize, traffic } from '../../components/words.ts'
import { ruleWords } from '../placement-groups/words.tsx'
import { chosenCustomer, type Itself, OwnerChoice } from '../workloads/owner-choice.tsx'
import { AccessFields, defaultImage, imageOptions, rootPassword, type Windows } from './access.tsx'
import type { Package } from './fit.ts'
import { ImagePicks } from './image-picks.tsx'

export type Sold = Omit<Package, 'servers'>
type Place = { id: string; name: string }
type Groups = Answers<{ groups: typeof listGroups }>['groups'] | undefined
type OrderProps = Answers<{ customers: typeof listCustomers; images: typeof listOfferedImages }> & {
  area: '/admin' | '/reseller'
  order: typeof createServer | typeof createResellerServer
  groups: Groups
  /** A reseller may order for itself. */
  itself?: Itself
  packages: readonly Sold[]
  packageObstacle(p: Sold): string | undefined
  places: readonly Place[]
  placeObstacle(l: Place, p: Sold | undefined): string | undefined
  aboutPlace(l: Place): ComponentChildren
  nodePicker(chosen: Choice): ComponentChildren
  /** Where there is none of something: what to do. */
  none: Record<'customers' | 'packages' | 'places' | 'images', ComponentChildren>
  /** Why nothing can be ordered at all. */
  disabledReason?: ComponentChildren
}
type Choice = {
  customer: { id: string; name: string } | undefined
  what: Sold | undefined
  where: Place | undefined
  image: string | undefined
  images: Option[]
  windows: Windows
}
type Part = { of: OrderProps; choice: Choice }

export function OrderPage(of: OrderProps) {
  const at = useAt()
  return (
    <>
      <Head title="Create server" trail={[['Servers', `${of.area}/servers`]]} />
      {at.may(of.order) ? (
        <OrderForm of={of} choice={chosen(of, at.query)} />
      ) : (
        <p class="sec first">Your role does not include creating servers.</p>
      )}
    </>
  )
}

/** The choices in the page's address; where there is none, the first choice that can work. */
function chosen(of: OrderProps, query: Readonly<Record<string, string>>): Choice {
  const { packages, packageObstacle, places, placeObstacle, images } = of
  const customer = chosenCustomer(of, query['ownerId'])
  const onSale = packages.filter((p) => !packageObstacle(p)).toSorted(bySize)
  const what =
    onSale.find((p) => p.id === query['packageId']) ??
    onSale.find((p) => places.some((l) => !placeObstacle(l, p))) ??
    onSale[0]
  const open = places.filter((l) => !placeObstacle(l, what))
  const where = open.find((l) => l.id === query['nodeGroupId']) ?? open[0]
  const options = imageOptions(images.data, what?.diskGb)
  const possible = options.filter((o) => !o.why)
  const image =
    query['imageId'] === ''
      ? undefined
      : (possible.find((o) => o.value === query['imageId'])?.value ?? defaultImage(images.data, options))
  const windows = images.data.find(({ id }) => id === image)?.os === 'windows' ? 'yes' : 'no'
  return { customer, what, where, image, images: options, windows }
}

const OrderForm = ({ of, choice }: Part) => (
  <CallForm
    op={of.order}
    class="order"
    redraws
    done="Order accepted"
    leadsTo={`${of.area}/servers/{serverId}`}
    secret={rootPassword('the new server', choice.windows)}
  >
    <div>
      {of.disabledReason && <Note level="warn">{of.disabledReason}</Note>}
      <Section id="owner" title="Customer">
        <OwnerChoice customers={of.customers} itself={of.itself} none={of.none.customers} value={choice.customer?.id} />
      </Section>
      <Section id="package" title="Package" count="Smallest first.">
        <Packages of={of} choice={choice} />
      </Section>
      <Section id="place" title="Location">
        <Places of={of} choice={choice} />
      </Section>
      <Section id="system" title="Image" count="Newest version first in each family.">
        <Images of={of} choice={choice} />
      </Section>
      {choice.image && (
        <Section id="access" title="Name and access">
          <NameAndAccess choice={choice} />
        </Section>
      )}
    </div>
    <aside aria-label="Summary">
      <Summary of={of} choice={choice} />
    </aside>
  </CallForm>
)

const addressesOf = (p: Sold) =>
  [p.ipv4 ? count(p.ipv4, 'IPv4 address', 'IPv4 addresses') : 'No IPv4', p.ipv6Prefix && `IPv6 /${p.ipv6Prefix}`]
    .filter(Boolean)
    .join(' · ')

const bySize = (a: Sold, b: Sold) => a.memoryMb - b.memoryMb || a.vcpus - b.vcpus || a.diskGb - b.diskGb

/** Of more packages a search finds the others. */
function Packages({ of: { packages, packageObstacle, none }, choice: { what } }: Part) {
  const searched = useAt().query['package'] ?? ''
  const named = packages.filter(({ name }) => name.toLowerCase().includes(searched.toLowerCase())).toSorted(bySize)
  const shown = named.slice(0, MOST_CHOICES)
  const more = named.length - shown.length
  return (
    <div class="stack">
      {packages.length > MOST_CHOICES && (
        <div class="f">
          <label for="new-package">Find package</label>
          <input
            id="new-package"
            type="search"
            data-ask="package"
            value={searched}
            placeholder="Name"
            autocomplete="off"
          />
        </div>
      )}
      <Radios
        scope="new"
        name="packageId"
        quiet
        label="Package"
        value={what?.id}
        options={(what && !shown.includes(what) ? [what, ...shown] : shown).map((p) => ({
          value: p.id,
          label: p.name,
          hint: (
            <>
              {smallSize(p)}
              <br />
              {exactGb(p.diskGb)} disk{p.trafficGb ? ` · ${traffic(p.trafficGb)} traffic` : ''}
              <br />
              {addressesOf(p)}
              <Price of={priceOf(p)} />
            </>
          ),
          why: packageObstacle(p),
        }))}
        empty={<p class="muted">{none.packages}</p>}
      />
      {more > 0 && <p class="muted">{`${count(more, 'more package')}: search to find them.`}</p>}
    </div>
  )
}

const Places = ({ of: { places, placeObstacle, aboutPlace, nodePicker, none, groups }, choice }: Part) => (
  <div class="stack">
    <Radios
      scope="new"
      name="nodeGroupId"
      quiet
      label="Location"
      value={choice.where?.id}
      options={places.map((l) => ({
        value: l.id,
        label: l.name,
        hint: aboutPlace(l),
        why: placeObstacle(l, choice.what),
      }))}
      empty={<p class="muted">{none.places}</p>}
    />
    {nodePicker(choice)}
    {groups && groups.data.length > 0 && (
      <Select
        scope="new"
        name="placementGroupId"
        label="Placement group"
        nullable
        value=""
        options={[
          { value: '', label: 'None' },
          ...groups.data.map((group) => ({ value: group.id, label: `${group.name}: ${ruleWords(group)}` })),
        ]}
      />
    )}
  </div>
)

const Images = ({ of: { none }, choice }: Part) => (
  <>
    <ImagePicks
      scope="new"
      quiet
      value={choice.image ?? ''}
      options={choice.images}
      none={{ value: '', label: 'None yet', hint: 'It waits until its owner or you set it up.' }}
      empty={none.images}
    />
  </>
)

const NameAndAccess = ({ choice }: { choice: Choice }) => (
  <div class="stack">
    <Field
      scope="new"
      name="hostname"
      label="Hostname"
      required
      mono
      hint="Letters, numbers and hyphens, for example web01 or web01.example.com"
    />
    <Field scope="new" name="name" label="Name" hint="Shown in lists. Leave empty to use the hostname." />
    <AccessFields
      scope="new"
      ownerId={choice.customer?.id}
      mode={useAt().query['access.mode']}
      windows={choice.windows}
    />
  </div>
)

/** Stays in view, and says what is missing. */
function Summary({ of: { disabledReason }, choice: { customer, what, where, image, images } }: Part) {
  const missing = [!customer && 'a customer', !what && 'a package', !where && 'a location with free capacity'].filter(
    (m) => m !== false,
  )
  const why = disabledReason
    ? 'Nothing new can be ordered now.'
    : missing.length > 0 && `Choose ${list(missing)} first.`
  return (
    <div class="sum stack">
      <h2>Summary</h2>
      <Facts
        of={[
          ['Customer', customer?.name ?? <span class="muted">Not chosen</span>],
          ['Package', what ? <PackageSummary of={what} /> : <span class="muted">Not chosen</span>],
          ['Location', where?.name ?? <span class="muted">None with free capacity</span>],
          ['Image', images.find((i) => i.value === image)?.label ?? 'None yet'],
        ]}
      />
      {why ? (
        <>
          <button type="button" class="btn pri" aria-disabled="true" data-why={why}>
            Create server
          </button>
          <p class="hint">{why}</p>
        </>
      ) : (
        <button class="btn pri">Create server</button>
      )}
    </div>
  )
}

const PackageSummary = ({ of: p }: { of: Sold }) => (
  <>
    {p.name}
    <br />
    <span class="muted">{size(p)}</span>
    <Price of={priceOf(p)} />
  </>
)
