// The reference: the call that the address names is open, and calls can be tried.
// @ts-check

import { $, parsed } from '../page/page.js'

document.addEventListener('submit', async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  const path = form.dataset['try']
  if (!path) return
  event.preventDefault()
  /** @type {any} */
  const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value))
  const place = /** @type {HTMLElement} */ ($('pre', form))
  place.hidden = false
  place.textContent = '…'
  const at = path.replace(/\{(\w+)\}/g, (_, name) => {
    const id = encodeURIComponent(given[name] ?? '-')
    delete given[name]
    return id
  })
  const answer = await fetch(`${at}?${new URLSearchParams(given)}`).catch(() => undefined)
  place.textContent = answer
    ? `${answer.status}\n${JSON.stringify(parsed(await answer.text()), null, 2)}`
    : 'Berth is not responding.'
})

/** Opens the call that the address names. */
const open = () => {
  const named = document.getElementById(location.hash.slice(1))
  const details = named && /** @type {HTMLDetailsElement | null} */ (named.querySelector('details'))
  if (details) details.open = true
}
addEventListener('hashchange', open)
open()
