// The order of an instance on one page, by a customer for itself, by a reseller or by staff. Choices are the
// address; each redraws what the others leave possible, with the reason.
import { pageOf, pageOfList } from '../../../src/compute/gpu-instances/model.ts'
import {
  createInstance,
  createResellerInstance,
  orderInstance,
} from '../../../src/compute/gpu-instances/order/create.ts'
import { listOrderableOffers } from '../../../src/compute/gpu-instances/order/offers.ts'
import { listCustomers } from '../../../src/identity/customers/customers.ts'
import { getResellerAccount, listResellerCustomers } from '../../../src/identity/resellers/own.ts'
import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { type Answers, ifNamed, page, reading, readingAll } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Price } from '../../catalog/goods.tsx'
import { CallForm } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Checks, Radios } from '../../components/choices.tsx'
import { Field, TextArea } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Empty, Facts, Note, Section } from '../../components/section.tsx'
import { count, exactGb, list, mb, smallSize } from '../../components/words.ts'
import {
  type Customers,
  chosenCustomer,
  customersFound,
  type Itself,
  namedCustomer,
  OwnerChoice,
  withNamed,
} from '../workloads/owner-choice.tsx'
import { elsewhere } from './area.ts'
import { TemplatePicks } from './template-picks.tsx'

type Offers = Answers<{ offers: typeof listOrderableOffers }>['offers']
type Offer = Offers['data'][number]
type Keys = Answers<{ keys: typeof listSshKeys }>['keys'] | undefined
type OrderProps = {
  area: Area
  offers: Offers
  /** Of the chosen owner. */
  keys: Keys
  customers?: Customers
  itself?: Itself
}

export const newInstancePage = page({
  path: '/gpu/new',
  elsewhere,
  reads: {
    offers: readingAll(listOrderableOffers),
    keys: reading(listSshKeys, ({ actor }) => ({ params: { id: actor.accountId } })),
  },
  title: 'Create GPU instance',
  nav: 'gpu-instances',
  view: (data) => <OrderPage {...data} area="" />,
})

export const resellerNewInstancePage = page({
  path: '/reseller/gpu/new',
  reads: {
    offers: readingAll(listOrderableOffers),
    customers: reading(listResellerCustomers, customersFound),
    named: namedCustomer,
    account: reading(getResellerAccount, () => ({})),
    keys: ifNamed(listSshKeys, ({ query }) => (query['ownerId'] ? { params: { id: query['ownerId'] } } : undefined)),
  },
  title: 'Create GPU instance',
  nav: 'gpu-instances',
  view: ({ account, ...data }) => <OrderPage {...data} customers={withNamed(data)} itself={account} area="/reseller" />,
})

export const staffNewInstancePage = page({
  path: '/admin/gpu-instances/new',
  reads: {
    offers: readingAll(listOrderableOffers),
    customers: reading(listCustomers, customersFound),
    named: namedCustomer,
    keys: ifNamed(listSshKeys, ({ query }) => (query['ownerId'] ? { params: { id: query['ownerId'] } } : undefined)),
  },
  title: 'Create GPU instance',
  nav: 'gpu-instances',
  view: (data) => <OrderPage {...data} customers={withNamed(data)} area="/admin" />,
})

const orders: Record<Area, Operation> = {
  '': orderInstance,
  '/reseller': createResellerInstance,
  '/admin': createInstance,
}

/** Why an offer cannot be chosen; undefined: it can. */
const offerObstacle = (o: Offer): string | undefined =>
  !o.withinLimit
    ? 'More than your limit.'
    : o.locations.some(({ available }) => available) && o.images.length
      ? undefined
      : 'Sold out.'

/** The choices in the page's address; where there is none, the first choice that can work. */
function chosen(of: OrderProps, query: Readonly<Record<string, string>>) {
  const { data } = of.offers
  const possible = data.filter((o) => !offerObstacle(o))
  const offer = possible.find(({ id }) => id === query['offerId']) ?? possible[0]
  const open = offer?.locations.filter(({ available }) => available) ?? []
  const where = open.find(({ id }) => id === query['nodeGroupId']) ?? open[0]
  const image = offer?.images.find(({ id }) => id === query['imageId']) ?? offer?.images[0]
  const customer = of.customers && chosenCustomer({ customers: of.customers, itself: of.itself }, query['ownerId'])
  return { offer, where, image, customer }
}
type Choice = ReturnType<typeof chosen>
type Part = { of: OrderProps; choice: Choice }

function OrderPage(of: OrderProps) {
  const at = useAt()
  const { data, notOrderable } = of.offers
  return (
    <>
      <Head title="Create GPU instance" trail={[['GPU instances', pageOfList(of.area)]]} />
      {!at.may(orders[of.area]) ? (
        <p class="sec first">Your account does not include ordering GPU instances.</p>
      ) : data.length === 0 ? (
        <Empty title="Nothing can be ordered here">
          {notOrderable ??
            (of.area === '/admin' ? (
              <>
                An order names an offer. <Link to="/admin/gpu-offers">Add a GPU offer</Link> first.
              </>
            ) : (
              'No offer can be ordered in the panel now. Ask your provider.'
            ))}
        </Empty>
      ) : (
        <OrderForm of={of} choice={chosen(of, at.query)} />
      )}
    </>
  )
}

const OrderForm = ({ of, choice }: Part) => (
  <CallForm op={orders[of.area]} class="order" redraws done="Order accepted" leadsTo={pageOf(of.area, '{instanceId}')}>
    <div>
      {of.offers.notOrderable && <Note level="warn">{of.offers.notOrderable}</Note>}
      {of.customers && (
        <Section id="owner" title="Customer">
          <OwnerChoice
            customers={of.customers}
            itself={of.itself}
            none={of.area === '/admin' ? 'There is no customer yet.' : 'You have no customer yet. Order for yourself.'}
            value={choice.customer?.id}
          />
        </Section>
      )}
      <Section id="offer" title="Offer" count={limitWords(of.offers.limit)}>
        <OfferChoice offers={of.offers.data} value={choice.offer?.id} />
      </Section>
      <Section id="place" title="Location">
        <Radios
          scope="new"
          name="nodeGroupId"
          quiet
          label="Location"
          value={choice.where?.id}
          options={(choice.offer?.locations ?? []).map((l) => ({
            value: l.id,
            label: l.name,
            why: l.available ? undefined : 'Sold out.',
          }))}
          empty={<p class="muted">{choice.offer ? 'No location has this offer.' : 'Choose an offer first.'}</p>}
        />
      </Section>
      <Section id="template" title="Template" count="What it runs.">
        <TemplatePicks images={choice.offer?.images ?? []} value={choice.image?.id} />
      </Section>
      <Section id="access" title="Name and access">
        <NameAndAccess of={of} choice={choice} />
      </Section>
    </div>
    <aside aria-label="Summary">
      <Summary of={of} choice={choice} />
    </aside>
  </CallForm>
)

const limitWords = ({ gpus, used }: Offers['limit']) =>
  gpus === null ? undefined : `${used} of ${count(gpus, 'GPU')} in use.`

const cardsOf = (o: Offer) => `${o.cards} × ${o.model}`
const OfferChoice = ({ offers, value }: { offers: readonly Offer[]; value: string | undefined }) => (
  <Radios
    scope="new"
    name="offerId"
    quiet
    label="Offer"
    value={value}
    options={offers.map((o) => ({
      value: o.id,
      label: o.name,
      hint: (
        <>
          {cardsOf(o)}
          {o.cardMemoryMb !== null && (
            <>
              <br />
              {mb(o.cardMemoryMb)} GPU memory{o.cards > 1 && ' each'}
            </>
          )}
          <br />
          {smallSize(o)} · {exactGb(o.workspaceGb)} disk
          <br />
          {o.ownIpv4 ? 'Own IPv4 address' : count(o.ports, 'mapped port')}
          <Price of={o.price} />
        </>
      ),
      why: offerObstacle(o),
    }))}
  />
)

function NameAndAccess({ of: { area, keys }, choice: { customer, image } }: Part) {
  const at = useAt()
  const others = image?.ports.filter((port) => port !== 22) ?? []
  const ownerId = area === '' ? at.actor.accountId : customer?.id
  const keysHref = area === '' ? '/account/ssh-keys' : `${area}/customers/${ownerId}#keys`
  return (
    <div class="stack">
      <Field
        scope="new"
        name="name"
        label="Name"
        nullable
        hint="Shown in lists. Leave empty for one with its number."
      />
      {ownerId === undefined ? (
        <p class="muted">SSH keys: choose the customer first.</p>
      ) : (
        <Checks
          scope={`new-${ownerId}`}
          name="sshKeyIds"
          label="SSH keys"
          hint="They log in as root."
          values={keys?.data.map(({ id }) => id) ?? []}
          options={keys?.data.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          empty={
            <p class="muted">
              None yet. <Link href={keysHref}>Add an SSH key</Link> to log in by SSH. It can be chosen later too.
            </p>
          }
        />
      )}
      <Field
        scope="new"
        name="httpPorts"
        label="Ports with an HTTP name"
        as="numbers"
        nullable
        placeholder={others.join(', ')}
        hint="Empty: those of the template. Where the location serves names, anyone who has the link can open it."
      />
      <TextArea
        scope="new"
        name="environment"
        label="Environment variables"
        as="lines"
        mono
        rows={3}
        hint="One in each line, as NAME=value. Leave empty for those of the template. They can be changed later."
      />
    </div>
  )
}

/** Stays in view, and says what is missing. */
function Summary({ of: { offers, customers }, choice: { offer, where, image, customer } }: Part) {
  const missing = [customers && !customer && 'a customer', !offer && 'an offer', !where && 'a location'].filter(
    (m) => typeof m === 'string',
  )
  const why = offers.notOrderable
    ? 'Nothing new can be ordered now.'
    : missing.length > 0 && `Choose ${list(missing)} first.`
  const nothing = <span class="muted">Not chosen</span>
  return (
    <div class="sum stack">
      <h2>Summary</h2>
      <Facts
        of={[
          ['Customer', customers && (customer?.name ?? nothing)],
          ['Offer', offer ? <OfferSummary of={offer} /> : nothing],
          ['Location', where?.name ?? nothing],
          ['Template', image?.name ?? nothing],
        ]}
      />
      <p class="hint">It is billed from its creation until it is deleted, also while it is stopped.</p>
      {why ? (
        <>
          <button type="button" class="btn pri" aria-disabled="true" data-why={why}>
            Create GPU instance
          </button>
          <p class="hint">{why}</p>
        </>
      ) : (
        <button class="btn pri">Create GPU instance</button>
      )}
    </div>
  )
}

const OfferSummary = ({ of: o }: { of: Offer }) => (
  <>
    {o.name}
    <br />
    <span class="muted">{cardsOf(o)}</span>
    <Price of={o.price} />
  </>
)
