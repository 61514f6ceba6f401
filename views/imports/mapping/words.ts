import type { listMappedOwners, listMappedPackages } from '../../../src/imports/mapping/mapping.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'

export type SourcePackage = Answers<{ packages: typeof listMappedPackages }>['packages']['data'][number]
export type Owner = Answers<{ owners: typeof listMappedOwners }>['owners']['data'][number]

/** The name of an owner at the source, or what tells them apart there. */
export const nameOf = ({ name, email, sourceId }: Owner) => name ?? email ?? sourceId
