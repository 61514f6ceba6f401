import { groupById } from '../../fleet/placement-group-records/queries.ts'
import { brokenHardGroups } from '../../fleet/workloads/stays/queries.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { brokenRule } from './model.ts'

/** Hard groups whose rule is broken, for staff who can move servers. */
export const brokenGroups: Source = ({ tx, actor }) =>
  actor.kind === 'staff' && actor.permissions.has('servers.see_all') && actor.scopes.has('servers:move')
    ? brokenHardGroups(tx, MOST_SHOWN).map((id) => {
        const group = groupById(tx, id)!
        return {
          level: 'warn',
          what: `The placement group ${group.name} of ${accountById(tx, group.ownerId)?.name ?? ''} is not kept.`,
          effect: brokenRule(tx, group)?.words ?? '',
          since: null,
          action: 'Show the group',
          href: `/admin/placement-groups/${group.id}`,
        }
      })
    : []
