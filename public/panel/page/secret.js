// A secret that is shown once, in a dialog that cannot be closed by accident.
// @ts-check

import { arrive } from '../calls/calls.js'
import { $, $$, closest } from './page.js'

const dialog = () => /** @type {HTMLDialogElement} */ ($('#secret-once'))
/** The address and the message after the dialog. @type {{ next: string, toast: string }} */
let after

/** A call answered a secret: `title`, `words` and `value` are shown. */
addEventListener('secret', (event) => {
  const { detail } = /** @type {CustomEvent} */ (event)
  after = detail
  for (const place of $$('[data-says]', dialog())) place.textContent = detail[place.dataset['says'] ?? '']
  for (const button of $$('[data-copy]', dialog())) button.dataset['copy'] = detail.value
  dialog().showModal()
})
document.addEventListener('cancel', (event) => event.target === dialog() && event.preventDefault(), true)
document.addEventListener('click', (event) => {
  if (!closest(event, '[data-saved]')) return
  for (const place of $$('.secret', dialog())) place.textContent = ''
  for (const button of $$('[data-copy]', dialog())) button.dataset['copy'] = ''
  dialog().close()
  arrive(after.next, after.toast)
})
