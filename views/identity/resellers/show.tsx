import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { listAllServers } from '../../../src/compute/servers/list.ts'
import { listCustomers } from '../../../src/identity/customers/customers.ts'
import { changeReseller, getReseller } from '../../../src/identity/resellers/resellers.ts'
import { type Answers, type At, allIfAllowed, ifAllowed, page } from '../../../src/kernel/web/page.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Empty, Facts, Note, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { ServerTable } from '../../compute/servers/table.tsx'
import { ChangeAccountEmail, SupportSession } from '../customers/actions.tsx'
import { CustomerTable } from '../customers/table.tsx'
import {
  ChangeLocations,
  ChangePackages,
  ChangeQuotas,
  EditReseller,
  SuspendReseller,
  UnsuspendReseller,
} from './actions.tsx'
import { ResellerState } from './list.tsx'
import { LocationSection, PackageSection, QuotaSection } from './own-terms.tsx'

const ofIt = ({ params }: At) => ({ query: { resellerId: params['id'] ?? '', limit: '20' } })
const reads = {
  reseller: getReseller,
  customers: ifAllowed(listCustomers, ofIt),
  servers: ifAllowed(listAllServers, ofIt),
  offer: allIfAllowed(listPackages),
}
type Data = Answers<typeof reads>
type Reseller = Data['reseller']

export const resellerPage = page({
  path: '/admin/resellers/{id}',
  reads,
  title: ({ reseller }) => reseller.name,
  nav: 'resellers',
  view: ({ reseller: r, customers, servers, offer }) => (
    <>
      <ResellerHead reseller={r} />
      {r.suspendedAt && <Suspended reseller={r} at={r.suspendedAt} />}
      <div class="split even">
        <QuotaSection terms={r} actions={<ChangeQuotas reseller={r} />} />
        <Details reseller={r} />
      </div>
      <PackageSection packages={r.packages} actions={<ChangePackages reseller={r} offered={offer?.data} />}>
        {r.name} may not sell any package yet: its orders are refused.
      </PackageSection>
      <LocationSection locations={r.locations} actions={<ChangeLocations reseller={r} offered={offer?.locations} />}>
        {r.name} may not sell in any location yet: its orders are refused.
      </LocationSection>
      {customers && <Customers reseller={r} customers={customers} />}
      {servers && <Servers reseller={r} servers={servers} />}
    </>
  ),
})

const ResellerHead = ({ reseller: r }: { reseller: Reseller }) => (
  <Head
    title={r.name}
    trail={[['Resellers', '/admin/resellers']]}
    state={<ResellerState of={r} tag />}
    sub={
      <>
        {r.organization && <span>{r.organization}</span>}
        <span>{r.email}</span>
      </>
    }
    actions={
      <>
        <Link class="btn" to="/admin/customers/{id}" params={{ id: r.id }}>
          Account
        </Link>
        <SupportSession customer={r} label="Sign in as reseller" />
        <EditReseller reseller={r} />
        {r.suspendedAt ? <UnsuspendReseller reseller={r} /> : <SuspendReseller reseller={r} />}
      </>
    }
  />
)

const Suspended = ({ reseller: r, at }: { reseller: Reseller; at: string }) => (
  <Note level="warn">
    <strong>
      Suspended <Time iso={at} />: {r.name} and its customers cannot order.
    </strong>{' '}
    Existing services continue.
    {r.suspendReason && (
      <>
        <br />
        {r.suspendReason}
      </>
    )}
  </Note>
)

const Details = ({ reseller: r }: { reseller: Reseller }) => (
  <Section id="details" title="Details">
    <Facts
      of={[
        [
          'E-mail',
          <span class="bar">
            <Copyable text={r.email} what="e-mail address" />
            <ChangeAccountEmail op={changeReseller} of={r} />
          </span>,
        ],
        ['Organization', r.organization],
        ['External id', r.externalId && <Copyable text={r.externalId} what="external id" />],
        ['Reseller since', <Time iso={r.createdAt} />],
        ['Id', <Copyable text={r.id} what="id" />],
      ]}
    />
  </Section>
)

type CustomersProps = { reseller: Reseller; customers: NonNullable<Data['customers']> }
const Customers = ({ reseller: r, customers }: CustomersProps) => (
  <Section
    id="customers"
    title="Customers"
    count={customers.total || undefined}
    actions={
      customers.nextCursor && (
        <Link to="/admin/customers" query={{ resellerId: r.id }}>
          Show all
        </Link>
      )
    }
    flush
  >
    {customers.data.length > 0 ? (
      <CustomerTable customers={customers.data} area="/admin" reseller={false} />
    ) : (
      <Empty>{r.name} has no customer yet.</Empty>
    )}
  </Section>
)

type ServersProps = { reseller: Reseller; servers: NonNullable<Data['servers']> }
const Servers = ({ reseller: r, servers }: ServersProps) => (
  <Section
    id="servers"
    title="Servers"
    count={servers.total || undefined}
    actions={
      servers.nextCursor && (
        <Link to="/admin/servers" query={{ resellerId: r.id }}>
          Show all
        </Link>
      )
    }
    flush
  >
    <Live id="servers-list" every={4} class="">
      {servers.data.length > 0 ? (
        <ServerTable servers={servers.data} area="/admin" />
      ) : (
        <Empty>Neither {r.name} nor its customers have a server yet.</Empty>
      )}
    </Live>
  </Section>
)
