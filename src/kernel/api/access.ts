// Who may do what, in one place: scopes for tokens, permissions for staff roles, presets for billing systems.

/** Every scope, with what it lets a token do, in words. */
export const scopes = {
  'servers:read': 'See servers, their jobs and usage',
  'servers:create': 'Order servers',
  'servers:resize': 'Change packages and extras',
  'servers:suspend': 'Suspend and unsuspend servers',
  'servers:terminate': 'Terminate servers',
  'servers:power': 'Start, stop and restart servers',
  'servers:reinstall': 'Set up and reinstall servers',
  'servers:settings': 'Settings, root password and rescue',
  'customers:read': 'See customers',
  'customers:write': 'Create and change customers',
  'reseller:read': 'See the reseller account, its packages and locations',
  'reseller:customers': "Create and change the reseller's customers",
  'reseller:servers': "Order and manage the reseller's servers",
  'nodes:read': 'See nodes and locations',
  'nodes:write': 'Enroll, change and remove nodes and locations',
  'network:write': 'Manage address pools',
  'images:write': 'Manage images',
  'packages:write': 'Manage packages',
  'gpu:write': 'Manage GPU hosts and offers',
  'imports:write': 'Run imports from other panels',
  'audit:read': 'Read the audit log',
  'webhooks:write': 'Manage webhooks',
  'settings:write': 'Change settings',
  'account:read': 'See the own account and its SSH keys',
  'account:write': 'Change the own account and its SSH keys',
} as const
export type Scope = keyof typeof scopes
export const allScopes = new Set(Object.keys(scopes) as Scope[])
export const isScope = (text: string): text is Scope => Object.hasOwn(scopes, text)

/** What a staff role can hold: the permission, its words, and the scopes it opens. */
export const permissions = {
  'servers.see_all': { words: 'See all servers', opens: ['servers:read'] },
  'servers.create': { words: 'Create servers', opens: ['servers:create'] },
  'servers.resize': { words: 'Change packages', opens: ['servers:resize'] },
  'servers.suspend': { words: 'Suspend servers', opens: ['servers:suspend'] },
  'servers.terminate': { words: 'Terminate servers', opens: ['servers:terminate'] },
  'servers.power': { words: 'Power servers', opens: ['servers:power'] },
  'servers.reinstall': { words: 'Reinstall servers', opens: ['servers:reinstall'] },
  'servers.settings': { words: 'Settings, root password and rescue', opens: ['servers:settings'] },
  'servers.move': { words: 'Move servers', opens: [] },
  'customers.read': { words: 'See customers', opens: ['customers:read'] },
  'customers.write': { words: 'Create and change customers', opens: ['customers:write'] },
  'resellers.write': { words: 'Manage resellers', opens: ['reseller:read'] },
  support_session: { words: 'Open support sessions', opens: [] },
  'nodes.read': { words: 'See nodes', opens: ['nodes:read'] },
  'nodes.write': { words: 'Manage nodes and locations', opens: ['nodes:write'] },
  'network.write': { words: 'Manage address pools', opens: ['network:write'] },
  'images.write': { words: 'Manage images', opens: ['images:write'] },
  'packages.write': { words: 'Manage packages', opens: ['packages:write'] },
  'gpu.write': { words: 'Manage GPU hosts and offers', opens: ['gpu:write'] },
  imports: { words: 'Run imports', opens: ['imports:write'] },
  api_webhooks: { words: 'API & webhooks', opens: ['webhooks:write'] },
  'audit.read': { words: 'Read the audit log', opens: ['audit:read'] },
  'reports.read': { words: 'Read reports', opens: [] },
  'settings.write': { words: 'Change settings', opens: ['settings:write'] },
  'staff.write': { words: 'Manage staff and roles', opens: [] },
} as const satisfies Record<string, { words: string; opens: readonly Scope[] }>
export type Permission = keyof typeof permissions
export type Right = Scope | Permission
export const allPermissions = Object.keys(permissions) as Permission[]

/** What each kind of account may do with its own things, whatever else it is granted. */
const own: readonly Scope[] = ['account:read', 'account:write']
const ownServers: readonly Scope[] = ['servers:read', 'servers:power', 'servers:reinstall', 'servers:settings']

export type AccountKind = 'staff' | 'reseller' | 'customer'
export const accountKinds: readonly AccountKind[] = ['staff', 'reseller', 'customer']

/** The part of the panel that each kind of account has to itself; an owner's begins at the root. The same views serve all three. */
export const areas = { staff: '/admin', reseller: '/reseller', customer: '' } as const satisfies Record<
  AccountKind,
  string
>
export type Area = (typeof areas)[AccountKind]
/** Where a kind of account starts. */
export const homeOf = (kind: AccountKind): string => areas[kind] || '/'

/** Everything a person of this kind, with these permissions (staff), may do. A token never has more than its maker. */
export const scopesOf = (kind: AccountKind, held: readonly Permission[] = []): ReadonlySet<Scope> =>
  kind === 'staff'
    ? new Set([...own, ...held.flatMap((p) => permissions[p].opens as readonly Scope[])])
    : kind === 'reseller'
      ? new Set([...own, ...ownServers, 'reseller:read', 'reseller:customers', 'reseller:servers', 'webhooks:write'])
      : new Set([...own, ...ownServers, 'webhooks:write'])

/** The access of a call that is for every kind of account alike. */
export const everybody = <const S extends Scope>(scope: S) =>
  ({ staff: [scope], reseller: [scope], customer: [scope] }) as const

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
