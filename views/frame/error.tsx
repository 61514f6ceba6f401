import { homeOf } from '../../src/identity/account-records/areas.ts'
import type { Html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { Drawing, Icon } from '../components/icon.tsx'
import { here } from '../components/live.tsx'
import { Copyable } from '../components/section.tsx'

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
  500:
    'Reload in a moment. If it happens again, send the request id below to your provider: the journal of the ' +
    'controller has the cause.',
  503: 'This page reloads by itself. Servers keep running meanwhile.',
}

/** These may work a moment later. */
const retried = new Set([429, 500, 503])

/** The error page: the refusal, the next step and the request id. */
export function errorPage(
  refusal: { status: number; message: string },
  requestId: string,
  at: At,
): { title: string; body: Html } {
  const visitor = at.actor.accountId === ''
  const title = titles[refusal.status] ?? 'Not possible'
  const body = (
    <div class="empty" data-reload={refusal.status === 503 ? '5' : undefined}>
      <Drawing name="buoy" />
      <h1>{title}</h1>
      <p>
        <strong>{refusal.message}</strong>
      </p>
      <p>{next[refusal.status] ?? 'Go back and try again.'}</p>
      <div class="bar">
        {retried.has(refusal.status) && (
          <a class="btn pri" href={here(at)}>
            <Icon name="refresh" />
            Try again
          </a>
        )}
        <a class={retried.has(refusal.status) ? 'btn' : 'btn pri'} href={visitor ? '/login' : homeOf(at.actor.kind)}>
          {visitor ? 'Sign in' : 'Go to overview'}
        </a>
        {at.brand.support && (
          <a class="btn bare" href={at.brand.support}>
            Contact support
          </a>
        )}
      </div>
      <small class="bar muted">
        Request id <Copyable text={requestId} what="request id" />
      </small>
    </div>
  )
  return { title, body }
}
