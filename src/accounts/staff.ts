import { Type as t } from 'typebox'
import { invalid } from '../kernel/api/errors.ts'
import { fields, line, operation, secret } from '../kernel/api/operation.ts'
import { newId } from '../kernel/db/ids.ts'
import type { Tx } from '../kernel/db/open.ts'
import { mailAddress, refuseTaken } from './account.ts'
import { hashPassword, mustBeGood } from './passwords.ts'
import { roleNamed } from './roles.ts'
import { type Account, accounts } from './tables.ts'

/** Throws `email_taken`, and `validation_failed` for a role there is not. */
export function addStaff(
  tx: Tx,
  { email, name, passwordHash, role, now }: { email: string; name: string; passwordHash: string; role: string; now: number },
): Account {
  const found = roleNamed(tx, role)
  if (!found) throw invalid({ field: 'role', message: 'There is no role of this name.' })
  try {
    return tx
      .insert(accounts)
      .values({ id: newId('account'), kind: 'staff', email: mailAddress(email), name, roleId: found.id, passwordHash, createdAt: now })
      .returning()
      .get()
  } catch (error) {
    return refuseTaken(error)
  }
}

export const createStaff = operation({
  id: 'staff.create',
  method: 'POST',
  path: '/admin/staff',
  summary: 'Add a member of staff',
  access: { staff: ['staff.write'] },
  inPerson: true,
  body: fields({
    email: t.String({ maxLength: 254 }),
    name: line(100),
    role: t.Optional(line(60)),
    password: secret(t.String({ maxLength: 1000 })),
  }),
  answer: t.Object({ id: t.String(), email: t.String(), name: t.String() }),
  status: 201,
  refuses: ['email_taken'],
  example: { email: 'bo@example.com', name: 'Bo', role: 'Owner', password: 'correct horse battery staple' },
  async prepare({ body }) {
    mustBeGood(body.password)
    return hashPassword(body.password)
  },
  run({ tx, body, prepared: passwordHash, clock }) {
    const { id, email, name } = addStaff(tx, { ...body, role: body.role ?? 'Owner', passwordHash, now: clock() })
    return { id, email, name }
  },
})
