import { Type as t } from 'typebox'
import { invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { type Account, mailAddress, refuseTaken } from '../account-records/model.ts'
import { insertAccount } from '../account-records/queries.ts'
import { allRoles, roleNamed } from '../account-records/roles/queries.ts'
import { type Role, roleOf } from '../account-records/roles/role.ts'
import { factorsOf } from '../auth/second-factors/factors.ts'
import { lastSeenAt } from '../auth/sessions/queries.ts'

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

/** Owner too, which is made with the first owner. */
const roleNames = (tx: Tx): string[] => [...new Set(['Owner', ...allRoles(tx).map(({ name }) => name)])]

export function mustBeRole(tx: Tx, name: string): Role {
  const found = roleNamed(tx, name)
  if (!found)
    throw invalid({ field: 'role', message: `must be the name of a role. There are: ${roleNames(tx).join(', ')}.` })
  return found
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
export function showStaff(tx: Db, account: Account) {
  const { id, email, name, disabledAt, createdAt } = account
  const role = roleOf(tx, account)
  return {
    id,
    email,
    name,
    role: role ? { id: role.id, name: role.name } : null,
    secondFactor: factorsOf(tx, id).length > 0,
    seenAt: isoOrNull(lastSeenAt(tx, id)),
    disabledAt: isoOrNull(disabledAt),
    createdAt: iso(createdAt),
  }
}
