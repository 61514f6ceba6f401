import { feature } from '../../kernel/feature.ts'
import { nodesInTrouble, plainHttp } from './attention.ts'
import { enrollNode, getEnrollment } from './enroll.ts'
import { changeNode, getNode, listNodes, removeNode } from './nodes.ts'
import { enrollments, nodeHeld, nodes } from './tables.ts'

export const nodesFeature = feature({
  name: 'nodes',
  tables: [nodes, nodeHeld, enrollments],
  operations: [enrollNode, getEnrollment, listNodes, getNode, changeNode, removeNode],
  attention: [nodesInTrouble, plainHttp],
})
