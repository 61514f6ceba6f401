// Scopes that belong together: what a billing system needs, as one choice.
import type { Scope } from '../../kernel/api/access.ts'

export const presets = {
  billing: [
    'servers:read',
    'servers:create',
    'servers:resize',
    'servers:suspend',
    'servers:terminate',
    'servers:power',
    'servers:reinstall',
    'customers:read',
    'customers:write',
  ],
  'reseller-billing': [
    'reseller:read',
    'reseller:customers',
    'reseller:servers',
    'servers:read',
    'servers:power',
    'servers:reinstall',
  ],
} as const satisfies Record<string, readonly Scope[]>
