// Choices that are part of the address: filters of a list, and an order form whose choices depend on each other.
// @ts-check

import { $$ } from '../page/page.js'
import { refresh } from '../page/redraw.js'

document.addEventListener('input', ({ target }) => {
  const input = /** @type {HTMLInputElement} */ (target)
  if (input.dataset['ask'] === undefined) return
  clearTimeout(timer)
  timer = setTimeout(() => redraw(/** @type {HTMLFormElement} */ (input.form)), 300)
})
/** @type {any} */
let timer

const CHOSEN = 'select, [data-chooser] [type=hidden]'
document.addEventListener('change', ({ target }) => {
  const input = /** @type {HTMLInputElement} */ (target)
  if (input.form?.matches('[data-redraw]') && input.matches(`[type=radio], ${CHOSEN}`)) redraw(input.form)
})

/** Choices go into the address and the server says what they leave possible. */
async function redraw(/** @type {HTMLFormElement} */ form) {
  const query = new URLSearchParams()
  for (const element of form.elements) {
    const input = /** @type {HTMLInputElement} */ (element)
    const name = input.dataset['ask'] ?? (input.matches(`[type=radio]:checked, ${CHOSEN}`) ? input.name : '')
    // An empty radio is a choice; an empty field is none.
    if (name && (input.value || input.type === 'radio')) query.set(name, input.value)
  }
  history.replaceState(null, '', `${location.pathname}?${query}`)
  await refresh()
  // A choice may have become impossible: the server's selection counts.
  for (const input of /** @type {HTMLInputElement[]} */ ($$('input[type=radio]', form)))
    input.checked = input.defaultChecked
}
