import { nearIn } from '../../../src/identity/resellers/quota.ts'
import { createReseller, listResellers } from '../../../src/identity/resellers/resellers.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import { count } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { empty } from '../../html/card.ts'
import { check, field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { filters, filterText, pager, table } from '../../html/table.ts'
import { time } from '../../html/time.ts'

type Reseller = Answers<{ r: typeof listResellers }>['r']['data'][number]

const add = (at: At) =>
  act(at, createReseller, {}, 'Add reseller', {
    icon: 'plus',
    tone: 'pri',
    done: '{name} is added',
    leadsTo: '/admin/resellers/{id}',
    fields: html`<p class="muted">What it may sell, where and how much of it is set next, on its page.</p>${field('reseller', 'name', { label: 'Name', required: true })}${field('reseller', 'email', { label: 'E-mail address', type: 'email', required: true, hint: 'They sign in with it.' })}${field('reseller', 'organization', { label: 'Organization', nullable: true })}${field('reseller', 'externalId', { label: 'External id', nullable: true, hint: "The billing system's own identifier." })}${check('reseller', 'invite', { label: 'Mail a link to choose a password', checked: true })}`,
  })

export const resellerState = ({ suspendedAt, lockedAt }: Reseller) =>
  html`${suspendedAt ? pill('hold', 'hold', 'Suspended') : pill('ok', 'dot', 'Active')}${lockedAt && html` ${pill('hold', 'hold', 'Locked')}`}`

const share = (used: number, limit: number | null) =>
  html`${used.toLocaleString('en')}${limit !== null && html` <span class="muted">of ${limit.toLocaleString('en')}</span>`}`

export const resellersPage = page({
  path: '/admin/resellers',
  reads: { resellers: listResellers },
  title: 'Resellers',
  nav: 'resellers',
  view: ({ resellers, at }) => html`
    ${head({ title: 'Resellers', actions: add(at), sub: 'They sell your servers to customers of their own, within quotas.' })}
    <section class="sec" aria-label="Resellers">
      ${filters(at, html`${filterText(at, 'q', 'Search resellers', 'Name, organization or e-mail')}${filterText(at, 'externalId', 'External id', 'External id')}`, count(resellers.total, 'reseller'))}
      ${
        resellers.data.length
          ? table<Reseller>(
              'Resellers',
              resellers.data,
              [
                {
                  title: 'Reseller',
                  main: true,
                  cell: (r) =>
                    html`<a href="/admin/resellers/${r.id}">${r.name}</a>${r.organization && html`<small>${r.organization}</small>`}`,
                },
                { title: 'E-mail', cell: (r) => r.email },
                { title: 'State', cell: (r) => resellerState(r) },
                { title: 'Customers', num: true, cell: (r) => share(r.used.customers, r.quotas.customers) },
                { title: 'Servers', num: true, cell: (r) => share(r.used.servers, r.quotas.servers) },
                {
                  title: 'Near a quota',
                  cell: (r) => {
                    const near = nearIn(r)
                    return near.length ? html`${near.map((n) => html`<small class="tight">${n.words}</small>`)}` : '–'
                  },
                },
                { title: 'Since', cell: (r) => time(r.createdAt, at) },
              ],
              (r) => r.id,
            )
          : Object.keys(at.query).length
            ? empty('No reseller matches this search.', html`<a class="btn" href="${at.path}">Clear filters</a>`)
            : empty('A reseller sells your servers to customers of its own. You say what, where and how much.', add(at))
      }
      ${pager(at, resellers)}
    </section>`,
})
