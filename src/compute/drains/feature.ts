import { feature } from '../../kernel/feature.ts'
import { planOfNode } from './plan/node-plan.ts'

const scopes = { 'nodes:maintain': { words: 'Empty nodes for maintenance, and bring servers back' } } as const
const permissions = {
  'nodes.maintain': {
    words: 'Empty nodes for maintenance, with all that is on them',
    opens: ['nodes:maintain', 'nodes:read'],
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    drains: {
      scopes: typeof scopes
      permissions: typeof permissions
    }
  }
}

export const drainsFeature = feature({
  name: 'drains',
  scopes,
  permissions,
  samples: { atOnce: 2 },
  operations: [planOfNode],
})
