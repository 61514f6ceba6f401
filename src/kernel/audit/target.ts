import type { AccountKind, Scope } from '../api/access.ts'
import type { Actor } from '../api/actor.ts'
import type { IdPrefix } from '../db/ids.ts'
import type { Registry } from '../registry.ts'

export type TargetShown = { id: string; kind: AccountKind | null; isGone: boolean }

/**
 * How the audit log describes what an operation changed, where its id has this prefix. The functions of an `id` return
 * SQL text; `id` is an SQL expression.
 */
export type AuditTarget = {
  prefix: IdPrefix
  /** Lines about such a target are shown only to who has this scope; without it, to everybody whom a line concerns. */
  scope?: Scope
  /** As it is called today. */
  name?(id: string): string
  /** The kind of the account that it is. */
  accountKind?(id: string): string
  /** The reseller in whose care it is. */
  providerId?(id: string): string
  /** The page that this actor has of it; undefined where there is none, or none any more. */
  page?(target: TargetShown, actor: Actor): string | undefined
  /** 1 when it existed and does not any more. */
  isGone?(id: string): string
}

declare module '../feature.ts' {
  interface FeatureFields {
    /** How the audit log describes what operations of this feature change. */
    auditTargets?: readonly AuditTarget[]
  }
}

export const targetsOf = ({ features }: Registry): AuditTarget[] =>
  features.flatMap(({ auditTargets = [] }) => auditTargets)
