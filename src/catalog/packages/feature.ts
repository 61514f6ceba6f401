import { feature } from '../../kernel/feature.ts'
import { changePackage, createPackage, listPackages } from './packages.ts'
import { packages } from './tables.ts'

const errors = {
  package_not_found: { status: 404, when: 'There is no such package.', remedy: 'Check the id.' },
} as const
type Errors = typeof errors
declare module '../../kernel/register.ts' {
  interface ErrorCodes extends Errors {}
}

export const packagesFeature = feature({
  name: 'packages',
  errors,
  tables: [packages],
  operations: [createPackage, listPackages, changePackage],
})
