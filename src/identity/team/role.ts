// The roles by which an owner shares workloads with others. Every call reads them, so a removed role ends at once.
import { Type as t } from 'typebox'
import type { Scope } from '../../kernel/api/access.ts'

/** From the weakest to the strongest; each includes the ones before it. */
export const roles = {
  view: { words: 'See state, addresses and jobs.', opens: ['servers:read'] },
  operate: {
    words: 'See state, addresses and jobs; start, shut down and restart; use the console.',
    opens: ['servers:read', 'servers:power'],
  },
  manage: {
    words:
      'See state, addresses and jobs; start, shut down and restart; use the console; reinstall, and change settings ' +
      'and the root password.',
    opens: ['servers:read', 'servers:power', 'servers:reinstall', 'servers:settings'],
  },
} as const satisfies Record<string, { words: string; opens: readonly Scope[] }>
export type Role = keyof typeof roles
export const roleNames = Object.keys(roles) as Role[]
export const role = t.Enum(roleNames)

const opened = new Map<Role, ReadonlySet<Scope>>(roleNames.map((name) => [name, new Set(roles[name].opens)]))
/** The scopes that a role opens on the shared workloads. */
export const opens = (role: Role): ReadonlySet<Scope> => opened.get(role)!
