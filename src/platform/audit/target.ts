import type { IdPrefix } from '../../kernel/db/ids.ts'

/**
 * How the audit log describes what an operation changed, where its id has this prefix. Each function answers SQL text;
 * `id` is an SQL expression.
 */
export type AuditTarget = {
  prefix: IdPrefix
  /** As it is called today. */
  name?(id: string): string
  /** The kind of the account that it is. */
  accountKind?(id: string): string
  /** The reseller in whose care it is. */
  providerId?(id: string): string
  /** 1 when it existed and does not any more. */
  isGone?(id: string): string
}
