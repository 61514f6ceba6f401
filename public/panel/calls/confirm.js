// Some calls ask for the sender's identity again first.
// @ts-check

import { $, htmx } from '../page/page.js'

/** The form that waits until its sender has confirmed their identity. @type {HTMLFormElement | undefined} */
export let waiting
/** Opens the question in a dialog; the call is then sent again under its key. */
export async function confirmFirst(/** @type {HTMLFormElement} */ form) {
  waiting = form
  await htmx.ajax('GET', '/account/confirm', { target: '#confirm', select: '#confirm-in', swap: 'innerHTML' })
  const dialog = /** @type {HTMLDialogElement} */ ($('#confirm'))
  dialog.showModal()
  $('input:not([type=hidden], [hidden]), button', dialog)?.focus()
}
