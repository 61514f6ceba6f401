// The rights that a role gives to people and to the tokens that they made.
import { type AccountKind, type Permission, type Rights, type Scope, scopesOf } from '../../kernel/api/access.ts'
import { type GivenRole, permissionsOf } from '../account-records/roles/role.ts'

/** A token and the role of its maker, as they are stored: `permissions` and `scopes` are JSON. Null: without a role. */
type MadeToken = { kind: AccountKind; permissions: string | null; isOwner: number | null; scopes: string }
export type Held = { permissions: ReadonlySet<Permission>; scopes: ReadonlySet<Scope> }

/**
 * The rights that roles and tokens give. They are computed once per text of the rights, never per account or token:
 * each call reads its rows, so a change of a role counts at once.
 */
export class HeldRights {
  private computed = new Map<string, Held>()
  constructor(
    private readonly rights: Rights,
    private readonly most: number,
  ) {}

  /** The rights of an account with this role. */
  of(kind: AccountKind, role: GivenRole | undefined): Held {
    return this.kept(`account\n${kind}\n${role?.isOwner}\n${role?.permissions}`, () => {
      const permissions = permissionsOf(this.rights, kind === 'staff' ? role : undefined)
      return { permissions: new Set(permissions), scopes: scopesOf(this.rights, kind, permissions) }
    })
  }

  /** The rights of a token: of its scopes, those that its maker has now. */
  ofToken({ kind, permissions, isOwner, scopes }: MadeToken): Held {
    return this.kept(`token\n${kind}\n${isOwner}\n${permissions}\n${scopes}`, () => {
      const role = permissions === null ? undefined : { permissions: JSON.parse(permissions), isOwner: isOwner === 1 }
      const maker = this.of(kind, role)
      return {
        permissions: new Set([...maker.permissions].filter((name) => this.rights.permissions[name]?.limitsTokens)),
        scopes: new Set((JSON.parse(scopes) as Scope[]).filter((name) => maker.scopes.has(name))),
      }
    })
  }

  private kept(key: string, compute: () => Held): Held {
    const known = this.computed.get(key)
    if (known) return known
    const held = compute()
    if (this.computed.size >= this.most) this.computed.delete(this.computed.keys().next().value!)
    this.computed.set(key, held)
    return held
  }
}
