import { feature } from '../../kernel/feature.ts'
import { changeLocation, createLocation, listLocations } from './locations.ts'
import { locations } from './tables.ts'

export const locationsFeature = feature({
  name: 'locations',
  tables: [locations],
  operations: [createLocation, listLocations, changeLocation],
})
