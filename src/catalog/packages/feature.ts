import { mayCall } from '../../kernel/api/operation.ts'
import { feature } from '../../kernel/feature.ts'
import { changePackage, createPackage, listPackages } from './packages.ts'
import { isAnyPackageOnSale, packageChoices, packageTarget } from './queries.ts'
import { packages } from './tables.ts'

const errors = {
  package_not_found: { status: 404, when: 'There is no such package.', remedy: 'Check the id.' },
} as const

const ids = {
  package: { prefix: 'pkg', sample: 'KVM 2G' },
} as const

const scopes = {
  'packages:write': { words: 'Manage packages' },
} as const

const permissions = {
  'packages.write': { words: 'Manage packages', opens: ['packages:write'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    packages: { scopes: typeof scopes; permissions: typeof permissions; ids: typeof ids; errors: typeof errors }
  }
}

export const packagesFeature = feature({
  name: 'packages',
  scopes,
  permissions,
  ids,
  samples: {
    billingProductId: 'vendor:42',
    ipv6Prefix: 64,
    archived: false,
    vcpus: 2,
    memoryMb: 2048,
    diskGb: 40,
    trafficGb: 2000,
    portMbps: 1000,
  },
  errors,
  tables: [packages],
  operations: [createPackage, listPackages, changePackage],
  auditTargets: [packageTarget],
  choices: [{ type: 'package', mayRead: (actor) => mayCall(listPackages, actor), ...packageChoices }],
  checklist: [
    {
      kinds: ['staff'],
      position: 60,
      by: createPackage,
      title: 'Package',
      words: 'What a server has and how much of it.',
      done: ({ tx }) => isAnyPackageOnSale(tx),
      href: () => '/admin/packages',
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 240,
      name: 'packages',
      title: 'Packages',
      href: '/admin/packages',
      icon: 'package',
      sees: listPackages,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 80,
      title: 'Add package',
      page: '/admin/packages/new',
      does: createPackage,
    },
  ],
})
