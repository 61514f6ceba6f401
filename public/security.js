// Passkeys and second factors, loaded where they are used.
// @ts-check

import { startAuthentication, startRegistration } from '@simplewebauthn/browser'

/** The browser's own messages are written for developers. */
const inWords = (/** @type {Error} */ error) =>
  error.name === 'InvalidStateError'
    ? 'This device has a passkey for your account already.'
    : error.name === 'NotAllowedError' || error.name === 'AbortError'
      ? 'No passkey was used: it was cancelled, took too long, or there is none for this panel on the device.'
      : error.name === 'SecurityError'
        ? 'Passkeys work at the address of the panel only, over HTTPS.'
        : 'The passkey could not be used. Try again, or another way.'

async function hand(/** @type {HTMLFormElement} */ form, /** @type {Promise<unknown>} */ made) {
  const answer = await made.catch((error) => {
    throw new Error(inWords(error))
  })
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('passkey'))
  field.value = JSON.stringify(answer)
  form.requestSubmit()
  return true
}
export const askPasskey = (/** @type {any} */ { options }, /** @type {HTMLFormElement} */ form) =>
  hand(form, startAuthentication({ optionsJSON: options }))
export const makePasskey = (/** @type {any} */ { options }, /** @type {HTMLFormElement} */ form) =>
  hand(form, startRegistration({ optionsJSON: options }))

/** The secret of an authenticator app, as a picture and as text. */
export function showApp(/** @type {any} */ { secret, uri, qr }, /** @type {HTMLDialogElement} */ dialog) {
  const find = (/** @type {string} */ selector) => /** @type {any} */ (dialog.querySelector(selector))
  find('img').src = `data:image/svg+xml,${encodeURIComponent(qr)}`
  find('.secret').textContent = secret.replace(/(.{4})(?=.)/g, '$1 ')
  find('[data-copy]').dataset.copy = secret
  find('a').href = uri
  dialog.addEventListener('close', () => {
    find('img').removeAttribute('src')
    find('.secret').textContent = ''
  })
  dialog.showModal()
  find('input').focus()
  return true
}

/** Recovery codes, when there are some to be shown; goes on when they are stored. */
export function showCodes(/** @type {any} */ { recoveryCodes }, /** @type {HTMLDialogElement} */ dialog) {
  for (const open of document.querySelectorAll('dialog[open]')) /** @type {HTMLDialogElement} */ (open).close()
  if (!recoveryCodes) return false
  const find = (/** @type {string} */ selector) => /** @type {any} */ (dialog.querySelector(selector))
  const text = recoveryCodes.join('\n')
  find('.secret').textContent = text
  find('[data-copy]').dataset.copy = text
  const file = URL.createObjectURL(
    new Blob([`Recovery codes for ${location.host}\n\n${text}\n`], { type: 'text/plain' }),
  )
  find('a').href = file
  dialog.addEventListener('cancel', (event) => event.preventDefault())
  dialog.showModal()
  return new Promise((go) =>
    dialog.addEventListener('close', () => {
      find('.secret').textContent = ''
      find('[data-copy]').dataset.copy = ''
      URL.revokeObjectURL(file)
      go(false)
    }),
  )
}
