// The page behind the link in an invitation. Opening it changes nothing, because mail programs open links too.
import type { ComponentChildren } from 'preact'
import { homeOf } from '../../../src/identity/account-records/areas.ts'
import { signOut } from '../../../src/identity/auth/sign-in/sign-in.ts'
import { acceptInvitation, getInvitation, joinTeam } from '../../../src/identity/team/accept.ts'
import { roles } from '../../../src/identity/team/role.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Field, NewPassword } from '../../components/field.tsx'
import { Time } from '../../components/time.tsx'
import { roleTitles } from './fields.tsx'

const reads = { invitation: reading(getInvitation, ({ query }) => ({ query: { token: query['token'] ?? '' } })) }
type Invitation = Answers<typeof reads>['invitation']

export const joinPage = page({
  path: '/join',
  open: true,
  reads,
  title: 'Invitation',
  view: ({ invitation: i }) => {
    const Next = nextSteps[i.next]
    return (
      <>
        <h1>Invitation</h1>
        <p>
          <strong>{i.owner.name}</strong> would like to share{' '}
          {i.server ? (
            <>
              the server <strong>{i.server.name}</strong>
            </>
          ) : (
            'all their servers'
          )}{' '}
          with you.
        </p>
        <p>
          <strong>{roleTitles[i.role]}.</strong> {roles[i.role].words}
        </p>
        <p class="muted">
          For {i.email}. The link expires <Time iso={i.expiresAt} />.
        </p>
        <Next of={i} />
      </>
    )
  },
})

const useToken = () => ({ token: useAt().query['token'] ?? '' })
const useAddress = () => `/join?token=${encodeURIComponent(useToken().token)}`

const Accept = () => (
  <CallForm op={acceptInvitation} body={useToken()} done="Accepted" leadsTo="{home}" class="stack">
    <button class="btn pri">Accept as {useAt().actor.name}</button>
  </CallForm>
)

const SignInFirst = () => (
  <>
    <p>You have an account with this address.</p>
    <a class="btn pri" href={`/login?next=${encodeURIComponent(useAddress())}`}>
      Sign in to accept
    </a>
  </>
)

const MakeAccount = ({ of: { email } }: { of: Invitation }) => (
  <>
    <p>Create an account to accept. You then sign in with {email}.</p>
    <CallForm op={joinTeam} body={useToken()} done="Welcome" leadsTo="{home}" class="stack">
      <Field scope="join" name="name" label="Your name" autocomplete="name" required focus />
      <NewPassword scope="join" />
      <button class="btn pri">Create account and accept</button>
    </CallForm>
  </>
)

function OtherAccount({ of: { email } }: { of: Invitation }) {
  const { actor } = useAt()
  return (
    <>
      <p>
        You are signed in as <strong>{actor.name}</strong>
        {actor.kind === 'staff' ? ', a staff account' : ', an account with another address'}.
        {` Sign out, then accept as ${email}.`}
      </p>
      <div class="bar">
        <Action op={signOut} label="Sign out" icon="out" leadsTo={useAddress()} />
        <a class="btn" href={homeOf(actor.kind)}>
          Stay signed in
        </a>
      </div>
    </>
  )
}

const nextSteps: Record<Invitation['next'], (props: { of: Invitation }) => ComponentChildren> = {
  accept: Accept,
  sign_in: SignInFirst,
  make_account: MakeAccount,
  other_account: OtherAccount,
}
