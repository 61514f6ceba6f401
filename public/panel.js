// What pages do in the browser. Forms call the API as JSON and show its answer; live parts ask for themselves; the rest is small.
// @ts-check

/** @typedef {{ code: string, message: string, details?: { fields?: { field: string, message: string }[] } }} Failure */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Input */

const htmx = /** @type {any} */ (globalThis).htmx
const $ = (/** @type {string} */ selector, /** @type {ParentNode} */ root = document) =>
  /** @type {HTMLElement | null} */ (root.querySelector(selector))
const $$ = (/** @type {string} */ selector, /** @type {ParentNode} */ root = document) =>
  /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)])
const make = (
  /** @type {string} */ tag,
  /** @type {Record<string, string>} */ attributes = {},
  /** @type {(Node | string)[]} */ ...inner
) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...inner)
  return element
}
const staffArea = () => location.pathname.startsWith('/admin')
/** Only ever to this site: an address that came from elsewhere goes nowhere. */
const go = (/** @type {string} */ path) => {
  if (/^\/(?![/\\])/.test(path)) location.assign(path)
}

// ---------------------------------------------------------------- messages
/** Said to everybody, also to screen readers. A refusal stays until it is closed. */
function toast(/** @type {string} */ words, /** @type {{ bad?: boolean, link?: [string, string] }} */ { bad = false, link } = {}) {
  const said = $('dialog[open] .said')
  if (said) return void (said.textContent = words)
  const close = make('button', { type: 'button', class: 'btn bare', 'aria-label': 'Close message' }, '✕')
  const it = make(
    'div',
    { class: bad ? 'toast bad' : 'toast' },
    make('span', {}, words),
    ...(link ? [make('a', { href: link[1] }, link[0])] : []),
    close,
  )
  close.addEventListener('click', () => it.remove())
  $('#toasts')?.append(it)
  if (!bad) setTimeout(() => it.remove(), 6000)
}

/** For after the next page has loaded. */
const toastLater = (/** @type {string} */ words) => sessionStorage.setItem('toast', words)
addEventListener('DOMContentLoaded', () => {
  const words = sessionStorage.getItem('toast')
  sessionStorage.removeItem('toast')
  if (words) toast(words)
})

const fill = (/** @type {string} */ words, /** @type {any} */ answer) =>
  words.replace(/\{(\w+)\}/g, (_, name) => String(answer?.[name] ?? ''))

/** Draws the page again where it changed. */
const refresh = () => htmx.ajax('GET', location.pathname + location.search, { target: '#main', select: '#main', swap: 'outerMorph' })

// ---------------------------------------------------------------- forms that call the API
const isCall = (/** @type {any} */ ctx) => ctx.sourceElement.matches('form[data-call]')

/** A form's fields as the body; `a.b` is nested. Fields that are off are left out. */
function bodyOf(/** @type {HTMLFormElement} */ form) {
  /** @type {Record<string, any>} */
  const body = {}
  const put = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    const path = name.split('.')
    const last = /** @type {string} */ (path.pop())
    let at = body
    for (const part of path) at = at[part] ??= {}
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
    } else if (as === 'words') put(input.name, input.value.split(/[\s,]+/).filter(Boolean))
    else if (input.value === '') {
      if (as?.endsWith('null')) put(input.name, null)
      else if (input.required) put(input.name, '')
    } else if (as?.startsWith('utc')) put(input.name, `${input.value}:00Z`)
    else put(input.name, as?.startsWith('number') && /^-?\d+$/.test(input.value.trim()) ? Number(input.value) : input.value)
  }
  return body
}

/** Kept while it is not known whether a call arrived: sent again, it must not do it twice. */
const keys = new WeakMap()

document.addEventListener('htmx:config:request', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (isCall(ctx)) {
    clearErrors(ctx.sourceElement)
    // htmx would put a DELETE's fields into the address.
    if (ctx.request.method === 'DELETE') ctx.request.body = new FormData()
  } else if (ctx.sourceEvent?.type === 'every' && document.hidden) event.preventDefault()
})

document.addEventListener('htmx:before:request', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (!isCall(ctx)) return
  const { request, sourceElement: form } = ctx
  Object.assign(request.headers, {
    Accept: 'application/json',
    'X-CSRF-Token': /** @type {HTMLMetaElement} */ ($('meta[name=csrf-token]')).content,
  })
  if (request.method !== 'DELETE') {
    request.headers['Content-Type'] = 'application/json'
    request.body = JSON.stringify(bodyOf(form))
  }
  const kept = keys.get(form)
  const key =
    kept?.body === request.body
      ? kept.key
      : Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')
  keys.set(form, { body: request.body, key })
  request.headers['Idempotency-Key'] = key
})

document.addEventListener('htmx:after:request', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (isCall(ctx)) {
    const answer = parsed(ctx.text)
    if (answer?.error?.code === 'confirmation_required') return confirmFirst(ctx.sourceElement)
    keys.delete(ctx.sourceElement)
    if (ctx.response.status >= 400)
      refused(
        ctx.sourceElement,
        answer?.error ?? { code: '', message: 'The panel gave no answer that can be read. Reload the page and look whether it is done.' },
      )
    else succeeded(ctx.sourceElement, answer)
    return
  }
  answering(true)
  const { raw } = ctx.response
  // Signed out meanwhile: the whole page goes where it would go when it is opened.
  if (raw.redirected && new URL(raw.url).pathname === '/login') {
    event.preventDefault()
    location.reload()
  } else if (raw.status === 404) {
    event.preventDefault()
    location.reload()
  } else if (raw.status >= 400) event.preventDefault()
})

document.addEventListener('htmx:error', (event) => {
  const { ctx } = /** @type {CustomEvent} */ (event).detail
  if (!ctx) return
  if (isCall(ctx)) refused(ctx.sourceElement, { code: '', message: 'The panel does not answer. Try again: it will not be done twice.' })
  else answering(false)
})

/** Live parts keep asking; this says that what is shown may be old. */
const answering = (/** @type {boolean} */ yes) => void ($('#offline') && /** @type {HTMLElement} */ (($('#offline').hidden = yes)))

function parsed(/** @type {string} */ text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function succeeded(/** @type {HTMLFormElement} */ form, /** @type {any} */ answer) {
  const { done, then, secret, secretTitle, secretWords, secretInto, call, with: module, to = '', at = '' } = form.dataset
  const words = done ? fill(done, answer) : ''
  const next = answer?.secondFactor
    ? answer.home + (then?.[0] === '/' ? `?next=${encodeURIComponent(then)}` : '')
    : then
      ? fill(then, answer)
      : ''
  // Modules for single pages; true: there is more to come there.
  if (module)
    return void import(module)
      .then((m) => m[to](answer, $(at)))
      .then(
        (more) => more || arrive(next, words),
        ({ message }) => refused(form, { code: '', message }),
      )
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
      new CustomEvent('secret', { detail: { title: secretTitle, words: secretWords, value: answer[secret], next, toast: words } }),
    )
  arrive(next, words, answer?.jobId)
}

/** What waits until somebody has shown who they are. @type {HTMLFormElement | undefined} */
let waiting
/** Asks for it, and sends the call again under its key. */
async function confirmFirst(/** @type {HTMLFormElement} */ form) {
  waiting = form
  await htmx.ajax('GET', '/account/confirm', { target: '#confirm', select: '#confirm-in', swap: 'innerHTML' })
  const dialog = /** @type {HTMLDialogElement} */ ($('#confirm'))
  dialog.showModal()
  $('input:not([type=hidden]), button', dialog)?.focus()
}

function arrive(/** @type {string} */ next, /** @type {string} */ words, /** @type {string | undefined} */ jobId = undefined) {
  if (next) {
    if (words) toastLater(words)
    return go(next)
  }
  if (words) toast(words, jobId ? { link: ['Follow job', `${staffArea() ? '/admin' : ''}/jobs/${jobId}`] } : {})
  refresh()
}

// ---------------------------------------------------------------- refusals, beside the fields and above them
const title = document.title

function clearErrors(/** @type {HTMLElement} */ form) {
  document.title = title
  for (const it of $$('.sum, .err', form)) it.remove()
  for (const it of $$('[aria-invalid]', form)) {
    it.removeAttribute('aria-invalid')
    const rest = (it.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .filter((id) => !id.endsWith('-err'))
      .join(' ')
    if (rest) it.setAttribute('aria-describedby', rest)
    else it.removeAttribute('aria-describedby')
  }
}

function refused(/** @type {HTMLFormElement} */ form, /** @type {Failure} */ { code, message, details }) {
  if (code === 'not_authenticated') message = 'You were signed out. Sign in again in another tab, reload this page, and repeat it.'
  if (form.matches('.call')) return toast(message, { bad: true })
  clearErrors(form)
  const items = (details?.fields ?? []).map(({ field, message }) => {
    const input = inputFor(form, field) ?? $(`[data-list="${CSS.escape(field)}"],[data-into="${CSS.escape(field)}"]`, form)
    if (!input) return make('li', {}, `${field} ${message}`)
    const group = /** @type {HTMLElement | null} */ (input.closest('fieldset.f'))
    if (input === group) group.tabIndex = -1
    const place = group ?? input
    const label = (group ? $('legend', group) : $(`label[for="${input.id}"]`, form))?.firstChild?.textContent?.trim() ?? field
    const id = `${place.id}-err`
    place.setAttribute('aria-describedby', `${place.getAttribute('aria-describedby') ?? ''} ${id}`.trim())
    if (!group) input.setAttribute('aria-invalid', 'true')
    const words = `${label} ${message}`
    ;(group ? $('legend', group) : (input.closest('.in-unit') ?? input))?.after(make('span', { class: 'err', id }, words))
    const link = make('a', { href: `#${input.id}` }, words)
    link.addEventListener('click', (event) => {
      event.preventDefault()
      input.focus()
    })
    return make('li', {}, link)
  })
  const sum = make(
    'div',
    { class: 'sum', role: 'alert', tabindex: '-1' },
    make(form.closest('dialog') ? 'h3' : 'h2', {}, 'There is a problem'),
    items.length ? make('ul', {}, ...items) : make('p', {}, message),
  )
  const heading = $('h2', form)
  if (heading && form.closest('dialog')) heading.after(sum)
  else form.prepend(sum)
  document.title = `Error: ${title}`
  sum.focus()
}

const inputFor = (/** @type {HTMLFormElement} */ form, /** @type {string} */ field) =>
  /** @type {Input | undefined} */ (
    [...form.elements].find((e) => {
      const { name } = /** @type {Input} */ (e)
      return (
        name && !e.matches(':disabled, [type=hidden]') && (name === field || name.startsWith(`${field}.`) || field.startsWith(`${name}.`))
      )
    })
  )

// ---------------------------------------------------------------- clicks
document.addEventListener('click', (event) => {
  const target = /** @type {Element} */ (event.target)
  const on = (/** @type {string} */ selector) => /** @type {HTMLElement | null} */ (target.closest(selector))
  const dull = on('[aria-disabled=true]')
  if (dull) {
    event.preventDefault()
    toast(dull.dataset['why'] ?? '')
    return
  }
  const opener = on('[data-dialog]')
  if (opener) {
    event.preventDefault()
    const dialog = /** @type {HTMLDialogElement} */ (document.getElementById(opener.dataset['dialog'] ?? ''))
    clearErrors(dialog)
    dialog.showModal()
    // The first thing to fill in; with nothing to fill in, the button that changes nothing.
    const first = $('[autofocus], input:not([type=hidden]):not(:disabled), select, textarea', dialog) ?? $('[data-close]', dialog)
    first?.focus()
  }
  if (on('[data-close]')) on('dialog') && /** @type {HTMLDialogElement} */ (on('dialog')).close()
  // Presses the same button in every row that is ticked: each answers for itself.
  const press = on('[data-press]')?.dataset['press']
  const ticked = $$('[data-tick]:checked')
  if (press && !ticked.length) toast('Tick some rows first.')
  if (press) for (const tick of ticked) $(`[data-does=${press}]`, /** @type {Element} */ (tick.closest('tr')))?.click()
  if (on('[data-tick-all]')) for (const tick of $$('[data-tick]')) /** @type {any} */ (tick).checked = /** @type {any} */ (target).checked
  const copier = on('[data-copy]')
  if (copier) copy(copier.dataset['copy'] ?? '')
  const menu = on('.menu')
  if (menu) {
    event.preventDefault()
    menu.setAttribute('aria-expanded', String($('#nav')?.classList.toggle('open')))
  }
})

/** The clipboard needs HTTPS; a lab on plain HTTP gets the old way. */
async function copy(/** @type {string} */ text) {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = /** @type {HTMLTextAreaElement} */ (make('textarea', { class: 'sr', 'aria-hidden': 'true' }, text))
    const before = /** @type {HTMLElement} */ (document.activeElement)
    ;($('dialog[open]') ?? document.body).append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
    before?.focus()
  }
  toast('Copied')
}

// ---------------------------------------------------------------- typing
document.addEventListener('input', (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target)
  const must = input.dataset['mustBe']
  const button = must !== undefined && /** @type {HTMLButtonElement | null} */ (input.form && $('[data-gated]', input.form))
  if (button) button.disabled = input.value !== must
  if (input.dataset['fingerprint'] !== undefined) fingerprint(input)
  if (input.dataset['ask'] !== undefined) {
    clearTimeout(asking)
    asking = setTimeout(() => redraw(/** @type {HTMLFormElement} */ (input.form)), 300)
  }
})
/** @type {any} */
let asking

/** Of an SSH key, to compare before it is saved. Old browsers and plain HTTP cannot: they show it afterwards. */
async function fingerprint(/** @type {HTMLInputElement} */ { value, form }) {
  let words = ''
  try {
    const blob = /** @type {any} */ (Uint8Array).fromBase64(value.trim().split(/\s+/)[1])
    words = `SHA256:${/** @type {any} */ (new Uint8Array(await crypto.subtle.digest('SHA-256', blob))).toBase64({ omitPadding: true })}`
  } catch {}
  const place = form && $('output', form)
  if (place) place.textContent = words
}

document.addEventListener('change', (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target)
  if (!input.form) return
  const { into } = input.dataset
  if (into) {
    const field = /** @type {HTMLInputElement} */ (input.form.elements.namedItem(into))
    const reader = new FileReader()
    reader.onload = () => void (field.value = String(reader.result).split(',')[1] ?? '')
    field.value = ''
    if (input.files?.[0]) reader.readAsDataURL(input.files[0])
  }
  if (input.form.matches('[data-filters]') && input.matches('select')) input.form.requestSubmit()
  if (input.form.matches('[data-redraw]') && input.matches('[type=radio], select')) redraw(input.form)
})

/** Choices go into the address and the server says what they leave possible. */
async function redraw(/** @type {HTMLFormElement} */ form) {
  const query = new URLSearchParams()
  for (const element of form.elements) {
    const input = /** @type {HTMLInputElement} */ (element)
    const name = input.dataset['ask'] ?? (input.matches('[type=radio]:checked, select') ? input.name : '')
    // An empty choice is one, an empty field is not.
    if (name && (input.value || input.type === 'radio')) query.set(name, input.value)
  }
  history.replaceState(null, '', `${location.pathname}?${query}`)
  await refresh()
  // What the server drew as chosen is what is chosen: a choice may have become impossible.
  for (const input of /** @type {HTMLInputElement[]} */ ($$('input[type=radio]', form))) input.checked = input.defaultChecked
}

/** An address holds what was asked for, not every field that was left empty. */
document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  if (!form.matches('[data-filters]')) return
  const empty = [...form.elements].filter((e) => /** @type {HTMLInputElement} */ (e).name && !(/** @type {HTMLInputElement} */ (e).value))
  for (const e of empty) e.setAttribute('disabled', '')
  setTimeout(() => {
    for (const e of empty) e.removeAttribute('disabled')
  })
})

// The palette: the cursor stays in the field, and what would be opened is said by `aria-activedescendant`.
document.addEventListener('keydown', (event) => {
  const { key } = event
  if (key === 'k' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    if (!$('dialog[open]')) $('.find')?.click()
  }
  const input = /** @type {HTMLElement} */ (event.target)
  const step = { ArrowDown: 1, ArrowUp: -1, Enter: 0 }[key]
  const options = input.closest('[data-palette]') ? $$('[role=option]') : []
  if (step === undefined || !options[0]) return
  event.preventDefault()
  const at = options.findIndex((o) => o.ariaSelected === 'true')
  if (!step) return options[Math.max(at, 0)]?.click()
  const next = options.at((Math.max(at, step < 0 ? 0 : -1) + step) % options.length)
  for (const o of options) o.ariaSelected = String(o === next)
  input.setAttribute('aria-activedescendant', next?.id ?? '')
  next?.scrollIntoView({ block: 'nearest' })
})

document.addEventListener('keydown', (event) => {
  const nav = $('#nav.open')
  if (event.key !== 'Escape' || !nav) return
  nav.classList.remove('open')
  $('.menu')?.setAttribute('aria-expanded', 'false')
  $('.menu')?.focus()
})

// ---------------------------------------------------------------- times, and what a redraw must leave alone
const units = /** @type {[number, string][]} */ ([
  [86400e3, 'd'],
  [3600e3, 'h'],
  [60e3, 'min'],
  [1e3, 's'],
])
function ago(/** @type {number} */ ms) {
  const away = Math.abs(ms)
  if (away < 5000) return 'just now'
  const [unit, word] = /** @type {[number, string]} */ (units.find(([u]) => away >= u))
  const span = `${Math.floor(away / unit)} ${word}`
  return ms < 0 ? `in ${span}` : `${span} ago`
}
/** The server's clock counts, not the one of whoever looks. */
const skew = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now())
setInterval(() => {
  for (const it of $$('time[data-ago]')) {
    const words = ago(Date.now() - skew - Date.parse(/** @type {HTMLTimeElement} */ (it).dateTime))
    if (it.textContent !== words) it.textContent = words
  }
}, 10_000)

htmx.registerExtension('panel', {
  htmx_before_morph_node: (/** @type {Element} */ _, /** @type {any} */ { oldNode }) =>
    !(oldNode instanceof HTMLDialogElement && oldNode.open),
  htmx_before_morph_attr: (/** @type {Element} */ element, /** @type {any} */ { attrName }) =>
    !(attrName === 'open' && element instanceof HTMLDetailsElement),
})

for (const it of $$('[data-reload]')) setTimeout(() => location.reload(), Number(it.dataset['reload']) * 1000)

// ---------------------------------------------------------------- Alpine
document.addEventListener('alpine:init', () => {
  const { Alpine } = /** @type {any} */ (globalThis)

  Alpine.data('secretOnce', () => ({
    title: '',
    words: '',
    value: '',
    next: '',
    toast: '',
    /** @this {any} */
    show(/** @type {CustomEvent} */ { detail }) {
      Object.assign(this, detail)
      this.$root.showModal()
    },
    stay() {},
    /** @this {any} */
    leave() {
      this.value = ''
      this.$root.close()
      arrive(this.next, this.toast)
    },
  }))

  // Asks for the lines after the last one until the job has ended. It follows the end unless somebody scrolls up.
  Alpine.data('jobLog', () => ({
    following: true,
    /** @this {any} */
    init() {
      if (this.$root.dataset.ended !== undefined) return
      this.toEnd()
      this.ask()
    },
    /** @this {any} */
    async ask() {
      const { lines, none } = this.$refs
      if (!lines.isConnected) return
      const last = lines.lastElementChild?.id.slice(1) ?? '0'
      const answer = document.hidden
        ? undefined
        : await fetch(`${this.$root.dataset.url}?after=${last}`, { headers: { Accept: 'application/json' } }).then(
            (r) => (r.ok ? r.json() : undefined),
            () => undefined,
          )
      if (answer) {
        for (const { n, at, level, text } of answer.lines)
          lines.append(
            make(
              'li',
              { id: `L${n}`, class: level },
              make('a', { href: `#L${n}`, 'aria-label': `Line ${n}` }, String(n)),
              make('time', { datetime: at, title: at }, at.slice(11, 19)),
              make('span', {}, text),
            ),
          )
        if (lines.firstElementChild) none.hidden = true
        if (answer.lines.length) this.toEnd()
        if (answer.state === 'succeeded' || answer.state === 'failed') {
          this.$refs.follow.hidden = true
          return refresh()
        }
      }
      setTimeout(() => this.ask(), 1000)
    },
    /** @this {any} */
    toEnd() {
      if (this.following) this.$refs.lines.scrollTop = this.$refs.lines.scrollHeight
    },
    /** @this {any} */
    scrolled() {
      const { scrollTop, scrollHeight, clientHeight } = this.$refs.lines
      this.follow(scrollTop + clientHeight > scrollHeight - 24)
    },
    /** @this {any} */
    toggle() {
      this.follow(!this.following)
      this.toEnd()
    },
    /** @this {any} */
    follow(/** @type {boolean} */ yes) {
      this.following = yes
      this.$refs.follow?.setAttribute('aria-pressed', String(yes))
    },
    /** @this {any} */
    copyAll() {
      copy([...this.$refs.lines.children].map((li) => [...li.children].map((c) => c.textContent).join(' ')).join('\n'))
    },
  }))
})

// ---------------------------------------------------------------- calls that can be tried
document.addEventListener('submit', async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  const path = form.dataset['try']
  if (!path) return
  event.preventDefault()
  /** @type {any} */
  const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value))
  const place = /** @type {HTMLElement} */ ($('pre', form))
  place.hidden = false
  place.textContent = '…'
  const at = path.replace(/\{(\w+)\}/g, (_, name) => {
    const id = encodeURIComponent(given[name] ?? '-')
    delete given[name]
    return id
  })
  const answer = await fetch(`${at}?${new URLSearchParams(given)}`).catch(() => undefined)
  place.textContent = answer ? `${answer.status}\n${JSON.stringify(parsed(await answer.text()), null, 2)}` : 'Berth does not answer.'
})

// ---------------------------------------------------------------- an owner's SSH keys, where one may be chosen
/** Whose keys each list shows; a redraw keeps the list and may change the owner. */
const shownFor = new WeakMap()
async function fetchKeys() {
  for (const list of $$('[data-keys-of]')) {
    const owner = list.dataset['keysOf'] ?? ''
    if (!owner || shownFor.get(list) === owner) continue
    shownFor.set(list, owner)
    const answer = await fetch(/** @type {string} */ (list.dataset['url'])).then(
      (r) => r.json(),
      () => undefined,
    )
    const place = /** @type {HTMLElement} */ ($('.ticks', list))
    const name = /** @type {string} */ (list.dataset['list'])
    if (!answer?.data) place.textContent = 'The keys could not be read.'
    else if (!answer.data.length)
      place.replaceChildren(
        'There is no SSH key on the account yet. ',
        ...(staffArea() ? [make('a', { href: `/admin/customers/${owner}#keys` }, 'Add one')] : []),
      )
    else
      place.replaceChildren(
        ...answer.data.map((/** @type {any} */ key) => {
          const id = `${list.id}-${key.id}`
          return make(
            'div',
            { class: 'tick' },
            make('input', { type: 'checkbox', id, name, value: key.id, 'data-as': 'list' }),
            make('label', { for: id }, key.name),
            make('span', { class: 'hint mono' }, key.fingerprint),
          )
        }),
      )
  }
}
addEventListener('DOMContentLoaded', fetchKeys)
document.addEventListener('htmx:after:swap', fetchKeys)
