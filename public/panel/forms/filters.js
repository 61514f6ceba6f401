// The filters of a list are its address. A choice changes the list in place: the focus stays, and Back returns.
// @ts-check

import { $, $$, closest } from '../page/page.js'
import { drawn, refresh } from '../page/redraw.js'
import { isoOf } from '../page/times.js'

/** The fields of the filters say what the address says, but for the one that is being typed in. */
function settle() {
  for (const field of $$('[data-filters] :is(input, select)')) {
    const input = /** @type {HTMLInputElement} */ (field)
    if (input instanceof HTMLSelectElement)
      input.selectedIndex = Math.max(
        0,
        [...input.options].findIndex((option) => option.defaultSelected),
      )
    else if (input !== document.activeElement) input.value = input.defaultValue
  }
}

/** The last address that typing made: a text has one entry in the history, however many calls it takes. */
let typedAddress = ''
async function show(/** @type {string} */ address, typed = false) {
  const before = location.pathname + location.search
  if (address !== before) history[typed && before === typedAddress ? 'replaceState' : 'pushState'](null, '', address)
  typedAddress = typed ? address : ''
  if (address !== before || !typed) await refresh()
  settle()
}

/** Empty fields are left out of the address. */
function apply(/** @type {HTMLFormElement} */ form, typed = false) {
  clearTimeout(choosing)
  clearTimeout(typing)
  const fields = [...new FormData(form)].filter(([, value]) => value)
  for (const field of fields)
    if ($(`[name="${field[0]}"]`, form)?.matches('[type=datetime-local]')) field[1] = isoOf(String(field[1]))
  const query = new URLSearchParams(/** @type {any} */ (fields)).toString()
  return show(location.pathname + (query && `?${query}`), typed)
}

/** @type {any} */
let typing
/** The form that is being called for; `again`: its text has changed since. */
let [calling, again] = [false, false]
/** The list follows the text, one call at a time. */
async function follow(/** @type {HTMLFormElement} */ form) {
  if (calling) again = true
  if (calling) return
  calling = true
  try {
    do {
      again = false
      await apply(form, true)
    } while (again && form.isConnected)
  } finally {
    calling = false
  }
}
document.addEventListener('input', ({ target }) => {
  const input = /** @type {HTMLInputElement} */ (target)
  if (!input.form || !input.matches('[data-filters] [name=q]')) return
  const { form } = input
  clearTimeout(typing)
  // Everything has one letter: nobody looks for that. Enter does.
  if (input.value.trim().length !== 1) typing = setTimeout(() => follow(form), 250)
})

/** @type {any} */
let choosing
let byKey = false
addEventListener('keydown', () => (byKey = true), true)
addEventListener('pointerdown', () => (byKey = false), true)
document.addEventListener('change', ({ target }) => {
  const field = /** @type {HTMLSelectElement} */ (target)
  const { form } = field
  if (!field.matches('select, [data-chooser] [type=hidden]') || !form?.matches('[data-filters]')) return
  clearTimeout(choosing)
  // Arrow keys pass the choices that lie between.
  choosing = setTimeout(() => apply(form), byKey ? 700 : 0)
})
document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  if (!form.matches('[data-filters]')) return
  event.preventDefault()
  apply(form)
})
document.addEventListener('click', (event) => {
  const link = /** @type {HTMLAnchorElement | null} */ (closest(event, 'a[data-list]'))
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  show(link.pathname + link.search)
})

// htmx would draw the whole document again.
document.addEventListener('htmx:before:history:restore', (event) => event.preventDefault())
addEventListener('popstate', () => {
  if (location.pathname + location.search !== drawn) refresh().then(settle)
})
addEventListener('pageshow', ({ persisted }) => persisted && settle())
