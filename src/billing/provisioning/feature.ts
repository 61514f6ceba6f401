import { feature } from '../../kernel/feature.ts'
import { testConnection } from './connection.ts'
import { getService } from './service.ts'
import { getStock } from './stock.ts'

export const provisioningFeature = feature({
  name: 'provisioning',
  operations: [testConnection, getService, getStock],
})
