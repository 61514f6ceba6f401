// Forms send their fields to the API as JSON and act on its response.
// @ts-check

import { fill, toast, toastLater } from '../page/messages.js'
import { $, $$, area, go, leave, parsed } from '../page/page.js'
import { answering, refresh } from '../page/redraw.js'
import { isoOf } from '../page/times.js'
import { headersOf, newKey } from './batch.js'
import { confirmFirst, waiting } from './confirm.js'
import { clearErrors, refused } from './refusals.js'
import { hasInput, signedIn, signInAgain } from './session.js'

const wordsIn = (/** @type {string} */ text) => text.split(/[\s,]+/).filter(Boolean)
const isCall = (/** @type {any} */ ctx) => ctx.sourceElement.matches('form[data-call]')

/** A form's fields as the body; `a.b` is nested, `a.0.b` in a list of one. Fields that are off are left out. */
function bodyOf(/** @type {HTMLFormElement} */ form) {
  /** @type {Record<string, any>} */
  const body = {}
  const put = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    const path = name.split('.')
    const last = /** @type {string} */ (path.pop())
    let at = body
    for (const [i, part] of path.entries()) at = at[part] ??= path[i + 1] === '0' ? [] : {}
    at[last] = value
  }
  for (const list of $$('[data-list]', form))
    if (!list.matches(':disabled, :disabled *')) put(/** @type {string} */ (list.dataset['list']), [])
  for (const element of form.elements) {
    const input = /** @type {HTMLInputElement} */ (element)
    if (!input.name || input.matches(':disabled')) continue
    const as = input.dataset['as']
    if (input.type === 'radio' && !input.checked) continue
    if (as === 'json') put(input.name, JSON.parse(input.value))
    else if (as === 'boolean') put(input.name, input.checked)
    else if (as === 'list') {
      if (input.checked)
        input.name
          .split('.')
          .reduce((/** @type {any} */ at, part) => at[part], body)
          .push(input.value)
    } else if (as === 'words') put(input.name, wordsIn(input.value))
    else if (as?.startsWith('numbers')) {
      const numbers = wordsIn(input.value).map(Number)
      put(input.name, as === 'numbers' || numbers.length ? numbers : null)
    } else if (as?.startsWith('lines')) {
      const lines = input.value.split('\n').filter(Boolean)
      put(input.name, as === 'lines' || lines.length ? lines : null)
    } else if (input.value === '') {
      if (as?.endsWith('null')) put(input.name, null)
      else if (input.required) put(input.name, '')
    } else if (as?.startsWith('moment')) put(input.name, isoOf(input.value))
    else
      put(
        input.name,
        as?.startsWith('number') && /^-?\d+$/.test(input.value.trim()) ? Number(input.value) : input.value,
      )
  }
  return body
}

/** Idempotency keys of calls whose response is missing: the same call sent again must not act twice. */
const keys = new WeakMap()

document.addEventListener('htmx:config:request', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (isCall(ctx)) {
    clearErrors(ctx.sourceElement)
    // htmx would put a DELETE's fields into the address.
    if (ctx.request.method === 'DELETE') ctx.request.body = new FormData()
  } else if (ctx.sourceEvent?.type === 'every') {
    if (document.hidden) return event.preventDefault()
    const { id } = ctx.sourceElement
    Object.assign(ctx.request.headers, { 'X-Part': id, 'If-None-Match': tags.get(id) ?? '' })
  }
})
/** The ETags of live parts as they are shown; another redraw makes them unknown. @type {Map<string, string>} */
const tags = new Map()
document.addEventListener('htmx:after:swap', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (ctx?.sourceEvent?.type !== 'every') tags.clear()
  else tags.set(ctx.sourceElement.id, ctx.response.raw.headers.get('ETag') ?? '')
})

document.addEventListener('htmx:before:request', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (!isCall(ctx)) return
  const { request, sourceElement: form } = ctx
  if (request.method !== 'DELETE') request.body = JSON.stringify(bodyOf(form))
  const kept = keys.get(form)
  const key = kept?.body === request.body ? kept.key : newKey()
  keys.set(form, { body: request.body, key })
  const { 'Content-Type': type, ...headers } = headersOf(key)
  Object.assign(request.headers, headers, request.method !== 'DELETE' && { 'Content-Type': type })
})

document.addEventListener('htmx:after:request', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (isCall(ctx)) {
    const answer = parsed(ctx.text)
    if (answer?.error?.code === 'confirmation_required') return confirmFirst(ctx.sourceElement)
    if (answer?.error?.code === 'not_authenticated' && $('#again') && !ctx.sourceElement.closest('#again'))
      return signInAgain(ctx.sourceElement)
    keys.delete(ctx.sourceElement)
    if (ctx.response.status >= 400)
      refused(
        ctx.sourceElement,
        answer?.error ?? {
          code: '',
          message: 'The panel sent an unreadable response. Reload the page to see whether it was done.',
        },
      )
    else succeeded(ctx.sourceElement, answer)
    return
  }
  answering(true)
  const { raw } = ctx.response
  // Signed out meanwhile: the whole page goes where it would go when it is opened, unless that loses something typed.
  if (raw.redirected && new URL(raw.url).pathname === '/login') {
    event.preventDefault()
    if (hasInput()) signInAgain(undefined)
    else location.reload()
  } else if (raw.status === 404) {
    event.preventDefault()
    location.reload()
  } else if (raw.status >= 400) event.preventDefault()
})

document.addEventListener('htmx:error', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (!ctx) return
  if (isCall(ctx))
    refused(ctx.sourceElement, {
      code: '',
      message: 'The panel is not responding. Try again: it will not be done twice.',
    })
  else answering(false)
})

function succeeded(/** @type {HTMLFormElement} */ form, /** @type {any} */ answer) {
  const {
    done,
    then,
    leaves,
    secret,
    secretTitle,
    secretWords,
    secretInto,
    call,
    with: module,
    to = '',
    at = '',
  } = form.dataset
  const words = done ? fill(done, answer) : ''
  const next = answer?.secondFactor
    ? answer.home + (then?.[0] === '/' ? `?next=${encodeURIComponent(then)}` : '')
    : then
      ? fill(then, answer)
      : ''
  if (leaves) return leave(answer[leaves])
  // The module of a single page; it answers true when the page continues with another step.
  if (module)
    return void import(module)
      .then((m) => m[to](answer, $(at)))
      .then(
        (more) => more || arrive(next, words),
        ({ message }) => refused(form, { code: '', message }),
      )
  if (form.closest('#again')) return signedIn(answer)
  form.closest('dialog')?.close()
  if (call === 'sessions.confirm' && waiting) return waiting.requestSubmit()
  if (form.closest('dialog')) form.reset()
  if (secret && secretInto && answer?.[secret]) {
    const box = /** @type {HTMLElement} */ ($(secretInto))
    box.hidden = false
    for (const place of $$('[data-value]', box)) place.textContent = answer[secret]
    for (const button of $$('[data-copy]', box)) button.dataset['copy'] = answer[secret]
    history.replaceState(null, '', next)
    box.focus()
    return refresh()
  }
  if (secret && answer?.[secret])
    return dispatchEvent(
      new CustomEvent('secret', {
        detail: { title: secretTitle, words: secretWords, value: answer[secret], next, toast: words },
      }),
    )
  arrive(next, words, answer?.jobId)
}

/** The module of a page with batches (rows.js) has ended one: its summary. */
addEventListener('batch', (event) => {
  const [summary, options] = /** @type {CustomEvent} */ (event).detail
  toast(summary, options)
  refresh()
})

export function arrive(
  /** @type {string} */ next,
  /** @type {string} */ words,
  /** @type {string | undefined} */ jobId = undefined,
) {
  if (next) {
    if (words) toastLater(words)
    return go(next)
  }
  if (words) toast(words, jobId ? { link: ['Follow job', `${area}/jobs/${jobId}`] } : {})
  refresh()
}
