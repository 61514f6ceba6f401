// Shortcuts, and the search: the cursor stays in the field, and `aria-activedescendant` names the selected result.
// @ts-check

import { $, $$ } from './page.js'

/** Enter was pressed before the results of the typed text arrived: it opens the first of those, not an older one. */
let entered = false
const answers = (/** @type {HTMLInputElement} */ input) => $('#found')?.dataset['for'] === input.value.trim()

document.addEventListener('htmx:after:swap', () => {
  const input = /** @type {HTMLInputElement | null} */ ($('[data-palette] input'))
  if (!input) return
  // The selected result is gone with the older results.
  if (!$('[data-palette] [role=option][aria-selected=true]')) input.removeAttribute('aria-activedescendant')
  if (!entered || !answers(input)) return
  entered = false
  $('[data-palette] [role=option]')?.click()
})
document.addEventListener('input', (event) => {
  if (/** @type {Element} */ (event.target).closest('[data-palette]')) entered = false
})

document.addEventListener('keydown', (event) => {
  const { key } = event
  if (key === 'k' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    if (!$('dialog[open]')) $('.find')?.click()
  }
  const input = /** @type {HTMLInputElement} */ (event.target)
  // Single keys are shortcuts only where nothing is typed.
  if (key === '?' && !input.closest('dialog,input,textarea,select'))
    $('[data-shortcuts=on] [data-dialog=shortcuts]')?.click()
  const step = { ArrowDown: 1, ArrowUp: -1, Enter: 0 }[key]
  if (step === undefined || !input.closest('[data-palette]')) return
  if (!step && !answers(input)) {
    event.preventDefault()
    entered = true
    return
  }
  const options = $$('[data-palette] [role=option]')
  if (!options[0]) return
  event.preventDefault()
  const at = options.findIndex((o) => o.ariaSelected === 'true')
  if (!step) return options[Math.max(at, 0)]?.click()
  const next = options.at((Math.max(at, step < 0 ? 0 : -1) + step) % options.length)
  for (const o of options) o.ariaSelected = String(o === next)
  input.setAttribute('aria-activedescendant', next?.id ?? '')
  next?.scrollIntoView({ block: 'nearest' })
})
