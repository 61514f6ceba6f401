// Signing out without script: the button of the account menu sends its form here.
import { signOut } from '../../../../src/identity/auth/sign-in/sign-in.ts'
import { page } from '../../../../src/kernel/web/page.ts'
import { CallForm } from '../../../components/action.tsx'
import { Head } from '../../../components/head.tsx'
import { Icon } from '../../../components/icon.tsx'

const PATH = '/sign-out'

export const signOutPage = page({
  path: PATH,
  reads: {},
  takes: { op: signOut, signedIn: true, keeps: [], leadsTo: () => '/login' },
  title: 'Sign out',
  view: () => (
    <>
      <Head title="Sign out" />
      <CallForm op={signOut} leadsTo="/login" takenBy={PATH} class="sec first stack">
        <p>You sign out of this browser. Your other sessions go on.</p>
        <div class="bar">
          <button class="btn pri">
            <Icon name="out" />
            Sign out
          </button>
        </div>
      </CallForm>
    </>
  ),
})
