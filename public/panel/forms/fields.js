// Fields that are read by the browser: a key whose fingerprint is shown, a file that is sent as text.
// @ts-check

import { $ } from '../page/page.js'

document.addEventListener('input', ({ target }) => {
  const input = /** @type {HTMLInputElement} */ (target)
  if (input.dataset['fingerprint'] !== undefined) fingerprint(input)
})

/** Shows the fingerprint of an SSH key before it is saved. Old browsers and plain HTTP show it afterwards. */
async function fingerprint(/** @type {HTMLInputElement} */ { value, form }) {
  let words = ''
  try {
    const blob = /** @type {any} */ (Uint8Array).fromBase64(value.trim().split(/\s+/)[1])
    const digest = /** @type {any} */ (new Uint8Array(await crypto.subtle.digest('SHA-256', blob)))
    words = `SHA256:${digest.toBase64({ omitPadding: true })}`
  } catch {}
  const place = form && $('output', form)
  if (place) place.textContent = words
}

document.addEventListener('change', ({ target }) => {
  const { dataset, form, files } = /** @type {HTMLInputElement} */ (target)
  const { into } = dataset
  if (!form || !into) return
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem(into))
  const reader = new FileReader()
  const isText = dataset['text'] !== undefined
  reader.onload = () =>
    void (field.value = isText ? String(reader.result) : (String(reader.result).split(',')[1] ?? ''))
  field.value = ''
  if (files?.[0]) reader[isText ? 'readAsText' : 'readAsDataURL'](files[0])
})
