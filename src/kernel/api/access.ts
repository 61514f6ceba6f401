// Rights: scopes for tokens, permissions for staff roles. Features declare them in feature.ts.
import type { AccountKinds, Declared } from '../register.ts'

/** `access` of an operation names the kinds of accounts that may call it. */
export type AccountKind = keyof AccountKinds

/** A right that a token can hold, e.g. `servers:read`. */
export type Scope = keyof Declared<'scopes'>
/** A right that a staff role can hold, e.g. `servers.create`. */
export type Permission = keyof Declared<'permissions'>
export type Right = Scope | Permission

export type ScopeDeclaration = {
  /** The right in words, as a token's maker reads it. */
  words: string
  /** Kinds of account that hold it for their own things, whatever else they are granted. */
  heldBy?: readonly AccountKind[]
}
export type PermissionDeclaration = {
  words: string
  /** Scopes that a person with it has, and may give to a token. */
  opens: readonly string[]
  /**
   * The only kind of permission that counts for a token: without it at its maker, the token's scopes reach less. It
   * opens nothing to a token.
   */
  limitsTokens?: true
}
/** The rights that the features of a controller declare. */
export type Rights = {
  scopes: Readonly<Record<Scope, ScopeDeclaration>>
  permissions: Readonly<Record<Permission, PermissionDeclaration>>
}

/** A scope has a colon, a permission never has one; the registry refuses other names. */
export const isScope = (name: string): name is Scope => name.includes(':')

/** All that a person of this kind, with the permissions of its role, may do. A token never has more than its maker. */
export const scopesOf = (
  { scopes, permissions }: Rights,
  kind: AccountKind,
  held: readonly Permission[] = [],
): ReadonlySet<Scope> =>
  new Set([
    ...(Object.keys(scopes) as Scope[]).filter((name) => scopes[name].heldBy?.includes(kind)),
    ...held.flatMap((name) => (permissions[name]?.opens ?? []) as readonly Scope[]),
  ])

/** Holds every name: System may do whatever any feature declares. */
export class EveryName<T extends string> extends Set<T> {
  override has(_: T) {
    return true
  }
}

/** The access of a call that is for every kind of account alike. */
export const everybody = <const S extends Scope>(scope: S) =>
  ({ staff: [scope], reseller: [scope], customer: [scope] }) as const
