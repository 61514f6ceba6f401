// The pages that links lead to. Looking spends nothing: mail programs open links too, so each is spent by the call its form makes.

import { confirmEmail } from '../../../src/identity/accounts/own-account.ts'
import { purposes } from '../../../src/identity/auth/links/links.ts'
import { requestReset, setPassword } from '../../../src/identity/auth/links/password-links.ts'
import { useSignInLink } from '../../../src/identity/auth/links/sign-in-links.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type At, page } from '../../../src/kernel/web/page.ts'
import { callForm } from '../../html/act.ts'
import { inside } from '../../html/card.ts'
import { field, newPassword, username } from '../../html/field.ts'

const box = (title: string, inner: Html): Html =>
  html`<section class="sec"><header><h1>${title}</h1></header>${inside(inner)}</section>`
const token = ({ params }: At) => ({ token: params['token'] ?? '' })

const choose = (at: At, words: string, button: string): Html => html`
  <p class="muted">${words}</p>
  ${callForm(
    setPassword,
    {},
    { body: token(at), leadsTo: '{home}', name: 'stack' },
    html`
    ${username()}${newPassword('password', { label: 'New password', focus: true })}
    <div class="bar"><button class="btn pri grow">${button}</button></div>`,
  )}
  <p class="muted">Link too old? <a href="/forgot">Ask for a new one.</a></p>`

export const welcomePage = page({
  path: `${purposes.welcome.page}{token}`,
  open: true,
  reads: {},
  title: 'Welcome',
  view: ({ at }) =>
    box(
      'Welcome',
      choose(
        at,
        'Choose a password for your account. You sign in with it and the address this link was mailed to.',
        'Choose and sign in',
      ),
    ),
})

export const resetPage = page({
  path: `${purposes.reset.page}{token}`,
  open: true,
  reads: {},
  title: 'New password',
  view: ({ at }) =>
    box(
      'New password',
      choose(at, 'Every other session of your account ends. A second factor stays as it is.', 'Change and sign in'),
    ),
})

export const forgotPage = page({
  path: '/forgot',
  open: true,
  reads: {},
  title: 'Forgotten password',
  view: ({ at }) =>
    box(
      'Forgotten password',
      at.query['sent'] === '1'
        ? html`<p role="status"><strong>If this address has an account, a link is on its way.</strong></p><p class="muted">It works once, for an hour. Nothing after a few minutes? Look in the spam folder, or ask your provider.</p><div class="bar"><a class="btn" href="/login">Sign in</a></div>`
        : html`
      <p class="muted">We mail you a link to choose a new one.</p>
      ${callForm(
        requestReset,
        {},
        { leadsTo: '/forgot?sent=1', name: 'stack' },
        html`
        ${field('forgot', 'email', { label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, focus: true })}
        <div class="bar"><button class="btn pri grow">Mail me a link</button></div>`,
      )}
      <p><a href="/login">Back to sign in</a></p>`,
    ),
})

export const confirmEmailPage = page({
  path: `${purposes.email.page}{token}`,
  open: true,
  reads: {},
  title: 'Confirm your address',
  view: ({ at }) =>
    box(
      'Confirm your address',
      html`<p class="muted">From then on you sign in with the address that this link was mailed to.</p>
      ${callForm(confirmEmail, {}, { body: token(at), done: 'From now on you sign in with {email}', leadsTo: '/', name: 'stack' }, html`<div class="bar"><button class="btn pri grow">Confirm</button></div>`)}`,
    ),
})

export const signInLinkPage = page({
  path: `${purposes['sign-in'].page}{token}`,
  open: true,
  reads: {},
  title: 'Signing in',
  view: ({ at }) =>
    box(
      'Signing in',
      html`<p class="muted">You were sent here by your provider's customer area.</p>
      ${callForm(useSignInLink, {}, { body: token(at), leadsTo: '{home}', name: 'stack', atOnce: true }, html`<div class="bar"><button class="btn pri grow">Sign in</button></div>`)}
      <p class="muted">Does it say that the link is not valid any more? Go back and follow it again: it is good for a minute.</p>`,
    ),
})
