import { placementGroupTarget, searchGroups } from '../../fleet/placement-group-records/queries.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { mayCall } from '../../kernel/api/operation.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { brokenGroups } from './attention.ts'
import { changedData } from './events.ts'
import { changeGroup, createGroup, getGroup, listGroups, removeGroup } from './groups.ts'
import { addInstance, takeOutInstance } from './instances.ts'
import { addToGroup, takeOutOfGroup } from './members.ts'
import { mendGroup } from './mend.ts'
import { visibleTo } from './queries.ts'

const errors = {
  placement_group_not_found: {
    status: 404,
    when: 'There is no such placement group, or it is not yours.',
    remedy: 'Check the id.',
  },
  suggestion_changed: {
    status: 409,
    when: 'The move that mends the group is another one by now, or there is none.',
    remedy: 'Read the group again.',
  },
} as const

const events = {
  'placement_group.changed': event('resellers', 'A placement group, or what is in it, changed', changedData),
}

const ids = { placementGroup: { prefix: 'plg', sample: 'databases' } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'placement-groups': { ids: typeof ids; errors: typeof errors; events: typeof events }
  }
}

const nav = (kind: 'staff' | 'reseller' | 'customer', group: string, position: number) =>
  ({
    kinds: [kind],
    group,
    position,
    name: 'placement-groups',
    title: 'Placement groups',
    href: `${areas[kind]}/placement-groups`,
    icon: 'share',
    sees: listGroups,
  }) as const

export const placementGroupsFeature = feature({
  name: 'placement-groups',
  ids,
  errors,
  events,
  samples: { violation: null, suggestion: null },
  operations: [
    createGroup,
    listGroups,
    getGroup,
    changeGroup,
    removeGroup,
    addToGroup,
    takeOutOfGroup,
    addInstance,
    takeOutInstance,
    mendGroup,
  ],
  attention: [brokenGroups],
  auditTargets: [{ ...placementGroupTarget, page: ({ id }, { kind }) => `${areas[kind]}/placement-groups/${id}` }],
  search: [
    {
      type: 'placement group',
      position: 16,
      place: ({ actor }) => (mayCall(listGroups, actor) ? `${areas[actor.kind]}/placement-groups/` : undefined),
      find: ({ tx, actor }, text, most) =>
        searchGroups(tx, visibleTo(tx, actor), text, most).map(({ policy, ...found }) => ({
          ...found,
          detail: policy === 'affinity' ? 'Keeps together' : 'Keeps apart',
        })),
    },
  ],
  nav: [
    { ...nav('staff', 'Infrastructure', 213), within: 'servers' },
    nav('reseller', 'Network', 168),
    nav('customer', 'Network', 168),
  ],
  async fixture({ admin, customer }) {
    const body = { name: 'fixture', policy: 'anti_affinity' }
    return { 'placement group': (await admin('POST', `/customers/${customer.id}/placement-groups`, body)).id }
  },
})
