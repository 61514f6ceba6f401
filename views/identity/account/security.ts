// How the own account is signed in to: password, passkeys, authenticator app, recovery codes, and where it is signed in now.

import { endOneSession, endOtherSessions, listSessions } from '../../../src/identity/auth/own-sessions.ts'
import {
  addPasskey,
  beginPasskey,
  passkeysWork,
  removePasskey,
  renamePasskey,
} from '../../../src/identity/auth/second-factors/passkeys.ts'
import { getSecondFactor, renewRecoveryCodes } from '../../../src/identity/auth/second-factors/second-factors.ts'
import { beginTotp, confirmTotp, removeTotp } from '../../../src/identity/auth/second-factors/totp.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, readingAll } from '../../../src/kernel/web/page.ts'
import { count } from '../../components/words.ts'
import { act, callForm } from '../../html/act.ts'
import { card, empty, inside, notice } from '../../html/card.ts'
import { field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { icon } from '../../html/icon.ts'
import { pill } from '../../html/state.ts'
import { table } from '../../html/table.ts'
import { moment, time } from '../../html/time.ts'

type Factors = Answers<{ f: typeof getSecondFactor }>['f']
type Passkey = Factors['passkeys'][number]
type Session = Answers<{ s: typeof listSessions }>['s']['data'][number]

const codesShown = { to: 'showCodes', at: '#codes' } as const
const othersEnd = 'Your other sessions end; this one stays.'
/** The last factor takes the second step with it. */
const alone =
  'It is your only second factor: signing in takes the password alone afterwards, and your recovery codes end.'

const password = ({ hasPassword }: Factors): Html =>
  card(
    {
      id: 'password',
      title: 'Password',
      actions: html`<a class="btn" href="/account">${hasPassword ? 'Change password' : 'Set a password'}</a>`,
    },
    inside(
      html`<p class="muted">${hasPassword ? 'You sign in with your e-mail address and a password.' : 'Your account has no password. You sign in another way.'}</p>`,
    ),
  )

const removal = (at: At, f: Factors, k: Passkey): Html =>
  act(at, removePasskey, { id: k.id }, 'Remove', {
    of: k.name,
    tone: 'bad',
    title: `Remove ${k.name}?`,
    done: `${k.name} is removed`,
    confirm: {
      keep: 'Keep passkey',
      consequences: [
        'It can no longer be used to sign in. Delete it on the device as well: the panel cannot do that.',
        f.passkeys.length === 1 && !f.totp && alone,
        othersEnd,
      ],
    },
  })

const rename = (at: At, k: Passkey): Html =>
  act(at, renamePasskey, { id: k.id }, 'Rename', {
    of: k.name,
    fields: field(`name-${k.id}`, 'name', { label: 'Name', value: k.name, required: true }),
    done: 'Renamed',
  })

function passkeyCard(at: At, f: Factors): Html {
  const works = passkeysWork(at.origin)
  const adding =
    at.may(beginPasskey) &&
    (works
      ? html`${callForm(beginPasskey, {}, { hands: { to: 'makePasskey', at: '.keep-passkey' }, name: 'call' }, html`<button class="btn pri">${icon('plus')}<span>Add passkey</span></button>`)}
        ${callForm(addPasskey, {}, { hands: codesShown, done: 'The passkey is added', name: 'call keep-passkey' }, html`<input type="hidden" name="passkey" data-as="json">`)}`
      : undefined)
  return card(
    {
      id: 'passkeys',
      title: 'Passkeys',
      actions: adding,
      words:
        'A passkey signs you in with the fingerprint, face or PIN of a device, or with a security key. It cannot be guessed, and it works on the address of this panel only.',
    },
    html`
    ${!works && html`<div class="in">${notice('info', html`Passkeys need the panel to have a name and HTTPS. It is at <code>${at.origin}</code> now.`)}</div>`}
    ${
      f.passkeys.length
        ? table<Passkey>(
            'Passkeys',
            f.passkeys,
            [
              { title: 'Passkey', main: true, cell: (k) => html`<strong>${k.name}</strong>` },
              { title: 'Added', cell: (k) => time(k.createdAt, at) },
              {
                title: 'Last used',
                cell: (k) =>
                  k.usedAt
                    ? html`${time(k.usedAt, at)}<small class="mono">from ${k.usedFrom}</small>`
                    : pill('idle', 'wait', 'Never used'),
              },
              {
                title: 'Actions',
                actions: true,
                cell: (k) => html`<div class="bar">${rename(at, k)}${removal(at, f, k)}</div>`,
              },
            ],
            (k) => k.id,
          )
        : works && empty('There is no passkey yet.')
    }`,
  )
}

/** Filled by security.js from the answer, this one time. */
const appDialog = (): Html => html`
  <dialog id="app" aria-labelledby="app-t">${callForm(
    confirmTotp,
    {},
    { hands: codesShown, done: 'Signing in asks for a code from now on' },
    html`
    <h2 id="app-t">Add your authenticator app</h2>
    <ol class="will"><li>Scan this with the app, or <a href="#">open it in the app</a> on this device.</li><li>Type the six digits that the app shows.</li></ol>
    <img class="qr" alt="QR code with the secret; the text below says the same" width="200" height="200">
    <div class="f"><span>Or type this secret into the app</span><div class="bar"><output class="secret grow"></output><button type="button" class="btn" data-copy="">${icon('copy')}Copy</button></div></div>
    ${field('app', 'code', { label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric', required: true, mono: true, hint: othersEnd })}
    <p class="said" role="status"></p>
    <div class="bar end"><button type="button" class="btn" data-close>Cancel</button><button class="btn pri">Turn on</button></div>`,
  )}</dialog>`

const codesDialog = (): Html => html`
  <dialog id="codes" aria-labelledby="codes-t"><div class="in">
    <h2 id="codes-t">Your recovery codes</h2>
    <p>Without your device, each of these signs you in once, together with your password. Keep them where you keep passwords, not on that device.</p>
    <output class="secret"></output>
    <p class="said" role="status"></p>
    <p class="muted">They are shown only this once: Berth keeps them in no readable form.</p>
    <div class="bar end"><button type="button" class="btn" data-copy="">${icon('copy')}Copy</button><a class="btn" href="#" download="recovery-codes.txt">Download</a><button type="button" class="btn pri" data-close>I have stored them</button></div>
  </div></dialog>`

const app = (at: At, f: Factors): Html =>
  card(
    {
      id: 'totp',
      title: 'Authenticator app',
      count: f.totp ? pill('ok', 'tick', 'On') : pill('idle', 'stop', 'Off'),
      actions: f.totp
        ? act(at, removeTotp, {}, 'Remove', {
            of: 'the authenticator app',
            tone: 'bad',
            title: 'Remove the authenticator app?',
            done: 'The authenticator app is removed',
            confirm: {
              keep: 'Keep app',
              consequences: ['Its codes are no longer asked for or accepted.', !f.passkeys.length && alone, othersEnd],
            },
          })
        : at.may(beginTotp) &&
          callForm(
            beginTotp,
            {},
            { hands: { to: 'showApp', at: '#app' }, name: 'call' },
            html`<button class="btn pri">${icon('plus')}<span>Add app</span></button>`,
          ),
    },
    inside(
      html`<p class="muted">${f.totp ? html`After the password, signing in asks for a code of the app that was added ${time(f.totp.confirmedAt, at)}.` : 'An app on your phone shows a new code every 30 seconds. Signing in asks for one after the password.'}</p>`,
    ),
  )

const recovery = (at: At, { totp, passkeys, recoveryCodesLeft: left }: Factors): Html =>
  totp || passkeys.length
    ? card(
        {
          id: 'recovery',
          title: 'Recovery codes',
          count:
            left > 3 ? pill('ok', 'tick', `${left} left`) : pill('warn', 'away', left ? `${left} left` : 'None left'),
          actions: act(at, renewRecoveryCodes, {}, 'Make new codes', {
            hands: codesShown,
            title: 'Make new recovery codes?',
            confirm: {
              consequences: [
                'Ten new codes are shown, once.',
                left > 0 && `The ${count(left, 'code')} that you have now stop working.`,
              ],
            },
          }),
        },
        inside(
          html`<p class="muted">For when your device is lost: each code signs you in once, together with your password.</p>`,
        ),
      )
    : html``

const sessionCard = (at: At, data: readonly Session[]): Html =>
  card(
    {
      id: 'sessions',
      title: 'Where you are signed in',
      words: html`Every sign-in, including refused ones, is listed under <a href="/account/activity">Activity</a>.`,
      actions:
        data.length > 1 &&
        act(at, endOtherSessions, {}, 'Sign out everywhere else', {
          done: 'All other sessions are ended',
          confirm: {
            consequences: [
              `${count(data.length - 1, 'session')} on other devices ${data.length === 2 ? 'ends' : 'end'} at once. This one stays.`,
            ],
          },
        }),
    },
    table<Session>(
      'Sessions',
      data,
      [
        {
          title: 'Device',
          main: true,
          cell: (s) => html`<strong>${s.device}</strong> ${s.current && pill('ok', 'dot', 'This one')}`,
        },
        { title: 'Address', cell: (s) => html`<span class="mono">${s.from}</span>` },
        { title: 'Signed in', cell: (s) => moment(s.createdAt, at) },
        { title: 'Last seen', cell: (s) => moment(s.seenAt, at) },
        {
          title: 'Actions',
          actions: true,
          cell: (s) =>
            !s.current &&
            html`<div class="bar">${act(at, endOneSession, { id: s.id }, 'End', { of: `the session of ${s.device}`, done: 'The session is ended' })}</div>`,
        },
      ],
      (s) => s.id,
    ),
  )

export const securityPage = page({
  path: '/account/security',
  reads: { factors: getSecondFactor, sessions: readingAll(listSessions) },
  title: 'Security',
  nav: 'security',
  view: ({ factors: f, sessions, at }) => html`
    ${head({ title: 'Security', sub: 'How you sign in, and where you are signed in now.' })}
    ${f.required && !f.totp && !f.passkeys.length && html`<div class="sec">${notice('warn', html`<strong>Your role requires a second factor.</strong> Add a passkey or an authenticator app; then everything else is open to you.`)}</div>`}
    ${password(f)}${passkeyCard(at, f)}${app(at, f)}${recovery(at, f)}${sessionCard(at, sessions.data)}
    ${appDialog()}${codesDialog()}`,
})
