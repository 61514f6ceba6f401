import { feature } from '../../kernel/feature.ts'
import { nodesInTrouble, plainHttp } from './attention.ts'
import { enrollNode, getEnrollment } from './enroll.ts'
import { changeNode, getNode, listNodes, removeNode } from './nodes.ts'
import { enrollments, nodeHeld, nodes } from './tables.ts'

const errors = {
  node_not_found: { status: 404, when: 'There is no such node.', remedy: 'Check the id.' },
  enrollment_not_found: { status: 404, when: 'There is no such enrollment.', remedy: 'Check the id.' },
  enrollment_expired: {
    status: 401,
    when: 'The enrollment token is older than 60 minutes.',
    remedy: 'Make a new one.',
  },
  enrollment_not_valid: {
    status: 401,
    when: 'The enrollment token was used before, or never existed.',
    remedy: 'Make a new one.',
  },
  node_not_known: {
    status: 401,
    when: 'The node was removed, or its credential belongs to another controller.',
    remedy: 'Enroll it again.',
  },
  protocol_mismatch: {
    status: 426,
    when: 'The agent and this controller speak different protocols.',
    remedy: 'Update the older of the two.',
  },
} as const
type Errors = typeof errors

const ids = {
  node: { prefix: 'nod', sample: 'fra-01' },
  enrollment: { prefix: 'enr' },
} as const
type Ids = typeof ids
declare module '../../kernel/register.ts' {
  interface IdKinds extends Ids {}
  interface ErrorCodes extends Errors {}
}

export const nodesFeature = feature({
  name: 'nodes',
  ids,
  samples: {
    bridge: 'br0',
  },
  errors,
  tables: [nodes, nodeHeld, enrollments],
  operations: [enrollNode, getEnrollment, listNodes, getNode, changeNode, removeNode],
  attention: [nodesInTrouble, plainHttp],
})
