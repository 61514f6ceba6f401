// A reseller's first page: what needs attention, how much of its quotas is used, and how it stands.

import { createResellerServer } from '../../../src/compute/servers/create.ts'
import { getResellerAccount, listResellerCustomers } from '../../../src/identity/resellers/own.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { getOwnOverview } from '../../../src/platform/overview/own-overview.ts'
import { attentionAndChecklist } from '../../html/attention.ts'
import { card, fact, facts } from '../../html/card.ts'
import { head } from '../../html/head.ts'
import { icon } from '../../html/icon.ts'
import { announced } from '../../html/lists.ts'
import { live } from '../../html/live.ts'
import { addCustomer } from '../customers/list.ts'
import { quotaCard } from './terms.ts'

const reads = {
  announcements: reading(listAnnouncements, () => ({})),
  overview: reading(getOwnOverview, () => ({})),
  account: reading(getResellerAccount, () => ({})),
  locked: reading(listResellerCustomers, () => ({ query: { locked: 'yes', limit: '1' } })),
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
          data.at.may(createResellerServer) &&
          html`<a class="btn pri" href="/reseller/servers/new">${icon('plus')}Create server</a>`
        }`,
    })}
    ${announced(data.announcements)}
    ${live(
      data.at,
      'overview',
      10,
      html`${attentionAndChecklist(data.overview, data.at, 'First steps')}<div class="cols">${figures(data)}${quotaCard(data.account)}</div>`,
    )}`,
})

function figures({ account, overview, locked }: Data): Html {
  const { customers, servers } = account.used
  const having = (status: string) => fact(`/reseller/servers?status=${status}`, overview.servers[status] ?? 0, status)
  return card(
    { id: 'figures', title: 'Now' },
    facts([
      fact('/reseller/customers', customers, customers === 1 ? 'customer' : 'customers'),
      fact('/reseller/customers?locked=yes', locked.total, 'locked'),
      fact('/reseller/servers', servers, servers === 1 ? 'server' : 'servers'),
      ...['running', 'suspended', 'failed'].map(having),
    ]),
  )
}
