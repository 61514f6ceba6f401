import { Type as t } from 'typebox'
import { fields, operation, secret } from '../../../kernel/api/operation.ts'
import { consumeLink } from '../links/links.ts'
import { completeSignIn, signedIn } from './complete-sign-in.ts'

export const useSignInLink = operation({
  id: 'sign-in-links.use',
  method: 'POST',
  path: '/sessions/from-link',
  summary: 'Sign in with a link from a billing system',
  past: 'Signed in with a link',
  access: 'anyone',
  authAttempt: true,
  body: fields({ token: secret(t.String({ minLength: 1, maxLength: 100 })) }),
  response: signedIn,
  status: 201,
  refuses: ['link_not_valid', 'rate_limited'],
  example: { token: '<token>' },
  run(call) {
    const { account, data, madeBy } = consumeLink(call.tx, ['sign-in'], call.body.token, call.clock())
    // The holder of a link has proved nothing: dangerous changes ask for a confirmation.
    const answer = completeSignIn(call, account, { confirmed: false, linkOf: madeBy })
    return data && !('secondFactor' in answer) ? { ...answer, home: data } : answer
  },
})
