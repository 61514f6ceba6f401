// The step after the first account: a second factor for its owner, now or later.

import { getSecondFactor } from '../../../../src/identity/auth/second-factors/second-factors.ts'
import { FIRST_FACTOR_PAGE } from '../../../../src/identity/set-up/first-account.ts'
import { page } from '../../../../src/kernel/web/page.ts'
import { Head } from '../../../components/head.tsx'
import { Link } from '../../../components/link.tsx'
import { Deadline } from '../../../components/time.tsx'
import { AppDialog, CodesDialog } from './factor-dialogs.tsx'
import { AuthenticatorApp, type Factors, Passkeys } from './own-factors.tsx'

export const firstFactorPage = page({
  path: FIRST_FACTOR_PAGE,
  reads: { factors: getSecondFactor },
  title: 'Protect your account',
  nav: 'security',
  view: ({ factors }) => (
    <>
      <Head
        title="Protect your account"
        sub={
          <p>
            An owner can do everything, so a password alone is not enough. Add a passkey or an authenticator app.{' '}
            <Due of={factors} />
          </p>
        }
        actions={<Continue of={factors} />}
      />
      <Passkeys factors={factors} />
      <AuthenticatorApp factors={factors} />
      <AppDialog />
      <CodesDialog />
    </>
  ),
})

const isSet = ({ totp, passkeys }: Factors) => totp !== null || passkeys.length > 0

const Due = ({ of: factors }: { of: Factors }) =>
  factors.requiredFrom && !isSet(factors) ? (
    <>
      You can do it later. It becomes required on <Deadline iso={factors.requiredFrom} />.
    </>
  ) : null

const Continue = ({ of: factors }: { of: Factors }) =>
  isSet(factors) ? (
    <Link class="btn pri" to="/admin">
      Continue
    </Link>
  ) : (
    <Link class="btn" to="/admin">
      Later
    </Link>
  )
