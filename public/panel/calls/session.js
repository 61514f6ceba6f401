// A session that ended is opened again in a dialog: what was typed stays, and the call that was refused goes on.
// @ts-check

import { toastLater } from '../page/messages.js'
import { $, $$, htmx } from '../page/page.js'
import { refresh } from '../page/redraw.js'

/** The call that waits for its sender. @type {HTMLFormElement | undefined} */
let waiting
const dialog = () => /** @type {HTMLDialogElement} */ ($('#again'))

/** Has something been typed or chosen that a reload would lose? */
export const hasInput = () =>
  $$('form[data-call] :is(input, textarea, select)').some((field) =>
    field instanceof HTMLSelectElement
      ? [...field.options].some((option) => option.selected !== option.defaultSelected && !option.hidden)
      : /** @type {HTMLInputElement} */ (field).checked !== /** @type {HTMLInputElement} */ (field).defaultChecked ||
        /** @type {HTMLInputElement} */ (field).value !== /** @type {HTMLInputElement} */ (field).defaultValue,
  )

async function step(/** @type {string} */ path) {
  await htmx.ajax('GET', path, { target: '#again-in', select: '#sign-in', swap: 'innerHTML' })
  // Other ways to sign in lead to pages of their own: in a tab of theirs, so that this page stays.
  for (const link of $$('a', dialog())) link.setAttribute('target', '_blank')
  $('input:not([type=hidden])', dialog())?.focus()
}

/** Asks to sign in; then the form, if there is one, is sent again under its key. */
export async function signInAgain(/** @type {HTMLFormElement | undefined} */ form) {
  waiting = form ?? waiting
  if (dialog().open) return
  dialog().showModal()
  await step('/login')
}
document.addEventListener('close', ({ target }) => void (target === dialog() && (waiting = undefined)), true)

/** A form of the dialog succeeded: the second step follows, or the page goes on. */
export async function signedIn(/** @type {any} */ answer) {
  if (answer.secondFactor) return step(answer.home)
  const fresh = await page()
  if (!fresh) return
  // Not this person's page any more: nothing of it is sent in another's name.
  if (fresh.documentElement.dataset['account'] !== document.documentElement.dataset['account']) {
    toastLater('You signed in with another account. Nothing was sent.')
    return location.reload()
  }
  const token = 'meta[name=csrf-token]'
  $(token)?.setAttribute('content', $(token, fresh)?.getAttribute('content') ?? '')
  const form = waiting
  dialog().close()
  $('#again-in')?.replaceChildren()
  if (form) form.requestSubmit()
  else refresh()
}

/** The page as a signed-in reader gets it; undefined while nobody is signed in. */
async function page() {
  const answer = await fetch(location.pathname + location.search)
  if (new URL(answer.url).pathname === '/login') return undefined
  return new DOMParser().parseFromString(await answer.text(), 'text/html')
}

/** Somebody who signed in in another tab comes back to this one. */
addEventListener('focus', () => void (dialog()?.open && signedIn({})))
