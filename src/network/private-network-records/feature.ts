import { feature } from '../../kernel/feature.ts'
import { privateNetworkMembers, privateNetworkNodes, privateNetworks } from './tables.ts'

export const privateNetworkRecordsFeature = feature({
  name: 'private-network-records',
  tables: [privateNetworks, privateNetworkMembers, privateNetworkNodes],
})
