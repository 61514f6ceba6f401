import { feature } from '../../kernel/feature.ts'
import { changePackage, createPackage, listPackages } from './packages.ts'
import { packages } from './tables.ts'

export const packagesFeature = feature({
  name: 'packages',
  tables: [packages],
  operations: [createPackage, listPackages, changePackage],
})
