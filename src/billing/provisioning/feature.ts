import { feature } from '../../kernel/feature.ts'
import { testConnection } from './connection.ts'
import { getService } from './service.ts'
import { getStock } from './stock.ts'
import { getStockOfSize } from './stock-of-size.ts'

export const provisioningFeature = feature({
  name: 'provisioning',
  operations: [testConnection, getService, getStock, getStockOfSize],
})
