import { feature } from '../../kernel/feature.ts'
import { getFleet } from './fleet.ts'

/** The order in which the hypervisors of another panel are moved. */
export const fleetFeature = feature({ name: 'fleet', operations: [getFleet] })
