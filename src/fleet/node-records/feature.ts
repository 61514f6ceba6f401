import { feature } from '../../kernel/feature.ts'
import { expiredEnrollments, locationsOfNodes, nodeById } from './queries.ts'
import { enrollments, nodeCpuModels, nodeGuests, nodeHeld, nodes } from './tables.ts'

export const nodeRecordsFeature = feature({
  name: 'node-records',
  tables: [nodes, nodeHeld, nodeGuests, nodeCpuModels, enrollments],
  expiring: [expiredEnrollments],
  poolUsers: {
    routerName(tx, nodeId) {
      const node = nodeById(tx, nodeId)
      return node?.removedAt === null ? node.name : undefined
    },
    locations: locationsOfNodes,
  },
})
