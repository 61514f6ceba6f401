// The rights of the whole product, as tests speak of them.
import { registry } from '../../../src/app/features.ts'
import { type AccountKind, type Permission, type Scope, scopesOf as scopesIn } from '../../../src/kernel/api/access.ts'

export const { scopes, permissions } = registry
export const allScopes = new Set(Object.keys(scopes) as Scope[])
export const allPermissions = Object.keys(permissions) as Permission[]
export const scopesOf = (kind: AccountKind, held?: readonly Permission[]) => scopesIn(registry, kind, held)
