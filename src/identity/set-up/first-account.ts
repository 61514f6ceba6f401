// The first staff account. There is no default account: the first start prints a link to the journal, which creates it.
import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { fields, line, operation, secret } from '../../kernel/api/operation.ts'
import { digest, randomToken } from '../../kernel/crypto/secrets.ts'
import { DatabaseUnavailable } from '../../kernel/db/health.ts'
import { type Db, whenHealed, write } from '../../kernel/db/open.ts'
import { getSetting, putSetting, removeSetting } from '../../kernel/db/queries.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { log } from '../../kernel/log.ts'
import { mailField } from '../account-records/model.ts'
import { hasStaff } from '../account-records/queries.ts'
import { hashPassword, mustBeGood } from '../auth/passwords/hash.ts'
import { completeSignIn, signedIn } from '../auth/sign-in/complete-sign-in.ts'
import { addStaff } from '../staff/staff-member.ts'

/** The page after the first account: it offers a second factor, and can be left. */
export const FIRST_FACTOR_PAGE = '/setup/second-factor'

const SETTING = 'setup.token'

/** A new link for the journal; undefined when there is staff. Links of earlier starts become invalid. */
export function setUpToken(db: Db): string | undefined {
  return write(db, (tx) => {
    if (hasStaff(tx)) return undefined
    const token = randomToken()
    putSetting(tx, SETTING, digest(token))
    return token
  })
}

/**
 * Prints the link that makes the first staff account. A controller also starts on a full disk: it answers reads, and
 * says this when there is space.
 */
export function inviteFirstStaff({ db, app }: ScheduleContext) {
  let invited = false
  const invite = () => {
    if (invited) return
    try {
      const token = setUpToken(db)
      invited = true
      const url = `${app.config.publicUrl}/setup?token=${token}`
      if (token) log.info(`No staff account yet. Make the first one here, once: ${url}`)
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error
    }
  }
  invite()
  whenHealed(db, invite)
}

export const setUpLinkFits = (tx: Db, token: string) => !hasStaff(tx) && getSetting(tx, SETTING) === digest(token)

export const setUp = operation({
  id: 'setup.finish',
  method: 'POST',
  path: '/setup',
  summary: 'Create the first staff account with the link from the journal',
  past: 'Finished the set-up',
  access: 'anyone',
  authAttempt: true,
  body: fields({
    token: secret(t.String({ minLength: 1, maxLength: 100 })),
    email: mailField,
    name: line(100),
    password: secret(t.String({ maxLength: 1000 })),
  }),
  response: signedIn,
  status: 201,
  refuses: ['setup_link_invalid', 'rate_limited'],
  example: { token: '<token>', email: 'ada@example.com', name: 'Ada', password: 'correct horse battery staple' },
  async prepare({ db, body }) {
    if (!setUpLinkFits(db, body.token)) throw linkIsNotValid()
    await mustBeGood(body.password, 'password', body)
    return hashPassword(body.password)
  },
  run(call) {
    const { tx, body, prepared: passwordHash, clock } = call
    if (!setUpLinkFits(tx, body.token)) throw linkIsNotValid()
    const account = addStaff(tx, { email: body.email, name: body.name, passwordHash, role: 'Owner', now: clock() })
    removeSetting(tx, SETTING)
    return { ...completeSignIn(call, account), home: FIRST_FACTOR_PAGE }
  },
})

const linkIsNotValid = () =>
  new ApiError(
    'setup_link_invalid',
    'This setup link is no longer valid. The newest one is in the journal of the controller; each start ' +
      'prints a fresh one until there is a staff account.',
  )
