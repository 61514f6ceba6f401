// A button is a call of the API, drawn from its operation: method, path and permission are said there and nowhere else.
// public/panel/calls.js sends the form as JSON with the CSRF token and an Idempotency-Key, shows refusals, and does what `done`, `leadsTo` and
// `secret` say.
import { API_ROOT } from '../../src/kernel/api/http.ts'
import type { Method, Operation } from '../../src/kernel/api/operation.ts'
import { type Content, type Html, html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { type IconName, icon } from './icon.ts'

export type Params = Readonly<Record<string, string>>
type Calling = {
  /** Fields that are not the person's to choose. */
  body?: Record<string, unknown>
  /** Said when it is done. `{field}` is a field of the answer. */
  done?: string
  /** Where to go then; without it the page is refreshed in place. */
  leadsTo?: string
  /** A field of the answer that is shown this one time, with what it is: in a dialog, or in a part of the page that is named. */
  secret?: { field: string; title: string; words: string; into?: string }
  /** A function of public/security.js that gets the answer, and the part of the page that it is about. */
  hands?: { to: 'askPasskey' | 'makePasskey' | 'showApp' | 'showCodes'; at: string }
}
export type Acting = Calling & {
  icon?: IconName
  tone?: 'pri' | 'bad'
  /** Why it cannot be done now; the button stays and says so. */
  disabledReason?: string | false | undefined
  /** What the person fills in, in a dialog. */
  fields?: Content
  title?: string
  /** On the dialog's button, where it is not the label. */
  submit?: string
  /** Asks first, listing what will happen. `type`: the name to type, for what destroys data. */
  confirm?: { consequences: Content[]; type?: string; keep?: string }
  wide?: true
  /** Tells its dialog from another of the same operation and thing on the page. */
  part?: string
  /** Read after the label, where the label alone does not say of what. */
  of?: string
  /** The label is read and shown on hover only. */
  iconOnly?: true
  /** What a button for many rows (`data-press`) finds this one by. */
  does?: string
}

const verbs: Record<Method, Html> = {
  GET: html`hx-get`,
  POST: html`hx-post`,
  PUT: html`hx-put`,
  PATCH: html`hx-patch`,
  DELETE: html`hx-delete`,
}
/** Where the API has it. */
export const pathOf = (op: Operation, params: Params) =>
  API_ROOT + op.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
export const idOf = (op: Operation, params: Params, body: Record<string, unknown> = {}) =>
  `${op.id}-${[...Object.values(params), ...Object.values(body)].join('-')}`
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/-$/, '')

/** A form that calls an operation. It says `post` to browsers, so that without scripts no field ends up in an address. `redraws`: its choices go into the page's address. `atOnce`: sent when the page has loaded. */
export const callForm = (
  op: Operation,
  params: Params,
  {
    body = {},
    done,
    leadsTo,
    secret,
    hands,
    name = '',
    redraws,
    atOnce,
  }: Calling & { name?: string; redraws?: true; atOnce?: true },
  inner: Content,
): Html => html`
  <form method="post" novalidate hx-swap="none" ${verbs[op.method]}="${pathOf(op, params)}" hx-sync="drop" data-call="${op.id}" class="${name}"${done && html` data-done="${done}"`}${leadsTo && html` data-then="${leadsTo}"`}${
    secret &&
    html` data-secret="${secret.field}" data-secret-title="${secret.title}" data-secret-words="${secret.words}"`
  }${secret?.into && html` data-secret-into="${secret.into}"`}${hands && html` data-with="security.js" data-to="${hands.to}" data-at="${hands.at}"`}${redraws && html` data-redraw`}${atOnce && html` hx-trigger="load, submit"`}>
    ${Object.entries(body).map(([field, value]) => html`<input type="hidden" name="${field}" value="${JSON.stringify(value)}" data-as="json">`)}
    ${inner}
  </form>`

/** Nothing for who may not; a plain form for what needs no question; else a button and its dialog. */
export function act(at: At, op: Operation, params: Params, label: string, acting: Acting = {}): Html {
  if (!at.may(op)) return html``
  const { icon: shape, tone, disabledReason, fields, confirm, of, iconOnly, does } = acting
  const face = html`${shape && icon(shape)}<span${iconOnly && html` class="sr"`}>${label}</span>${of && html`<span class="sr"> ${of}</span>`}`
  const look = `btn ${tone === 'pri' ? 'pri' : tone === 'bad' ? 'bad' : ''}`
  const found = does && html` data-does="${does}"`
  if (disabledReason)
    return html`<button type="button" class="${look}" aria-disabled="true" title="${disabledReason}" data-why="${disabledReason}"${found}>${face}</button>`
  if (!fields && !confirm)
    return callForm(
      op,
      params,
      { ...acting, name: 'call' },
      html`<button class="${look}"${iconOnly && html` title="${label}"`}${found}>${face}</button>`,
    )

  const id = idOf(op, { ...params, ...(acting.part && { part: acting.part }) }, acting.body)
  const title = acting.title ?? (confirm ? `${label}?` : label)
  return html`<button type="button" class="${look}" data-dialog="${id}" aria-haspopup="dialog">${face}</button>
    <dialog id="${id}" aria-labelledby="${id}-t" class="${acting.wide ? 'wide' : ''}">${callForm(
      op,
      params,
      acting,
      html`
      <h2 id="${id}-t">${title}</h2>
      ${confirm && html`<ul class="will">${confirm.consequences.filter(Boolean).map((c) => html`<li>${c}</li>`)}</ul>`}
      ${confirm && op.requiresRecentAuth === true && html`<p class="muted">If you signed in more than 10 minutes ago, you show once more who you are.</p>`}
      ${fields}
      ${confirm?.type !== undefined && html`<div class="f"><label for="${id}-n">Type <code>${confirm.type}</code> to confirm</label><input id="${id}-n" autocomplete="off" autocapitalize="off" spellcheck="false" data-must-be="${confirm.type}"></div>`}
      <div class="bar end"><button type="button" class="btn" data-close>${confirm?.keep ?? 'Cancel'}</button><button class="btn pri ${tone === 'bad' ? 'bad' : ''}"${confirm?.type !== undefined && html` disabled data-gated`}>${acting.submit ?? label}</button></div>`,
    )}
    </dialog>`
}
