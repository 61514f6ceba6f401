import { everybody } from '../../kernel/api/access.ts'
import { sessionOf } from '../../kernel/api/actor.ts'
import { done, fields, operation } from '../../kernel/api/operation.ts'
import { ownAccount } from '../account-records/model.ts'
import { storePassword } from '../auth/passwords/change.ts'
import { hashPassword, mustBeGood } from '../auth/passwords/hash.ts'
import { mustKnowPassword, mustStillKnowPassword, typedPassword } from './password-check.ts'

export const changePassword = operation({
  id: 'account.password',
  method: 'PUT',
  path: '/account/password',
  summary: 'Change the own password; every other session ends',
  past: 'Changed the password',
  access: everybody('account:write'),
  requiresSession: true,
  authAttempt: true,
  body: fields({ current: typedPassword, password: typedPassword }),
  response: done,
  refuses: ['rate_limited'],
  example: { current: 'correct horse battery staple', password: 'seven green bicycles' },
  async prepare(call) {
    const { body, db, actor } = call
    await mustBeGood(body.password, 'password', ownAccount(db, actor))
    return {
      looked: await mustKnowPassword(call, body.current, 'current'),
      passwordHash: await hashPassword(body.password),
    }
  },
  run(call) {
    const { tx, actor, prepared } = call
    const account = mustStillKnowPassword(tx, actor, prepared.looked, 'current')
    const but = sessionOf(actor)?.sessionId
    storePassword(tx, call, account, prepared.passwordHash, { tell: true, ...(but && { but }) })
    return {}
  },
})
