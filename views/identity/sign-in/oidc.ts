// Signing in through the identity provider: the button, and the page that the provider sends people back to.

import { type listIdentities, removeIdentity } from '../../../src/identity/auth/identity-provider/identities.ts'
import { completeProviderSignIn, getProvider, START_PATH } from '../../../src/identity/auth/identity-provider/oidc.ts'
import { CALLBACK_PAGE } from '../../../src/identity/auth/identity-provider/provider-setting.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { act, callForm } from '../../html/act.ts'
import { card, inside, notice } from '../../html/card.ts'
import { table } from '../../html/table.ts'
import { time } from '../../html/time.ts'

/** Without the page's own query. */
export const provider = reading(getProvider, () => ({}))
type Provider = Answers<{ p: typeof provider }>['p']

/** Nothing where no provider is configured. `again`: it is to ask who they are even if it knows. */
export const providerButton = (
  { label }: Provider,
  { next, again }: { next?: string | undefined; again?: true } = {},
): Html => {
  const query = new URLSearchParams({ ...(next && { next }), ...(again && { again: '1' }) }).toString()
  return label === null
    ? html``
    : html`<div class="bar"><a class="btn grow" href="${START_PATH}${query && `?${query}`}">${label}</a></div>`
}

const why = new Map(
  Object.entries({
    rate_limited: 'Too many tries. Wait a minute, then try again.',
    source_unreachable: 'The sign-in service does not answer. Try again in a minute, or sign in with your password.',
    restarting: 'Berth is restarting. Try again in a minute.',
  }),
)
/** Why the way to the provider was closed. */
export const providerRefusal = (code: string | undefined): Html | false =>
  code !== undefined && notice('warn', html`${why.get(code) ?? 'That did not work. Sign in with your password.'}`)

export const providerPage = page({
  path: CALLBACK_PAGE,
  open: true,
  reads: {},
  title: 'Signing in',
  view: ({ at: { query } }) => {
    const { code, state, iss } = query
    return html`<section class="sec"><header><h1>Signing in</h1></header>${inside(
      code && state
        ? callForm(
            completeProviderSignIn,
            {},
            { body: { code, state, ...(iss && { iss }) }, leadsTo: '{home}', name: 'stack', atOnce: true },
            html`<p class="muted">You were sent here by the sign-in service. If nothing happens, press the button.</p><div class="bar"><button class="btn grow">Continue</button></div>`,
          )
        : html`<p>The sign-in service sent you back without signing you in. Nothing has changed here.</p>`,
    )}${inside(html`<p><a href="/login">Back to sign in</a></p>`)}</section>`
  },
})

type Identity = Answers<{ i: typeof listIdentities }>['i']['data'][number]
/** Nothing while the account has none. */
export const identitiesCard = (at: At, data: readonly Identity[]): Html =>
  data.length
    ? card(
        {
          id: 'identities',
          title: 'Identity providers',
          words: 'You can sign in through these as well as with your password.',
        },
        table<Identity>(
          'Identity providers',
          data,
          [
            {
              title: 'Provider',
              main: true,
              cell: (i) => html`<strong>${new URL(i.issuer).host}</strong><small class="mono">${i.subject}</small>`,
            },
            { title: 'Linked', cell: (i) => time(i.createdAt, at) },
            { title: 'Last used', cell: (i) => time(i.usedAt, at) },
            {
              title: 'Actions',
              actions: true,
              cell: (i) =>
                act(at, removeIdentity, { id: i.id }, 'Unlink', {
                  of: new URL(i.issuer).host,
                  done: 'The identity provider is unlinked',
                  confirm: {
                    keep: 'Keep link',
                    consequences: [
                      'Every other session of your account ends.',
                      'If the address there is still the address of this account, signing in there links it again.',
                    ],
                  },
                }),
            },
          ],
          (i) => i.id,
        ),
      )
    : html``
