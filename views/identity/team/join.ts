// Where the link in an invitation leads. Looking spends nothing: mail programs open links too.

import { homeOf } from '../../../src/identity/accounts/areas.ts'
import { signOut } from '../../../src/identity/auth/sign-in.ts'
import { acceptInvitation, getInvitation, joinTeam } from '../../../src/identity/team/accept.ts'
import { roles } from '../../../src/identity/team/share.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { act, callForm } from '../../html/act.ts'
import { inside } from '../../html/card.ts'
import { field, newPassword } from '../../html/field.ts'
import { time } from '../../html/time.ts'
import { roleTitles } from './fields.ts'

const reads = { invitation: reading(getInvitation, ({ query }) => ({ query: { token: query['token'] ?? '' } })) }
type Data = Answers<typeof reads> & { at: At }

export const joinPage = page({
  path: '/join',
  open: true,
  reads,
  title: 'Invitation',
  view: (data) => {
    const { invitation: i, at } = data
    return html`
      <section class="sec"><header><h1>Invitation</h1></header>${inside(html`
        <p><strong>${i.owner.name}</strong> would like to share ${i.server ? html`the server <strong>${i.server.name}</strong>` : 'all their servers'} with you.</p>
        <p><strong>${roleTitles[i.role]}.</strong> ${roles[i.role].words}</p>
        <p class="muted">For ${i.email}. The link ends ${time(i.expiresAt, at)}.</p>
        ${steps[i.next](data)}`)}</section>`
  },
})

const body = ({ at }: Data) => ({ token: at.query['token'] ?? '' })
const here = ({ at }: Data) => `/join?token=${encodeURIComponent(at.query['token'] ?? '')}`

const steps: Record<Data['invitation']['next'], (data: Data) => Html> = {
  accept: (data) =>
    callForm(
      acceptInvitation,
      {},
      { body: body(data), done: 'Accepted', leadsTo: '{home}', name: 'stack' },
      html`<div class="bar"><button class="btn pri grow">Accept as ${data.at.actor.name}</button></div>`,
    ),
  sign_in: (data) =>
    html`<p>You have an account with this address.</p><div class="bar"><a class="btn pri grow" href="/login?next=${encodeURIComponent(here(data))}">Sign in to accept</a></div>`,
  make_account: (data) => html`
    <p>Make an account to accept. You sign in with ${data.invitation.email} from then on.</p>
    ${callForm(
      joinTeam,
      {},
      { body: body(data), done: 'Welcome', leadsTo: '{home}', name: 'stack' },
      html`
      ${field('join', 'name', { label: 'Your name', autocomplete: 'name', required: true, focus: true })}
      ${newPassword('join')}
      <div class="bar"><button class="btn pri grow">Make account and accept</button></div>`,
    )}`,
  other_account: (data) => html`
    <p>You are signed in as <strong>${data.at.actor.name}</strong>, an account of another address${data.at.actor.kind === 'staff' && html`, of a member of staff`}. Sign out, then accept as ${data.invitation.email}.</p>
    <div class="bar">${act(data.at, signOut, {}, 'Sign out', { icon: 'out', leadsTo: here(data) })}<a class="btn" href="${homeOf(data.at.actor.kind)}">Keep my session</a></div>`,
}
