// A new package, as a page: its fields are many, so they stand in groups.
import type { AssetName } from '../../../public/assets.ts'
import { packageFields } from '../../../src/catalog/packages/fields.ts'
import { createPackage, listPackages } from '../../../src/catalog/packages/packages.ts'
import { allIfAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listPools } from '../../../src/network/ip-pools/pools.ts'
import { CallForm } from '../../components/action.tsx'
import { ListedFields } from '../../components/forms/listed-fields.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Note } from '../../components/section.tsx'

export const newPackagePage = page({
  path: '/admin/packages/new',
  reads: { packages: reading(listPackages, () => ({ query: { limit: '1' } })), pools: allIfAllowed(listPools) },
  title: 'New package',
  nav: 'packages',
  files: ['forms.css'] satisfies AssetName[],
  view: ({ pools }) => <NewPackage hasIpv6={!pools || pools.data.some(({ version }) => version === 6)} />,
})

/** Where no pool has IPv6, a package that asks for it could not be ordered. */
function NewPackage({ hasIpv6 }: { hasIpv6: boolean }) {
  const mayCreate = useAt().may(createPackage)
  return (
    <>
      <Head
        title="New package"
        trail={[['Packages', '/admin/packages']]}
        sub={<span>Four fields are enough: name, vCPUs, memory and disk. The rest has sensible values.</span>}
      />
      {mayCreate ? (
        <CallForm op={createPackage} done="{name} is added" leadsTo="/admin/packages">
          <ListedFields list={packageFields} scope="package" initial={hasIpv6 ? {} : { ipv6Prefix: '' }} />
          <div class="group">
            <span />
            <div class="bar">
              <button class="btn pri">
                <Icon name="plus" />
                Create package
              </button>
            </div>
          </div>
        </CallForm>
      ) : (
        <Note level="info">Your role may look at packages and not add one.</Note>
      )}
    </>
  )
}
