import { feature } from '../../kernel/feature.ts'
import { inviteFirstStaff, setUp } from './first-account.ts'

const errors = {
  setup_link_invalid: {
    status: 401,
    when: 'The setup link was used, or the controller was restarted since.',
    remedy: 'Restart the controller and take the new link from its journal.',
    audited: true,
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'set-up': { errors: typeof errors }
  }
}

export const setUpFeature = feature({
  name: 'set-up',
  starts: inviteFirstStaff,
  errors,
  operations: [setUp],
})
