// How many servers were made of an image or ordered with a package: what is ordered belongs to features above the
// catalogue, which declare it here.
import type { AppContext } from '../kernel/api/operation.ts'
import type { Db } from '../kernel/db/open.ts'

export type CatalogueUse = {
  /** How many of this feature's things were made of the image. */
  ofImage?(tx: Db, imageId: string): number
  /** How many of this feature's things were made of this build of the image. */
  ofBuild?(tx: Db, imageId: string, checksum: string): number
  /** How many of this feature's things have the package. */
  ofPackage?(tx: Db, packageId: string): number
  /** How many of this feature's things have the GPU offer. */
  ofGpuOffer?(tx: Db, offerId: string): number
  /** An offer whose instances have fewer ports than this, and run the GPU image; undefined where there is none. */
  offerShortOfPorts?(tx: Db, imageId: string, ports: number): { name: string; ports: number } | undefined
  /** How many of this feature's things run the GPU image. */
  ofGpuImage?(tx: Db, imageId: string): number
}

declare module '../kernel/feature.ts' {
  interface FeatureFields {
    /** Counts of what uses images and packages. */
    catalogueUse?: CatalogueUse
  }
}

export type UseContext = Pick<AppContext, 'registry'> & { tx: Db }
const sum = ({ registry }: UseContext, of: (use: CatalogueUse) => number | undefined): number =>
  registry.features.reduce((n, { catalogueUse }) => n + ((catalogueUse && of(catalogueUse)) ?? 0), 0)

export const useOfImage = (call: UseContext, id: string): number => sum(call, (use) => use.ofImage?.(call.tx, id))
export const useOfBuild = (call: UseContext, id: string, checksum: string): number =>
  sum(call, (use) => use.ofBuild?.(call.tx, id, checksum))
export const useOfPackage = (call: UseContext, id: string): number => sum(call, (use) => use.ofPackage?.(call.tx, id))
export const useOfGpuOffer = (call: UseContext, id: string): number => sum(call, (use) => use.ofGpuOffer?.(call.tx, id))
export const useOfGpuImage = (call: UseContext, id: string): number => sum(call, (use) => use.ofGpuImage?.(call.tx, id))

export const offerShortOfPorts = ({ registry, tx }: UseContext, imageId: string, ports: number) =>
  registry.features.flatMap(({ catalogueUse }) => catalogueUse?.offerShortOfPorts?.(tx, imageId, ports) ?? [])[0]
