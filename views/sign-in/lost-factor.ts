import type { Acting } from '../parts/act.ts'
import { field } from '../parts/field.ts'

/** The dialog in which somebody's lost second factor is taken away. */
export const lostFactor = (name: string, scope: string): Acting => ({
  of: `second factor of ${name}`,
  tone: 'bad',
  title: `Take the second factor of ${name} away?`,
  submit: 'Take away',
  done: 'Taken away',
  confirm: {
    keep: 'Keep it',
    consequences: [
      'Whoever has the password alone gets in. Be sure that it is them who asks: call back on a number you know.',
      'They are signed out everywhere and told by mail.',
      'Authenticator app, passkeys and recovery codes are gone; they can set up others.',
    ],
  },
  fields: field(scope, 'reason', { label: 'Reason', required: true, hint: 'Stays in the audit log, with how you knew that it is them.' }),
})
