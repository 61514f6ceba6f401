// The event of a group: one for each change of it, and of what is in it.
import { Type as t } from 'typebox'
import { groupPolicies, type PlacementGroup } from '../../fleet/placement-group-records/model.ts'
import { customerData, customerInEvent } from '../../identity/account-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { described, nullable } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'

export const groupChanges = ['created', 'updated', 'removed', 'member_added', 'member_taken_out'] as const

export const changedData = t.Object({
  change: t.Enum([...groupChanges]),
  placementGroup: t.Object({
    id: t.String(),
    name: t.String(),
    policy: t.Enum([...groupPolicies]),
    hard: t.Boolean(),
  }),
  member: described(
    nullable(t.Object({ id: t.String(), hostname: t.String() })),
    'The server or GPU instance that joined or left; null for other changes.',
  ),
  customer: customerData,
})

type Change = { change: (typeof groupChanges)[number]; member?: { id: string; hostname: string } }
export function tellChange(tx: Tx, now: number, group: PlacementGroup, { change, member }: Change) {
  const { id, name, policy, hard, ownerId, resellerId } = group
  emit(
    tx,
    now,
    'placement_group.changed',
    { subject: { type: 'placement_group', id }, customerId: ownerId, resellerId },
    {
      change,
      placementGroup: { id, name, policy, hard },
      member: member ? { id: member.id, hostname: member.hostname } : null,
      customer: customerInEvent(accountById(tx, ownerId)!),
    },
  )
}
