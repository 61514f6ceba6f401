import { createResellerServer, createServer } from '../../../src/compute/servers/create.ts'
import { listAllServers, listServers } from '../../../src/compute/servers/list.ts'
import { mayChange } from '../../../src/identity/account-records/model.ts'
import { resetCustomerFactors } from '../../../src/identity/auth/second-factors/reset-factors.ts'
import { changeCustomer, getCustomer, inviteCustomer } from '../../../src/identity/customers/customers.ts'
import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import { type Answers, type At, ifAllowed, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Empty, Facts, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Time } from '../../components/time.tsx'
import { AddGroup } from '../../compute/placement-groups/words.tsx'
import { ServerTable } from '../../compute/servers/table.tsx'
import { LostFactor } from '../auth/second-factors/lost-factor.tsx'
import { KeySection } from '../ssh-keys/keys.tsx'
import { ChangeAccountEmail, EditCustomer, LockCustomer, SupportSession, UnlockCustomer } from './actions.tsx'
import type { SellingArea } from './add.tsx'
import { Allowance } from './bought-resources.tsx'
import { GpuLimit } from './gpu-limit.tsx'

const itsServers = ({ params }: At) => ({ query: { ownerId: params['id'] ?? '', limit: '100' } })
const reads = { customer: getCustomer, keys: ifAllowed(listSshKeys) }
type Servers = Answers<{ s: typeof listServers }>['s']
type Data = Answers<typeof reads> & { servers: Servers | undefined }
type Customer = Data['customer']

export const customerPage = page({
  path: '/admin/customers/{id}',
  reads: { ...reads, servers: ifAllowed(listAllServers, itsServers) },
  title: ({ customer }) => customer.name,
  nav: 'customers',
  view: (data) => <CustomerPage {...data} area="/admin" />,
})

export const resellerCustomerPage = page({
  path: '/reseller/customers/{id}',
  reads: { ...reads, servers: ifAllowed(listServers, itsServers) },
  title: ({ customer }) => customer.name,
  nav: 'customers',
  view: (data) => <CustomerPage {...data} area="/reseller" />,
})

/** A reseller does not manage its own account here; for staff, changing resellers takes a permission of its own. */
const useMayManage = (c: Customer) => {
  const { actor } = useAt()
  return c.id !== actor.accountId && mayChange(actor, c)
}

function CustomerPage({ customer: c, keys, servers, area }: Data & { area: SellingArea }) {
  const { actor } = useAt()
  return (
    <>
      <Head
        title={c.name}
        trail={[['Customers', `${area}/customers`]]}
        state={
          c.lockedAt && (
            <State tone="hold" shape="hold" tag>
              Locked
            </State>
          )
        }
        sub={
          <>
            {c.organization && <span>{c.organization}</span>}
            <span>{c.email}</span>
          </>
        }
        actions={<HeadActions customer={c} area={area} />}
      />
      {c.lockedAt && <Locked customer={c} at={c.lockedAt} />}
      {servers && <CustomerServers customer={c} servers={servers} area={area} />}
      {keys && <KeySection ownerId={c.id} keys={keys} mayChange={mayChange(actor, c)} />}
      <Details customer={c} area={area} />
    </>
  )
}

const orders = { '/admin': createServer, '/reseller': createResellerServer } as const

function HeadActions({ customer: c, area }: { customer: Customer; area: SellingArea }) {
  const mayManage = useMayManage(c)
  return (
    <>
      {area === '/admin' && c.kind === 'reseller' && (
        <Link class="btn" to="/admin/resellers/{id}" params={{ id: c.id }}>
          Open reseller
        </Link>
      )}
      <SupportSession customer={c} />
      {mayManage && (
        <>
          <EditCustomer customer={c} />
          {c.lockedAt ? <UnlockCustomer customer={c} /> : <LockCustomer customer={c} />}
        </>
      )}
      {useAt().may(orders[area]) && !c.lockedAt && (
        <Link class="btn pri" to={`${area}/servers/new`} query={{ owner: c.email, ownerId: c.id }}>
          <Icon name="plus" />
          Create server
        </Link>
      )}
    </>
  )
}

const Locked = ({ customer: c, at }: { customer: Customer; at: string }) => (
  <Note level="warn">
    <strong>
      Locked <Time iso={at} />: nothing can be ordered for {c.name}.
    </strong>
    {c.lockReason && (
      <>
        <br />
        {c.lockReason}
      </>
    )}
  </Note>
)

type ServersProps = { customer: Customer; servers: Servers; area: SellingArea }
const CustomerServers = ({ customer: c, servers, area }: ServersProps) => (
  <Section
    id="servers"
    title="Servers"
    count={servers.total || undefined}
    actions={
      <>
        {servers.nextCursor && (
          <Link to={`${area}/servers`} query={{ ownerId: c.id }}>
            Show all
          </Link>
        )}
        <AddGroup ownerId={c.id} small />
      </>
    }
    flush
  >
    <Live id="servers-list" every={4} class="">
      {servers.data.length > 0 ? (
        <ServerTable servers={servers.data} area={area} owner={false} />
      ) : (
        <Empty>{c.name} has no server yet.</Empty>
      )}
    </Live>
  </Section>
)

function Details({ customer: c, area }: { customer: Customer; area: SellingArea }) {
  const mayManage = useMayManage(c)
  const ofStaff = area === '/admin'
  return (
    <Section id="details" title="Details">
      <Facts
        of={[
          [
            'E-mail',
            <span class="bar">
              <Copyable text={c.email} what="e-mail address" />
              {mayManage && <ChangeAccountEmail op={changeCustomer} of={c} />}
            </span>,
          ],
          ['Organization', c.organization],
          ['Kind', ofStaff && (c.kind === 'reseller' ? 'Reseller' : 'Customer')],
          [
            'Reseller',
            ofStaff && c.resellerId && (
              <Link to="/admin/resellers/{id}" params={{ id: c.resellerId }}>
                {c.resellerName}
              </Link>
            ),
          ],
          ['External id', c.externalId && <Copyable text={c.externalId} what="external id" />],
          ['Sign-in', c.id !== useAt().actor.accountId && <SigningIn customer={c} mayManage={mayManage} />],
          ['Allowance', mayManage && <Allowance customer={c} />],
          ['GPU limit', mayManage && c.kind === 'customer' && <GpuLimit customer={c} />],
          ['Customer since', <Time iso={c.createdAt} />],
          ['Id', <Copyable text={c.id} what="id" />],
        ]}
      />
    </Section>
  )
}

/** How the customer signs in, and help for one who cannot. */
const SigningIn = ({ customer: c, mayManage }: { customer: Customer; mayManage: boolean }) => (
  <span class="bar">
    <span>
      {c.hasPassword ? 'With a password' : 'No password yet'}
      {c.secondFactor ? ' and a second factor' : c.hasPassword && ', no second factor'} ·{' '}
      {c.seenAt ? (
        <>
          last seen <Time iso={c.seenAt} />
        </>
      ) : (
        'not signed in recently'
      )}
    </span>
    {mayManage && !c.hasPassword && <SendInvitation customer={c} />}
    {mayManage && c.secondFactor && (
      <LostFactor op={resetCustomerFactors} id={c.id} name={c.name} label="Lost second factor" />
    )}
  </span>
)

const SendInvitation = ({ customer: c }: { customer: Customer }) => (
  <Action
    op={inviteCustomer}
    params={{ id: c.id }}
    label="Send invitation"
    small
    title={`Send ${c.name} a link to choose a password?`}
    done="An invitation is on its way"
    confirm={{
      consequences: [
        'The link works once, for 7 days. An earlier link stops working.',
        'Someone who already has a password requests a new one on the sign-in page.',
      ],
    }}
  />
)
