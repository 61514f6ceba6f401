// Removes a lost second factor at the request of its holder, who is told by mail.
import { ApiError } from '../../../kernel/api/errors.ts'
import { type Call, done, fields, operation, reasonText } from '../../../kernel/api/operation.ts'
import { type MailContext, mailTo } from '../../../kernel/mail/mail.ts'
import { type Account, customer, staffMember } from '../../account-records/model.ts'
import { tellOfOwner } from '../../account-records/owner-changes.ts'
import { mustOutrank, roleOf } from '../../account-records/roles/role.ts'
import { endSessionsOf } from '../sessions/sessions.ts'
import { factorsOf } from './factors.ts'
import { deleteFactorsOf } from './queries.ts'

/** The reason goes into the audit log: removing a factor is a way to take over an account. */
const declared = {
  method: 'POST',
  requiresSession: true,
  requiresRecentAuth: true,
  body: fields({ reason: reasonText(500) }),
  response: done,
  refuses: ['already_done'],
  example: { reason: 'Lost the phone; called back on the number of the contract' },
} as const

export const resetCustomerFactors = operation({
  ...declared,
  id: 'customers.reset-second-factor',
  destroys: ['keys'],
  path: '/customers/{id}/actions/reset-second-factor',
  summary:
    'Remove a lost second factor from a customer: they sign in with the password alone until they set up another',
  past: 'Removed a second factor',
  access: { staff: ['customers.write'], reseller: ['reseller:customers'] },
  on: customer,
  run: (call) => removeFactors(call, call.target),
})

export const resetStaffFactors = operation({
  ...declared,
  id: 'staff.reset-second-factor',
  destroys: ['keys'],
  path: '/admin/staff/{id}/actions/reset-second-factor',
  summary: 'Remove a lost second factor from a member of staff',
  past: 'Removed a second factor',
  access: { staff: ['staff.write'] },
  on: staffMember,
  run(call) {
    const { tx, target } = call
    mustOutrank(tx, call, target)
    if (roleOf(tx, target)?.isOwner)
      tellOfOwner(call, `The second factor of the owner ${target.name} (${target.email}) was removed.`)
    return removeFactors(call, call.target)
  },
})

function removeFactors(call: MailContext & Pick<Call, 'tx'>, account: Account) {
  const { tx } = call
  if (!factorsOf(tx, account.id).length) throw new ApiError('already_done', `${account.name} has no second factor.`)
  deleteFactorsOf(tx, account.id)
  endSessionsOf(tx, account.id)
  mailTo(tx, call, account, {
    subject: 'Your second factor was removed',
    paragraphs: [
      'An administrator removed it from your account, and you were signed out everywhere. ' +
        'You sign in with your password alone until you set up another.',
    ],
    closing: 'If you did not ask for this, contact your administrator or provider at once.',
  })
  return {}
}
