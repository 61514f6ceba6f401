import { createResellerServer, createServer } from '../../../src/compute/servers/create.ts'
import { listAllServers, listServers } from '../../../src/compute/servers/list.ts'
import { setAllowance } from '../../../src/identity/accounts/allowance.ts'
import { changeCustomer, getCustomer, lockCustomer, unlockCustomer } from '../../../src/identity/accounts/customers.ts'
import { mayChange } from '../../../src/identity/accounts/model.ts'
import { inviteCustomer } from '../../../src/identity/auth/links/password-links.ts'
import { resetCustomerFactors } from '../../../src/identity/auth/second-factors/reset-factors.ts'
import { openSupport } from '../../../src/identity/auth/support-session.ts'
import type { changeReseller } from '../../../src/identity/resellers/resellers.ts'
import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, ifAllowed, page } from '../../../src/kernel/web/page.ts'
import { count, exactGb, exactMb, traffic } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { card, copyable, empty, inside, kv, notice } from '../../html/card.ts'
import { field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { icon } from '../../html/icon.ts'
import { serverTable } from '../../html/lists.ts'
import { live } from '../../html/live.ts'
import { pill } from '../../html/state.ts'
import { time } from '../../html/time.ts'
import { lostFactor } from '../sign-in/lost-factor.ts'
import { keysCard } from '../ssh-keys/card.ts'

const itsServers = ({ params }: At) => ({ query: { ownerId: params['id'] ?? '', limit: '100' } })
const reads = { customer: getCustomer, keys: ifAllowed(listSshKeys) }
type Data = Answers<typeof reads> & { servers: Answers<{ s: typeof listServers }>['s'] | undefined; at: At }

export const customerPage = page({
  path: '/admin/customers/{id}',
  reads: { ...reads, servers: ifAllowed(listAllServers, itsServers) },
  title: ({ customer }) => customer.name,
  nav: 'customers',
  view: (data) => view(data, '/admin'),
})

export const resellerCustomerPage = page({
  path: '/reseller/customers/{id}',
  reads: { ...reads, servers: ifAllowed(listServers, itsServers) },
  title: ({ customer }) => customer.name,
  nav: 'customers',
  view: (data) => view(data, '/reseller'),
})

const orders = { '/admin': createServer, '/reseller': createResellerServer } as const

function view(data: Data, area: keyof typeof orders): Html {
  const { customer: c, servers, keys, at } = data
  // A reseller's own account is no customer in its care; and among staff resellers are changed by who manages resellers.
  const changes = c.id !== at.actor.accountId && mayChange(at.actor, c)
  return html`
      ${head({
        title: c.name,
        trail: [['Customers', `${area}/customers`]],
        state: c.lockedAt && pill('hold', 'hold', 'Locked'),
        sub: c.organization ? html`${c.organization} · ${c.email}` : c.email,
        actions: html`${area === '/admin' && c.kind === 'reseller' && html`<a class="btn" href="/admin/resellers/${c.id}">Open reseller</a>`}${support(data)}${changes && html`${edit(data)}${c.lockedAt ? unlock(data) : lock(data)}`}${
          at.may(orders[area]) &&
          !c.lockedAt &&
          html`<a class="btn pri" href="${area}/servers/new?owner=${encodeURIComponent(c.email)}&ownerId=${c.id}">${icon('plus')}Create server</a>`
        }`,
      })}
      ${c.lockedAt && html`<div class="sec">${notice('warn', html`<strong>Locked ${time(c.lockedAt, at)}: nothing can be ordered for ${c.name}.</strong>${c.lockReason && html`<br>${c.lockReason}`}`)}</div>`}
      ${servers && card({ id: 'servers', title: 'Servers', count: servers.total || undefined, actions: servers.nextCursor && html`<a href="${area}/servers?ownerId=${c.id}">Show all</a>` }, live(at, 'servers-list', 4, servers.data.length ? serverTable(servers.data, area, { owner: false }) : empty(`${c.name} has no server yet.`), ''))}
      ${keys && keysCard(at, c.id, keys, mayChange(at.actor, c))}
      ${card(
        { id: 'details', title: 'Details' },
        inside(
          kv([
            ['E-mail', html`${copyable(c.email, 'e-mail address')} ${changes && changeEmail(at, changeCustomer, c)}`],
            ['Organization', c.organization],
            ['Kind', area === '/admin' && (c.kind === 'reseller' ? 'Reseller' : 'Customer')],
            [
              'Reseller',
              area === '/admin' &&
                c.resellerId &&
                html`<a href="/admin/resellers/${c.resellerId}">${c.resellerName}</a>`,
            ],
            ['External id', c.externalId && copyable(c.externalId, 'external id')],
            ['Signing in', c.id !== at.actor.accountId && signingIn(data, changes)],
            ['Allowance', changes && allowance(data)],
            ['Since', time(c.createdAt, at)],
            ['Id', copyable(c.id, 'id')],
          ]),
        ),
      )}`
}

const edit = ({ customer: c, at }: Data): Html =>
  act(at, changeCustomer, { id: c.id }, 'Edit', {
    title: `Edit ${c.name}`,
    submit: 'Save',
    done: 'Saved',
    fields: html`${field('edit', 'name', { label: 'Name', required: true, value: c.name })}${field('edit', 'organization', { label: 'Organization', nullable: true, value: c.organization })}${field('edit', 'externalId', { label: 'External id', nullable: true, value: c.externalId, hint: "The billing system's own identifier: it finds the customer by it." })}`,
  })

/** By itself, because it asks once more who one is: whoever gets their mail can have their password. */
export const changeEmail = (
  at: At,
  op: typeof changeCustomer | typeof changeReseller,
  it: { id: string; name: string; email: string },
): Html =>
  act(at, op, { id: it.id }, 'Change', {
    of: 'the e-mail address',
    part: 'email',
    title: `E-mail address of ${it.name}`,
    submit: 'Save',
    done: 'Saved',
    fields: field('email', 'email', {
      label: 'E-mail address',
      type: 'email',
      required: true,
      value: it.email,
      hint: 'They sign in with it.',
    }),
  })

const support = ({ customer: c, at }: Data): Html =>
  act(at, openSupport, { id: c.id }, 'Support session', {
    title: `Open a support session for ${c.name}?`,
    submit: 'Open session',
    leadsTo: '{home}',
    confirm: {
      consequences: [
        `For 60 minutes you see and do what ${c.name} can, except passwords, keys, tokens and other secrets.`,
        'The audit log records everything as done by you in their account, with the reason.',
      ],
    },
    fields: field('support', 'reason', {
      label: 'Reason',
      required: true,
      placeholder: 'Ticket 4711',
      hint: 'Kept in the audit log.',
    }),
  })

/** How they get in, and what helps somebody who cannot. */
const signingIn = ({ customer: c, at }: Data, changes: boolean): Html => html`
  ${c.hasPassword ? 'With a password' : 'No password yet'}${c.secondFactor ? ' and a second factor' : c.hasPassword && ', no second factor'} · ${c.seenAt ? html`last seen ${time(c.seenAt, at)}` : 'not signed in lately'}
  ${changes && html`<div class="bar">${!c.hasPassword && act(at, inviteCustomer, { id: c.id }, 'Mail an invitation', { title: `Mail ${c.name} a link to choose a password?`, done: 'An invitation is on its way', confirm: { consequences: ['The link works once, for 7 days. An earlier link stops working.', 'Somebody who already has a password asks for a new one on the sign-in page.'] } })}${c.secondFactor && act(at, resetCustomerFactors, { id: c.id }, 'Lost second factor', lostFactor(c.name, 'lost'))}</div>`}`

const allowance = ({ customer: c, at }: Data): Html => {
  const a = c.allowance
  const parts = [
    a.vcpus && `${a.vcpus} vCPU`,
    a.memoryMb && exactMb(a.memoryMb),
    a.diskGb && `${exactGb(a.diskGb)} disk`,
    a.trafficGb && `${traffic(a.trafficGb)} traffic`,
    a.ipv4 && count(a.ipv4, 'IPv4 address', 'IPv4 addresses'),
  ].filter(Boolean)
  const amount = (name: keyof typeof a, label: string, unit?: string) =>
    field('allowance', name, { label, as: 'number', min: 0, value: a[name], ...(unit && { unit }) })
  return html`${parts.length ? parts.join(' · ') : 'None'} ${act(at, setAllowance, { id: c.id }, 'Change', {
    of: 'allowance',
    title: `Allowance of ${c.name}`,
    submit: 'Save',
    done: 'Saved',
    fields: html`<p class="muted">What ${c.name} has bought beside its packages. Billing systems set it for resource packs.</p>${amount('vcpus', 'vCPU')}${amount('memoryMb', 'Memory', 'MB')}${amount('diskGb', 'Disk', 'GB')}${amount('trafficGb', 'Traffic', 'GB')}${amount('ipv4', 'IPv4 addresses')}`,
  })}`
}

const lock = ({ customer: c, at }: Data): Html =>
  act(at, lockCustomer, { id: c.id }, 'Lock', {
    icon: 'lock',
    tone: 'bad',
    title: `Lock ${c.name}?`,
    done: `${c.name} is locked`,
    confirm: {
      keep: 'Keep open',
      consequences: [
        'Orders for this account are refused, including those of the billing system.',
        c.servers > 0 ? 'Its servers keep running. Suspend those that should not.' : false,
        'It can be unlocked.',
      ],
    },
    fields: field('lock', 'reason', {
      label: 'Reason',
      required: true,
      hint: 'Shown on this page, and to the customer who asks the API.',
    }),
  })

const unlock = ({ customer: c, at }: Data): Html =>
  act(at, unlockCustomer, { id: c.id }, 'Unlock', {
    icon: 'play',
    title: `Unlock ${c.name}?`,
    done: `${c.name} is unlocked`,
    confirm: {
      keep: 'Keep locked',
      consequences: [
        'Orders for this account are accepted again.',
        'The reason is removed here; the audit log keeps it.',
      ],
    },
  })
