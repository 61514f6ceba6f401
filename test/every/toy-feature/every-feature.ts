// The features that the loops run over: those of the product and the toy feature, so that each promise is seen to hold
// for what is added.
import { features as product } from '../../../src/app/features.ts'
import type { Feature } from '../../../src/kernel/feature.ts'
import { assemble } from '../../../src/kernel/registry.ts'
import { lampsFeature } from './feature.ts'

/** The features that panels of these tests have beside the product. */
export const added: readonly Feature[] = [lampsFeature]
export const registry = assemble([...product, ...added])
export const { allOperations, operations } = registry
