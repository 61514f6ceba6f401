import { feature } from '../../kernel/feature.ts'
import { testConnection } from './connection.ts'
import { getStock } from './stock.ts'

export const provisioningFeature = feature({
  name: 'provisioning',
  operations: [testConnection, getStock],
})
