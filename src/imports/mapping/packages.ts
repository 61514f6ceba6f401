// Which own package each package of the other panel becomes.
import type { Package } from '../../catalog/packages/model.ts'
import { exactGb, exactMb, list } from '../../kernel/words.ts'
import { countsOf, type ImportPackage, largestOf } from '../import-records/inventory/queries.ts'
import type { BillingIds, PackageChanges } from '../import-records/model.ts'
import { type Facts, type Offer, offer, withheld } from './facts.ts'

export type PackageChoice = NonNullable<ImportPackage['choice']>

type Size = { vcpus: number | null; memoryMb: number | null; diskGb: number | null }
/** A disk of a fraction of a GiB needs the whole one. */
export const sizeOf = ({ vcpus, memoryMb, diskGb }: Size) => ({
  vcpus,
  memoryMb,
  diskGb: diskGb === null ? null : Math.ceil(diskGb),
})
/** `2 vCPU · 2 GiB · 40 GiB`. */
export const sizeWords = (size: Size): string => {
  const { vcpus, memoryMb, diskGb } = sizeOf(size)
  const words = [
    vcpus === null ? [] : [`${vcpus} vCPU`],
    memoryMb === null ? [] : [exactMb(memoryMb)],
    diskGb === null ? [] : [exactGb(diskGb)],
  ].flat()
  return words.length ? words.join(' · ') : 'unknown size'
}

export const isSameSize = (row: Size, own: Pick<Package, 'vcpus' | 'memoryMb' | 'diskGb'>): boolean => {
  const size = sizeOf(row)
  return size.vcpus === own.vcpus && size.memoryMb === own.memoryMb && size.diskGb === own.diskGb
}

/** `40 GiB less disk, 1 vCPU more`; `same size` where nothing differs. */
export function difference(row: Size, own: Pick<Package, 'vcpus' | 'memoryMb' | 'diskGb'>): string {
  const size = sizeOf(row)
  const apart = (there: number | null, here: number, words: (n: number) => string) =>
    there === null || there === here ? [] : [`${words(Math.abs(here - there))} ${here > there ? 'more' : 'less'}`]
  const words = [
    ...apart(size.diskGb, own.diskGb, exactGb).map((one) => `${one} disk`),
    ...apart(size.memoryMb, own.memoryMb, exactMb).map((one) => `${one} memory`),
    ...apart(size.vcpus, own.vcpus, (n) => `${n} vCPU`),
  ]
  return words.length ? list(words) : 'same size'
}

/** The disk of its largest server: no package with a smaller one can take its place. */
export const leastDisk = (facts: Facts, row: ImportPackage): number =>
  Math.ceil(largestOf(facts.tx, facts.target.id, row.sourceId).diskGb ?? row.diskGb ?? 0)

/** Why servers of the package cannot become this one; undefined: they can. A disk never becomes smaller. */
export function lacksDisk(facts: Facts, row: ImportPackage, own: Pick<Package, 'name' | 'diskGb'>): string | undefined {
  const needed = leastDisk(facts, row)
  return own.diskGb < needed
    ? `${own.name} has ${exactGb(own.diskGb)} of disk, and a server of this package has ${exactGb(needed)}. No disk ` +
        'becomes smaller.'
    : undefined
}

/** The choices of a package; for `own`, with the package that is meant, if one is. */
export function offersOfPackage(facts: Facts, row: ImportPackage, own?: Package): Offer<PackageChoice>[] {
  const lack = own && lacksDisk(facts, row, own)
  const like = packageLike(row, facts.target.billing)
  const taken = facts.packages.some(({ name }) => name === like.name)
  return [
    !facts.packages.length
      ? withheld('own', 'There is no package yet that could be chosen.')
      : lack
        ? withheld('own', lack)
        : offer('own', own ? difference(row, own) : 'One of your packages.'),
    !(like.vcpus && like.memoryMb && like.diskGb)
      ? withheld('like', 'The other panel does not tell the size. Choose one of your packages, or enter the size.')
      : taken
        ? withheld('like', `There is a package called ${like.name} already. Choose another name.`)
        : offer('like', `${likeWords(like)}${sharedProduct(facts, like)}`),
    offer('leave_out', 'Its servers stay on the source.'),
  ]
}

const likeWords = ({ name, isOnSale }: PackageChanges) =>
  `A new package “${name}” of exactly this size, ${isOnSale ? 'on sale' : 'not on sale'}.`

/** Billing may sell two packages as one product. That is rarely meant. */
function sharedProduct({ packages }: Facts, { billingProductId }: PackageChanges): string {
  const own = billingProductId ? packages.find((one) => one.billingProductId === billingProductId) : undefined
  return own
    ? ` Your package ${own.name} has the billing product id ${billingProductId} too: choose it, or change the id.`
    : ''
}

const BYTES_PER_TRAFFIC_GB = 10 ** 9
/** The package that is made like one of the other panel: its exact size, and what the operator changed. */
export function packageLike(row: ImportPackage, billing: BillingIds): PackageChanges & { name: string } {
  const { vcpus, memoryMb, diskGb } = sizeOf(row)
  const ids = { none: null, billing_id: row.billingId, source_id: row.sourceId }
  return {
    name: row.name,
    ...(vcpus !== null && { vcpus }),
    ...(memoryMb !== null && { memoryMb }),
    ...(diskGb !== null && { diskGb }),
    trafficGb: row.trafficBytes === null ? null : Math.max(1, Math.round(row.trafficBytes / BYTES_PER_TRAFFIC_GB)),
    portMbps: row.portMbps,
    billingProductId: ids[billing.billingProductId] || null,
    isOnSale: false,
    ...row.changes,
  }
}

/**
 * The choice that is right in most cases: a package of the same size; else the nearest one that has the same memory
 * and at least the disk and the vCPUs. A package none of whose servers can come is left out. Null: a person has to
 * decide.
 */
export function proposalOfPackage(
  facts: Facts,
  row: ImportPackage,
): { choice: PackageChoice; packageId: string | null } | null {
  if (!countsOf(facts.tx, 'packages', facts.target.id, [row.sourceId])(row.sourceId).importable)
    return { choice: 'leave_out', packageId: null }
  const fitting = facts.packages.filter((own) => !lacksDisk(facts, row, own))
  const same = fitting.filter((own) => isSameSize(row, own))
  const size = sizeOf(row)
  const near = fitting
    .filter(
      (own) => own.memoryMb === size.memoryMb && own.vcpus >= (size.vcpus ?? 0) && own.diskGb >= (size.diskGb ?? 0),
    )
    .toSorted((a, b) => a.diskGb - b.diskGb || a.vcpus - b.vcpus || (a.id < b.id ? -1 : 1))
  const chosen = same.find(({ name }) => name === row.name) ?? same[0] ?? near[0]
  return chosen ? { choice: 'own', packageId: chosen.id } : null
}
