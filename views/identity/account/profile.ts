import {
  changeEmail,
  changeOwnAccount,
  changePassword,
  getOwnAccount,
} from '../../../src/identity/accounts/own-account.ts'
import { timeZones, uiPreferences } from '../../../src/identity/accounts/ui-preferences.ts'
import { listIdentities } from '../../../src/identity/auth/identity-provider/identities.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { act, callForm } from '../../html/act.ts'
import { card, copyable, inside, kv, notice } from '../../html/card.ts'
import { field, newPassword, select, username } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { moment, time } from '../../html/time.ts'
import { identitiesCard } from '../sign-in/oidc.ts'

const reads = { account: getOwnAccount, identities: reading(listIdentities, () => ({})) }
type Data = Answers<typeof reads> & { at: At }

const words: Record<string, string> = {
  system: 'As the system',
  light: 'Light',
  dark: 'Dark',
  comfortable: 'Comfortable',
  compact: 'Compact: more rows on a screen',
}
const choice = (name: keyof typeof uiPreferences, label: string, value: string) =>
  select('profile', name, { label, value, options: uiPreferences[name].map((v) => ({ value: v, label: words[v]! })) })

const profile = ({ account: a, at }: Data) =>
  card(
    { id: 'profile', title: 'Profile' },
    inside(
      at.may(changeOwnAccount)
        ? callForm(
            changeOwnAccount,
            {},
            { done: 'Saved', name: 'stack', leadsTo: '/account' },
            html`
          ${field('profile', 'name', { label: 'Name', required: true, value: a.name, autocomplete: 'name' })}
          ${a.kind !== 'staff' && field('profile', 'organization', { label: 'Organization', nullable: true, value: a.organization, autocomplete: 'organization' })}
          ${choice('theme', 'Colours', a.theme)}${choice('density', 'Density', a.density)}
          ${select('profile', 'timeZone', { label: 'Time zone', nullable: true, value: a.timeZone ?? '', hint: 'In which times are shown. Filters and forms that ask for UTC say so.', options: [{ value: '', label: 'As the browser' }, ...timeZones().map((value) => ({ value, label: value.replaceAll('_', ' ') }))] })}
          <div class="bar"><button class="btn pri">Save</button></div>`,
          )
        : kv([
            ['Name', a.name],
            ['Organization', a.organization],
          ]),
    ),
  )

const signingIn = ({ account: a, at }: Data) =>
  card(
    { id: 'signing-in', title: 'Signing in' },
    inside(html`
    ${kv([
      [
        'E-mail',
        html`${a.email} ${act(at, changeEmail, {}, 'Change', {
          of: 'e-mail address',
          title: 'Change your e-mail address',
          submit: 'Mail me a link',
          done: 'A link is on its way to the new address',
          fields: html`${username(a.email)}${field('email', 'email', { label: 'New address', type: 'email', required: true, autocomplete: 'email', hint: 'It takes effect once you open the link mailed to it. The old address is told.' })}${field('email', 'password', { label: 'Your password', type: 'password', required: true, autocomplete: 'current-password' })}`,
        })}`,
      ],
      [
        'Password',
        a.hasPassword
          ? html`Set ${act(at, changePassword, {}, 'Change', {
              of: 'password',
              title: 'Change your password',
              done: 'Your password is changed. Every other session has ended',
              fields: html`${username(a.email)}${field('pw', 'current', { label: 'Current password', type: 'password', required: true, autocomplete: 'current-password' })}${newPassword('pw', { label: 'New password' })}`,
            })}`
          : html`None yet. <a href="/forgot">Mail me a link to choose one</a>`,
      ],
      [
        'Mails',
        'What you ask for, changes to how you sign in, and servers that wait for their setup. They cannot be turned off in this version.',
      ],
      ['Since', time(a.createdAt, at)],
      ['Id', copyable(a.id, 'id')],
    ])}`),
  )

const locked = ({ account: a, at }: Data) =>
  a.lockedAt &&
  html`<div class="sec">${notice('bad', html`<strong>Your account is locked</strong> since ${moment(a.lockedAt, at)}: nothing new can be ordered for it, and your servers go on.<br>${a.lockReason ? html`Your provider says: ${a.lockReason}` : 'Ask your provider about it.'}`)}</div>`

export const profilePage = page({
  path: '/account',
  reads,
  title: 'Account',
  nav: 'account',
  view: (data) =>
    html`${head({ title: 'Account' })}${locked(data)}<div class="cols">${profile(data)}${signingIn(data)}</div>${identitiesCard(data.at, data.identities.data)}`,
})
