import { feature } from '../../kernel/feature.ts'
import { placementGroupMembers, placementGroups } from './tables.ts'

const errors = {
  placement_group_unmet: {
    status: 409,
    when: 'No node with room keeps the rule of the placement group, which is hard.',
    remedy: 'Order in another location, make the rule soft, or leave the group out.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'placement-group-records': { errors: typeof errors }
  }
}

export const placementGroupRecordsFeature = feature({
  name: 'placement-group-records',
  errors,
  tables: [placementGroups, placementGroupMembers],
})
