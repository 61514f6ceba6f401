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
  await refresh()
  settle()
}

/** Empty fields are left out of the address. */
function apply(/** @type {HTMLFormElement} */ form, typed = false) {
  clearTimeout(choosing)
  const fields = [...new FormData(form)].filter(([, value]) => value)
  for (const field of fields)
    if ($(`[name="${field[0]}"]`, form)?.matches('[type=datetime-local]')) field[1] = isoOf(String(field[1]))
  const query = new URLSearchParams(/** @type {any} */ (fields)).toString()
  return show(location.pathname + (query && `?${query}`), typed)
}

let calling = false
/** The list follows what is typed or chosen, one call at a time. */
function follow(/** @type {HTMLFormElement} */ form, typed = true) {
  if (calling) choosing = setTimeout(follow, 100, form, typed)
  else {
    calling = true
    apply(form, typed).finally(() => (calling = false))
  }
}
/** @type {any} */
let choosing
let byKey = false
addEventListener('keydown', () => (byKey = true), true)
addEventListener('pointerdown', () => (byKey = false), true)
document.addEventListener('input', ({ target }) => {
  const { form, name, value } = /** @type {HTMLSelectElement} */ (target)
  const isChoice = target instanceof HTMLSelectElement
  // One letter is sought with Enter: nearly everything has it.
  if (!form?.matches('[data-filters]') || (!isChoice && (name !== 'q' || value.length === 1))) return
  clearTimeout(choosing)
  // Arrow keys pass the choices that lie between.
  choosing = setTimeout(follow, isChoice ? (byKey ? 700 : 0) : 250, form, !isChoice)
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
