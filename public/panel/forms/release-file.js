// Sends the file of a release in parts, and goes on where a part broke off.
// @ts-check

import { headersOf, newKey } from '../calls/batch.js'
import { $, htmx } from '../page/page.js'

/** As src/platform/updates/upload.ts takes it. */
const PART_BYTES = 3 << 20
/** A part that gets no answer is sent again, after a pause that grows. */
const TRIES = 5
const PAUSE_MS = 1000

/** @returns {Promise<string>} */
const base64 = (/** @type {Blob} */ part) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^.*?,/, ''))
    reader.onerror = () => reject(new Error('The file cannot be read any more. Choose it again.'))
    reader.readAsDataURL(part)
  })

/**
 * @param {string} url
 * @param {object} body
 * @param {AbortSignal} signal
 * @returns {Promise<{ bytes: number, version: string | null }>} Throws an Error in words.
 */
async function sent(url, body, signal) {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: headersOf(newKey()),
      body: JSON.stringify(body),
      signal,
    }).catch(() => undefined)
    const content = await answer?.json().catch(() => undefined)
    if (answer?.ok && content) return content
    const isFinal = answer && content && answer.status < 500 && answer.status !== 429
    if (isFinal) throw new Error(content.error.message)
    if (signal.aborted) throw new Error('It was stopped. Send the file again: it goes on where it was.')
    if (tries === TRIES)
      throw new Error('The controller does not answer. Send the file again: it goes on where it was.')
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries))
  }
}

/** @type {AbortController | undefined} */
let sending

document.addEventListener('submit', async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  const url = form.dataset['upload']
  if (!url) return
  event.preventDefault()
  const find = (/** @type {string} */ selector) => /** @type {HTMLElement} */ ($(selector, form))
  const file = /** @type {HTMLInputElement} */ (find('input')).files?.[0]
  if (!file || sending) return
  const [words, trouble] = [find('[role=status]'), find('[role=alert]')]
  const bar = /** @type {HTMLProgressElement} */ (find('progress'))
  const shows = (/** @type {boolean} */ atWork) => {
    const send = /** @type {HTMLButtonElement} */ (find('[data-send]'))
    bar.hidden = find('[data-stop]').hidden = !atWork
    send.disabled = atWork
  }
  const { signal } = (sending = new AbortController())
  trouble.textContent = ''
  bar.max = file.size
  bar.value = 0
  shows(true)
  try {
    for (let from = 0; ; ) {
      words.textContent = `${file.name}: ${Math.floor((100 * from) / file.size)} % is sent.`
      const content = await base64(file.slice(from, from + PART_BYTES))
      const { bytes, version } = await sent(url, { file: file.name, totalBytes: file.size, from, content }, signal)
      bar.value = from = bytes
      if (version === null) continue
      words.textContent = `${version} is in the folder, and its signature counts.`
      form.reset()
      break
    }
    htmx.ajax('GET', location.pathname, { target: '#updates', select: '#updates', swap: 'outerMorph' })
  } catch (error) {
    words.textContent = ''
    trouble.textContent = `${file.name} was not taken. ${/** @type {Error} */ (error).message}`
  }
  sending = undefined
  shows(false)
})
document.addEventListener('click', ({ target }) => {
  if (/** @type {Element} */ (target).closest('[data-stop]')) sending?.abort()
})
