// Buttons that open a dialog, and disabled buttons that say their reason.
// @ts-check

import { toast } from '../page/messages.js'
import { $, $$, closest, go } from '../page/page.js'
import { clearErrors } from './refusals.js'

function openDialog(/** @type {HTMLDialogElement} */ dialog) {
  clearErrors(dialog)
  dialog.showModal()
  // The first thing to fill in; with nothing to fill in, the button that changes nothing.
  const first =
    $('[autofocus], input:not([type=hidden]):not(:disabled), select, textarea', dialog) ?? $('[data-close]', dialog)
  first?.focus()
}

/** An address may name a dialog in which something is made, never one that asks whether something may be lost. */
function openNamed() {
  const named = location.hash && document.getElementById(location.hash.slice(1))
  if (
    !(named instanceof HTMLDialogElement) ||
    named.open ||
    !named.querySelector('form[data-call]') ||
    $('.will', named)
  )
    return
  for (const open of /** @type {HTMLDialogElement[]} */ ($$('dialog[open]'))) open.close()
  // The address loses the name, so that the same link works again.
  history.replaceState(null, '', location.pathname + location.search)
  openDialog(named)
}
addEventListener('DOMContentLoaded', openNamed)
/** A page that is a dialog: it lies over the page to which it goes back. Without scripts it stands in its place. */
addEventListener('DOMContentLoaded', () => {
  const page = /** @type {HTMLDialogElement | null} */ ($('dialog[data-back]'))
  if (!page) return
  page.removeAttribute('open')
  openDialog(page)
  page.addEventListener('cancel', (event) => {
    event.preventDefault()
    go(/** @type {string} */ (page.dataset['back']))
  })
})
addEventListener('hashchange', openNamed)

document.addEventListener('click', (event) => {
  const dull = closest(event, '[aria-disabled=true]')
  const opener = closest(event, '[data-dialog]')
  const closer = closest(event, '[data-close]')
  // Else the browser opens or closes it by itself as well.
  if (dull || opener || closer) event.preventDefault()
  if (dull) return toast(/** @type {string} */ (dull.dataset['why']))
  if (opener) {
    const dialog = /** @type {HTMLDialogElement | null} */ ($(`#${opener.dataset['dialog']}`))
    // The page of the search has its field on itself.
    if (dialog) openDialog(dialog)
    else $('[data-palette] input')?.focus()
  }
  closer?.closest('dialog')?.close()
})

/** The button of an action that destroys data is enabled when the name is typed. */
document.addEventListener('input', (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target)
  const must = input.dataset['mustBe']
  const button =
    must !== undefined && /** @type {HTMLButtonElement | null} */ (input.form && $('[data-gated]', input.form))
  if (button) button.disabled = input.value !== must
})
