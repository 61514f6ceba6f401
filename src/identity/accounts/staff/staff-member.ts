import { Type as t } from 'typebox'
import { invalid } from '../../../kernel/api/errors.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../../kernel/db/clock.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { factorsOf } from '../../auth/second-factors/factors.ts'
import { mailAddress, refuseTaken } from '../model.ts'
import { accountById, insertAccount } from '../queries.ts'
import type { Account } from '../tables.ts'
import { type Role, roleAndLastSeen, roleNamed } from './queries.ts'
import { roleNames } from './role.ts'

/** Throws `email_taken`, and `validation_failed` for a role there is not. */
export function addStaff(
  tx: Tx,
  {
    email,
    name,
    passwordHash,
    role,
    now,
  }: { email: string; name: string; passwordHash: string | null; role: string; now: number },
): Account {
  const { id: roleId, isOwner } = mustBeRole(tx, role)
  try {
    return insertAccount(tx, {
      id: newId('usr'),
      kind: 'staff',
      email: mailAddress(email),
      name,
      roleId,
      passwordHash,
      ownerSince: isOwner ? now : null,
      createdAt: now,
    })
  } catch (error) {
    return refuseTaken(error)
  }
}

export function mustBeRole(tx: Tx, name: string): Role {
  const found = roleNamed(tx, name)
  if (!found)
    throw invalid({ field: 'role', message: `must be the name of a role. There are: ${roleNames(tx).join(', ')}.` })
  return found
}

export const staffMember: Resource<Account> = {
  name: 'member of staff',
  notFound: 'staff_not_found',
  find: (tx, _, id) => {
    const account = accountById(tx, id)
    return account?.kind === 'staff' ? account : undefined
  },
}

export const staffResponse = namedSchema('StaffMember', {
  id: t.String(),
  email: t.String(),
  name: t.String(),
  role: nullable(t.Object({ id: t.String(), name: t.String() })),
  secondFactor: described(t.Boolean(), 'Has one set up.'),
  seenAt: nullable(time),
  disabledAt: nullable(time),
  createdAt: time,
})
export function showStaff(tx: Db, { id, email, name, roleId, disabledAt, createdAt }: Account) {
  const { roleName, seenAt } = roleAndLastSeen(tx, id)
  return {
    id,
    email,
    name,
    role: roleId && roleName !== null ? { id: roleId, name: roleName } : null,
    secondFactor: factorsOf(tx, id).length > 0,
    seenAt: isoOrNull(seenAt),
    disabledAt: isoOrNull(disabledAt),
    createdAt: iso(createdAt),
  }
}
