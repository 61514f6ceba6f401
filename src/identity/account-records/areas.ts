// Where each kind of account has its part of the panel.
import type { AccountKind } from '../../kernel/api/access.ts'

/**
 * The part of the panel that each kind of account has to itself; an owner's begins at the root. The same views serve
 * all three.
 */
export const areas = { staff: '/admin', reseller: '/reseller', customer: '' } as const satisfies Record<
  AccountKind,
  string
>
export type Area = (typeof areas)[AccountKind]
/** Where a kind of account starts. */
export const homeOf = (kind: AccountKind): string => areas[kind] || '/'
