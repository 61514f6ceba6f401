// Calls that are part of a batch: the sender collects the refusals, and the page is drawn again once.
// @ts-check

import { $ } from '../page/page.js'

export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')

/** The headers of a call; a call that is sent again under the same key acts once. */
export const headersOf = (/** @type {string} */ key) => ({
  Accept: 'application/json',
  'Content-Type': 'application/json',
  'X-CSRF-Token': /** @type {HTMLMetaElement} */ ($('meta[name=csrf-token]')).content,
  'Idempotency-Key': key,
})

/** Answers why the call was refused, or an empty text. */
export async function call(/** @type {string} */ url, /** @type {object} */ body) {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: headersOf(newKey()),
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    })
    return answer.ok ? '' : String((await answer.json()).error.message)
  } catch {
    return 'no answer yet.'
  }
}
