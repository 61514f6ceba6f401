import { unsuspendServer } from '../../../../src/compute/servers/life/suspend.ts'
import { Action } from '../../../components/action.tsx'
import { disabledReason, type Server } from '../words.ts'

/** Nothing for those who may not give a suspended server back. */
export const Unsuspend = ({ server: s, tone }: { server: Server; tone?: 'pri' }) => (
  <Action
    op={unsuspendServer}
    params={{ id: s.id }}
    label="Unsuspend"
    tone={tone}
    disabledReason={disabledReason(s, 'unsuspend')}
    done="Given back to its owner"
  />
)
