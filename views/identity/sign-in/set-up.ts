import { setUp } from '../../../src/identity/accounts/set-up.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { callForm } from '../../html/act.ts'
import { inside } from '../../html/card.ts'
import { field, newPassword } from '../../html/field.ts'

export const setUpPage = page({
  path: '/setup',
  open: true,
  reads: {},
  title: 'Set up Berth',
  view: ({ at }) => html`
    <section class="sec"><header><h1>Set up Berth</h1></header>${inside(
      at.query['token']
        ? html`
          <p class="muted">This makes the first staff account. It may do everything; you can add more people later.</p>
          ${callForm(
            setUp,
            {},
            { body: { token: at.query['token'] }, leadsTo: '{home}', name: 'stack' },
            html`
            ${field('setup', 'name', { label: 'Your name', autocomplete: 'name', required: true, focus: true })}
            ${field('setup', 'email', { label: 'E-mail address', type: 'email', autocomplete: 'username', required: true })}
            ${newPassword('setup')}
            <div class="bar"><button class="btn pri grow">Create account and sign in</button></div>`,
          )}`
        : html`<p>Open the link that the controller wrote to its journal when it started:</p><p><code>journalctl -u berth | grep setup</code></p><p class="muted">Each start prints a fresh link until there is a staff account.</p><div class="bar"><a class="btn" href="/login">Sign in</a></div>`,
    )}</section>`,
})
