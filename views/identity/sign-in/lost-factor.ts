import type { Acting } from '../../html/act.ts'
import { field } from '../../html/field.ts'

/** The dialog in which somebody's lost second factor is taken away. */
export const lostFactor = (name: string, scope: string): Acting => ({
  of: `second factor of ${name}`,
  tone: 'bad',
  title: `Remove the second factor of ${name}?`,
  submit: 'Take away',
  done: 'Taken away',
  confirm: {
    keep: 'Keep it',
    consequences: [
      'Anyone with just the password gets in. Make sure who is asking: call back on a number you know.',
      'They are signed out everywhere and told by mail.',
      'Authenticator app, passkeys and recovery codes are gone; they can set up others.',
    ],
  },
  fields: field(scope, 'reason', {
    label: 'Reason',
    required: true,
    hint: 'Kept in the audit log. Say also how you knew who is asking.',
  }),
})
