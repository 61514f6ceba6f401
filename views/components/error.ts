import { homeOf } from '../../src/kernel/api/access.ts'
import { type Html, html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { head } from './head.ts'

const titles: Record<number, string> = {
  400: 'This page cannot be shown',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Not possible now',
  422: 'This page cannot be shown',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Restarting',
}
const next: Record<number, string> = {
  400: 'The list may have changed since the link was made. Open it again from the menu.',
  403: 'If you need it for your work, ask an administrator of your team.',
  404: 'It may have been removed, or part of the address was lost when it was copied.',
  429: 'Wait a minute, then reload this page.',
  500: 'Reload in a moment. If it happens again, send the request id below to whoever runs this controller: the journal has the cause.',
  503: 'This page reloads by itself. Servers keep running meanwhile.',
}

/** What happened, what to do next, and the id to quote. */
export function errorPage(
  refusal: { status: number; message: string },
  requestId: string,
  at: At,
): { title: string; body: Html } {
  const home = at.actor.accountId === '' ? '/login' : homeOf(at.actor.kind)
  const title = titles[refusal.status] ?? 'Not possible'
  const body = html`
    ${head({ title })}
    <section class="card oops"${refusal.status === 503 && html` data-reload="5"`}><div class="in">
      <p><strong>${refusal.message}</strong></p>
      <p class="muted">${next[refusal.status] ?? 'Go back and try again.'}</p>
      <div class="bar"><a class="btn pri" href="${home}">${at.actor.accountId === '' ? 'Sign in' : 'Go to the start page'}</a></div>
      <p class="muted"><small>Request id <code>${requestId}</code></small></p>
    </div></section>`
  return { title, body }
}
