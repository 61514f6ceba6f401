// Signing in through the identity provider: the button, and the page that the provider sends people back to.
import { type listIdentities, removeIdentity } from '../../../src/identity/auth/identity-provider/identities.ts'
import { completeProviderSignIn, getProvider, START_PATH } from '../../../src/identity/auth/identity-provider/oidc.ts'
import { CALLBACK_PAGE } from '../../../src/identity/auth/identity-provider/provider-setting.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Note, Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'

/** Without the page's own query. */
export const provider = reading(getProvider, () => ({}))
type Provider = Answers<{ p: typeof provider }>['p']

type ButtonProps = { of: Provider; next?: string | undefined; again?: boolean }
/** Nothing where no provider is configured. `again`: the provider asks for the sign-in even if it has a session. */
export function ProviderButton({ of: { label }, next, again }: ButtonProps) {
  if (label === null) return null
  const query = new URLSearchParams({ ...(next && { next }), ...(again && { again: '1' }) }).toString()
  return (
    <a class="btn" href={`${START_PATH}${query && `?${query}`}`}>
      {label}
    </a>
  )
}

const reasons = new Map(
  Object.entries({
    rate_limited: 'Too many attempts. Wait a minute, then try again.',
    source_unreachable: 'The sign-in service does not answer. Try again in a minute, or sign in with your password.',
    restarting: 'Berth is restarting. Try again in a minute.',
  }),
)
/** Why the provider could not be reached; nothing without a code. */
export const ProviderRefusal = ({ code }: { code: string | undefined }) =>
  code === undefined ? null : (
    <Note level="warn">{reasons.get(code) ?? 'That did not work. Sign in with your password.'}</Note>
  )

export const providerPage = page({
  path: CALLBACK_PAGE,
  open: true,
  reads: {},
  title: 'Signing in',
  view: ({ at: { query } }) => (
    <>
      <h1>Signing in</h1>
      <Return code={query['code']} state={query['state']} iss={query['iss']} />
      <p>
        <a href="/login">Back to sign in</a>
      </p>
    </>
  ),
})

type ReturnProps = Record<'code' | 'state' | 'iss', string | undefined>
const Return = ({ code, state, iss }: ReturnProps) =>
  code && state ? (
    <CallForm
      op={completeProviderSignIn}
      body={{ code, state, ...(iss && { iss }) }}
      leadsTo="{home}"
      class="stack"
      atOnce
    >
      <p class="muted">The sign-in service has sent you back. If nothing happens, press the button.</p>
      <button class="btn">Continue</button>
    </CallForm>
  ) : (
    <p>The sign-in service sent you back without signing you in. Nothing has changed here.</p>
  )

type Identity = Answers<{ i: typeof listIdentities }>['i']['data'][number]
const hostOf = (identity: Identity) => new URL(identity.issuer).host

/** Nothing while the account has none. */
export const Identities = ({ of: identities }: { of: readonly Identity[] }) =>
  identities.length > 0 ? (
    <Section
      id="identities"
      title="Identity providers"
      words="You can sign in through these as well as with your password."
      flush
    >
      <Table
        label="Identity providers"
        rows={identities}
        idOf={(i) => i.id}
        flow
        columns={[
          {
            title: 'Provider',
            kind: 'name',
            cell: (i) => (
              <>
                <b>{hostOf(i)}</b>
                <small class="mono">{i.subject}</small>
              </>
            ),
          },
          { title: 'Linked', kind: 'wide', cell: (i) => <Time iso={i.createdAt} /> },
          { title: 'Last used', kind: 'wide', cell: (i) => <Time iso={i.usedAt} /> },
          { title: 'Actions', kind: 'more', cell: (i) => <Unlink of={i} /> },
        ]}
      />
    </Section>
  ) : null

const Unlink = ({ of: identity }: { of: Identity }) => (
  <Action
    op={removeIdentity}
    params={{ id: identity.id }}
    label="Unlink"
    of={hostOf(identity)}
    small
    done="The identity provider is unlinked"
    confirm={{
      keep: 'Keep link',
      consequences: [
        'This signs you out everywhere else.',
        'If the provider still has the same e-mail address as this account, signing in there links it again.',
      ],
    }}
  />
)
