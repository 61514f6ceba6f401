import { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { Head } from '../../components/head.tsx'
import { LocationSection, PackageSection } from './own-terms.tsx'

export const resellerPackagesPage = page({
  path: '/reseller/packages',
  reads: { account: getResellerAccount },
  title: 'Packages',
  nav: 'packages',
  view: ({ account }) => (
    <>
      <Head
        title="Packages"
        sub={<p>What you may sell, and where. Billing systems order by these ids; your provider sets the list.</p>}
      />
      <PackageSection packages={account.packages}>
        There is no package that you may sell yet. Ask your provider.
      </PackageSection>
      <LocationSection locations={account.locations}>
        There is no location where you may sell yet. Ask your provider.
      </LocationSection>
    </>
  ),
})
