import { operation } from '../../../kernel/api/operation.ts'
import { customer } from '../../account-records/model.ts'
import { linkFor, signInLinkFields } from './program-link.ts'

export const createSignInLink = operation({
  ...signInLinkFields,
  id: 'sign-in-links.create',
  powers: ['gives_access'],
  path: '/customers/{id}/sign-in-links',
  summary:
    'A link that signs a customer in: good once, for 60 seconds. For billing systems whose customer is signed in there',
  past: 'Created a sign-in link',
  on: customer,
  run: (call) => linkFor(call, call.target),
})
