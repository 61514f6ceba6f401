// A node as every feature needs it: its row, and who sees it.
import type { Resource } from '../../kernel/api/operation.ts'
import { nodeById } from './queries.ts'
import type { Node } from './tables.ts'

export type { Difference, Enrollment, Node } from './tables.ts'

export const node: Resource<Node> = {
  name: 'node',
  notFound: 'node_not_found',
  find: (tx, actor, id) => {
    if (actor.kind !== 'staff') return undefined
    const found = nodeById(tx, id)
    return found?.removedAt === null ? found : undefined
  },
}
