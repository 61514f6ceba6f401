import { getSignInProvider } from '../../../src/identity/auth/identity-provider/configure.ts'
import { LEAST_CHARACTERS } from '../../../src/identity/auth/passwords/hash.ts'
import { sessionLimits } from '../../../src/identity/auth/sessions.ts'
import { SIGN_INS_PER_MINUTE } from '../../../src/kernel/api/limits.ts'
import { hour } from '../../../src/kernel/db/clock.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { ownBranding } from '../../../src/platform/settings/branding.ts'
import { configureMail, getMail, testMail } from '../../../src/platform/settings/mail.ts'
import { callForm } from '../../html/act.ts'
import { card, inside, kv, notice } from '../../html/card.ts'
import { check, field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { brandingCards } from './branding.ts'
import { signInProviderCard } from './sign-in.ts'

const reads = { mail: getMail, brand: ownBranding.get, provider: getSignInProvider }
type Mail = Answers<typeof reads>['mail']

const mailCard = (mail: Mail) =>
  card(
    {
      id: 'mail',
      title: 'Mail server',
    },
    html`${inside(html`
      ${mail.host === null && notice('warn', html`<strong>There is no mail server.</strong> Mails wait until there is one.`)}
      ${callForm(
        configureMail,
        {},
        { name: 'stack', done: 'The mail server is saved' },
        html`
        <div class="pair">
          ${field('mail', 'host', { label: 'Host', required: true, mono: true, value: mail.host, placeholder: 'mail.example.com' })}
          ${field('mail', 'port', { label: 'Port', required: true, as: 'number', value: mail.port ?? 587, min: 1, max: 65_535 })}
        </div>
        <div class="pair">
          ${field('mail', 'user', { label: 'User', nullable: true, value: mail.user, autocomplete: 'off' })}
          ${field('mail', 'password', { label: 'Password', type: 'password', autocomplete: 'new-password', hint: mail.hasPassword ? 'One is stored. Leave this empty to keep it.' : 'It is stored encrypted and never shown again.' })}
        </div>
        ${field('mail', 'from', { label: 'Sends from', required: true, type: 'email', value: mail.from, placeholder: 'panel@example.com', hint: 'Mail that cannot be delivered comes back to this address.' })}
        ${check('mail', 'tls', { label: 'TLS from the start', checked: mail.tls, hint: 'Usual on port 465. Otherwise STARTTLS is required.' })}
        ${check('mail', 'plain', { label: 'Without encryption', checked: mail.plain, hint: 'Only for a server on this machine: password and mails cross the network unencrypted.' })}
        <div class="bar"><button class="btn pri">Save mail server</button></div>`,
      )}`)}
      ${
        mail.host !== null &&
        inside(
          callForm(
            testMail,
            {},
            { name: 'stack', done: 'Sent to {to}. The server said: {said}' },
            html`<div class="bar"><button class="btn">Send test</button><span class="muted">Sends a mail to your own address now, with the saved settings.</span></div>`,
          ),
        )
      }`,
  )

const hours = (ms: number) => `${ms / hour} h`
const days = (ms: number) => (ms % (24 * hour) === 0 ? `${ms / (24 * hour)} days` : hours(ms))

const signInCard = () =>
  card(
    { id: 'sign-in', title: 'Sign-in', words: 'These are fixed in this version.' },
    inside(
      kv([
        ['Password', `${LEAST_CHARACTERS} characters at least; common ones are refused`],
        ['Attempts', `${SIGN_INS_PER_MINUTE} a minute from one address`],
        [
          'Staff',
          `signed out after ${hours(sessionLimits.staff.idleMs)} without use, and after ${hours(sessionLimits.staff.wholeMs)} at the latest`,
        ],
        [
          'Customers and resellers',
          `signed out after ${hours(sessionLimits.customer.idleMs)} without use, and after ${days(sessionLimits.customer.wholeMs)} at the latest`,
        ],
      ]),
    ),
  )

export const settingsPage = page({
  path: '/admin/settings',
  reads,
  title: 'Settings',
  nav: 'settings',
  view: ({ mail, brand, provider, at }) => html`
    ${head({ title: 'Settings' })}
    ${mailCard(mail)}
    ${brandingCards(at, ownBranding, brand, 'Berth')}
    ${signInProviderCard(at, provider)}
    ${signInCard()}`,
})
