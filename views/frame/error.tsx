import { homeOf } from '../../src/identity/account-records/areas.ts'
import type { Html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import type { PageRefusal } from '../../src/kernel/web/site.ts'
import { Drawing, Icon } from '../components/icon.tsx'
import { here } from '../components/live.tsx'
import { Copyable } from '../components/section.tsx'

const titles: Record<number, string> = {
  400: 'This page cannot be shown',
  401: 'Not signed in',
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

const titlesOfChanges: Record<number, string> = {
  400: 'Not understood',
  405: 'Nothing was changed',
  409: 'Nothing was changed',
  422: 'Not possible',
}
const SCRIPT_FIRST =
  'Go back, let the page load to its end, and press the button again. If JavaScript is switched off for this site, ' +
  'switch it on: without it you can sign in and read pages.'
const nextOfChanges: Record<number, string> = {
  403: 'Open the page again and repeat it there.',
  405: SCRIPT_FIRST,
  409: SCRIPT_FIRST,
  429: 'Wait a minute, then go back and try again.',
  500: 'Go back and look whether it was done. If it was not, send the request id below to your provider.',
  503: 'Nothing was changed. Go back and try again in a minute. Servers keep running meanwhile.',
}

/** These may work a moment later. */
const retried = new Set([429, 500, 503])

/** The error page: the refusal, the next step and the request id. */
export function errorPage(
  { status, message, isChange }: PageRefusal,
  requestId: string,
  at: At,
): { title: string; body: Html } {
  const visitor = at.actor.accountId === ''
  const title = (isChange && titlesOfChanges[status]) || titles[status] || 'Not possible'
  const step = (isChange && nextOfChanges[status]) || next[status] || 'Go back and try again.'
  const isBack = isChange && status !== 404
  const isFirst = isBack || retried.has(status)
  const body = (
    <div class="empty" data-reload={status === 503 && !isChange ? '5' : undefined}>
      <Drawing name="buoy" />
      <h1>{title}</h1>
      <p>
        <strong>{message}</strong>
      </p>
      <p>{step}</p>
      <div class="bar">
        {isFirst && (
          <a class="btn pri" href={here(at)}>
            <Icon name={isBack ? 'chevron-left' : 'refresh'} />
            {isBack ? 'Back to the page' : 'Try again'}
          </a>
        )}
        <a class={isFirst ? 'btn' : 'btn pri'} href={visitor ? '/login' : homeOf(at.actor.kind)}>
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
