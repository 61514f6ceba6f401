import { minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { freeDue, heldHours } from './gone-addresses.ts'
import { expiredEnrollments, locationsOfNodes, nodeById, nodesAmong } from './queries.ts'
import {
  enrollments,
  goneAddresses,
  nodeAbsences,
  nodeCpuModels,
  nodeGuests,
  nodeHeld,
  nodeSpaces,
  nodes,
} from './tables.ts'

export const nodeRecordsFeature = feature({
  name: 'node-records',
  tables: [nodes, nodeHeld, nodeSpaces, nodeGuests, nodeAbsences, nodeCpuModels, enrollments, goneAddresses],
  settings: [heldHours],
  schedule: [
    {
      everyMs: minute,
      words: 'freeing addresses that were held for nodes that are gone',
      work: ({ db, app }) => freeDue(db, app.clock()),
    },
  ],
  expiring: [expiredEnrollments],
  poolUsers: {
    routersByName: nodesAmong,
    routerName(tx, nodeId) {
      const node = nodeById(tx, nodeId)
      return node?.removedAt === null ? node.name : undefined
    },
    locations: locationsOfNodes,
  },
})
