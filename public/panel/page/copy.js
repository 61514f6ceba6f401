// Buttons that copy a text.
// @ts-check

import { toast } from './messages.js'
import { $, closest, make } from './page.js'

document.addEventListener('click', (event) => {
  const copier = closest(event, '[data-copy]')
  if (copier) copy(copier.dataset['copy'] ?? '')
})

/** The clipboard needs HTTPS; a lab on plain HTTP gets the old way. */
export async function copy(/** @type {string} */ text) {
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
