import { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { head } from '../../html/head.ts'
import { locationsCard, packagesCard } from './terms.ts'

export const resellerPackagesPage = page({
  path: '/reseller/packages',
  reads: { account: getResellerAccount },
  title: 'Packages',
  nav: 'packages',
  view: ({ account }) => html`
    ${head({ title: 'Packages', sub: 'What you may sell and where. Billing systems order by these ids; your provider sets the list.' })}
    ${packagesCard(account.packages, 'There is no package that you may sell yet. Ask your provider.')}
    ${locationsCard(account.locations, 'There is no location that you may sell in yet. Ask your provider.')}`,
})
