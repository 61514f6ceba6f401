// How the own account signs in, and where it is signed in now.

import { getSecondFactor } from '../../../../src/identity/auth/second-factors/second-factors.ts'
import { listSessions } from '../../../../src/identity/auth/sessions/own-sessions.ts'
import { page, readingAll } from '../../../../src/kernel/web/page.ts'
import { Head } from '../../../components/head.tsx'
import { Link } from '../../../components/link.tsx'
import { Note, Section } from '../../../components/section.tsx'
import { Deadline } from '../../../components/time.tsx'
import { Sessions } from '../sessions/session-list.tsx'
import { AppDialog, CodesDialog } from './factor-dialogs.tsx'
import { AuthenticatorApp, type Factors, Passkeys, RecoveryCodes } from './own-factors.tsx'

export const securityPage = page({
  path: '/account/security',
  reads: { factors: getSecondFactor, sessions: readingAll(listSessions) },
  title: 'Security',
  nav: 'security',
  view: ({ factors, sessions }) => (
    <>
      <Head title="Security" sub={<p>How you sign in, and where you are signed in now.</p>} />
      <FactorRequired factors={factors} />
      <Password factors={factors} />
      <Passkeys factors={factors} />
      <AuthenticatorApp factors={factors} />
      <RecoveryCodes factors={factors} />
      <Sessions of={sessions.data} />
      <AppDialog />
      <CodesDialog />
    </>
  ),
})

const FactorRequired = ({ factors: { required, requiredFrom, totp, passkeys } }: { factors: Factors }) =>
  totp || passkeys.length > 0 ? null : required ? (
    <Note level="warn">
      <strong>Your role requires a second factor.</strong> Add a passkey or an authenticator app to use the rest of the
      panel.
    </Note>
  ) : requiredFrom ? (
    <Note level="warn">
      <strong>Add a passkey or an authenticator app.</strong> Your role requires a second factor. From{' '}
      <Deadline iso={requiredFrom} /> you can do nothing else without one.
    </Note>
  ) : null

const Password = ({ factors: { hasPassword } }: { factors: Factors }) => (
  <Section
    id="password"
    title="Password"
    actions={
      <Link class="btn" to="/account">
        {hasPassword ? 'Change password' : 'Set a password'}
      </Link>
    }
  >
    <p class="muted">
      {hasPassword
        ? 'You sign in with your e-mail address and a password.'
        : 'Your account has no password. You sign in another way.'}
    </p>
  </Section>
)
