// A reseller's first page: what needs attention, how much of its quotas is used, and how it stands.
import { listAnnouncements } from '../../src/announcements/announcements.ts'
import { type Html, html } from '../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading } from '../../src/kernel/web/page.ts'
import { getResellerAccount, listResellerCustomers } from '../../src/resellers/own.ts'
import { createResellerServer } from '../../src/servers/create.ts'
import { listServers } from '../../src/servers/list.ts'
import { announced } from '../announcements/banner.ts'
import { addCustomer } from '../customers/list.ts'
import { card, empty, notice } from '../parts/card.ts'
import { head } from '../parts/head.ts'
import { icon } from '../parts/icon.ts'
import { live } from '../parts/live.ts'
import { time } from '../parts/time.ts'
import { nearQuotas, quotaCard, suspendedWords } from './terms.ts'

/** Enough to show what is wrong; the lists have the rest. */
const SHOWN = '20'
const having = (status: string, limit: string) => reading(listServers, () => ({ query: { status, limit } }))
const reads = {
  announcements: reading(listAnnouncements, () => ({})),
  account: reading(getResellerAccount, () => ({})),
  running: having('running', '1'),
  suspended: having('suspended', '1'),
  failed: having('failed', SHOWN),
  locked: reading(listResellerCustomers, () => ({ query: { locked: 'yes', limit: SHOWN } })),
}
type Data = Answers<typeof reads> & { at: At }

export const resellerOverviewPage = page({
  path: '/reseller',
  reads,
  title: 'Overview',
  nav: 'overview',
  view: (data) => html`
    ${head({
      title: 'Overview',
      actions:
        !data.account.suspendedAt &&
        html`${addCustomer(data.at, '/reseller', {})}${
          data.at.may(createResellerServer) && html`<a class="btn pri" href="/reseller/servers/new">${icon('plus')}Create server</a>`
        }`,
    })}
    ${announced(data.announcements)}
    ${live(data.at, 'overview', 10, html`${attention(data)}<div class="cols">${figures(data)}${quotaCard(data.account)}</div>`)}`,
})

function attention({ account, failed, locked, at }: Data): Html {
  const rows = [
    ...(account.suspendedAt
      ? [
          notice(
            'bad',
            html`${suspendedWords} <span class="muted">Since ${time(account.suspendedAt, at)}${account.suspendReason && `: ${account.suspendReason}`}.</span>`,
          ),
        ]
      : []),
    ...failed.data.map((s) =>
      notice(
        'bad',
        html`<strong>The installation of ${s.hostname} failed.</strong><br>${s.failure ?? 'Reinstall or terminate it.'}`,
        html`<a href="/reseller/servers/${s.id}">Open server</a>`,
      ),
    ),
    ...nearQuotas(account).map((q) =>
      notice(
        q.full ? 'bad' : 'warn',
        html`<strong>${q.words}.</strong><br>${q.full ? 'What needs more of it is refused.' : 'When it is used up, what needs more of it is refused.'} Free some, or ask your provider for more.`,
      ),
    ),
    ...locked.data.map((c) =>
      notice(
        'warn',
        html`<strong>${c.name} is locked.</strong>${c.lockedAt && html` <span class="muted">Since ${time(c.lockedAt, at)}.</span>`}<br>Orders for it are refused${c.lockReason && `: ${c.lockReason}`}.`,
        html`<a href="/reseller/customers/${c.id}">Open customer</a>`,
      ),
    ),
  ]
  return card(
    { id: 'attention', title: 'Needs attention', count: rows.length || undefined },
    rows.length ? rows : empty('Nothing needs attention.'),
  )
}

function figures({ account, running, suspended, failed, locked }: Data): Html {
  const figure = (href: string, n: number, words: string) =>
    html`<a href="${href}"><b>${n.toLocaleString('en')}</b><span>${words}</span></a>`
  const { customers, servers } = account.used
  return card(
    { id: 'figures', title: 'Now' },
    html`<div class="facts">${figure('/reseller/customers', customers, customers === 1 ? 'customer' : 'customers')}${figure('/reseller/customers?locked=yes', locked.total, 'locked')}${figure('/reseller/servers', servers, servers === 1 ? 'server' : 'servers')}${figure('/reseller/servers?status=running', running.total, 'running')}${figure('/reseller/servers?status=suspended', suspended.total, 'suspended')}${figure('/reseller/servers?status=failed', failed.total, 'failed')}</div>`,
  )
}
