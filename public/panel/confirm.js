// Some calls ask first who somebody is.
// @ts-check

import { $, htmx } from './page.js'

/** What waits until somebody has shown who they are. @type {HTMLFormElement | undefined} */
export let waiting
/** Asks for it, and sends the call again under its key. */
export async function confirmFirst(/** @type {HTMLFormElement} */ form) {
  waiting = form
  await htmx.ajax('GET', '/account/confirm', { target: '#confirm', select: '#confirm-in', swap: 'innerHTML' })
  const dialog = /** @type {HTMLDialogElement} */ ($('#confirm'))
  dialog.showModal()
  $('input:not([type=hidden]), button', dialog)?.focus()
}
