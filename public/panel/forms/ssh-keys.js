// An owner's SSH keys, where one may be chosen.
// @ts-check

import { $, $$, area, make } from '../page/page.js'

/** The owner of the keys in each list; a redraw keeps the list and may change the owner. */
const shownFor = new WeakMap()
/** The lists of owners without a key, with the page to add one. @type {WeakMap<HTMLElement, string>} */
const withoutKeys = new WeakMap()
async function fetchKeys() {
  for (const list of $$('[data-keys-of]')) {
    const owner = list.dataset['keysOf'] ?? ''
    if (!owner || shownFor.get(list) === owner) continue
    shownFor.set(list, owner)
    const answer = await fetch(/** @type {string} */ (list.dataset['url'])).then(
      (r) => r.json(),
      () => undefined,
    )
    const place = /** @type {HTMLElement} */ ($('.ticks', list))
    const name = /** @type {string} */ (list.dataset['list'])
    if (!answer?.data) place.textContent = 'The keys could not be read.'
    else {
      withoutKeys.delete(list)
      if (!answer.data.length) withoutKeys.set(list, area ? `${area}/customers/${owner}#keys` : '/account/ssh-keys')
      place.replaceChildren(
        ...answer.data.map((/** @type {any} */ key) => {
          const id = `${list.id}-${key.id}`
          return make(
            'div',
            { class: 'tick' },
            make('input', { type: 'checkbox', id, name, value: key.id, 'data-as': 'list' }),
            make('label', { for: id }, key.name),
            make('span', { class: 'hint mono' }, key.fingerprint),
          )
        }),
      )
    }
  }
  for (const list of $$('[data-keys-of]')) offer(list, withoutKeys.get(list))
}

/** Access by keys cannot be chosen where there is none: `href` is where to add one. */
function offer(/** @type {HTMLElement} */ list, /** @type {string | undefined} */ href) {
  const [password, keys] = /** @type {HTMLInputElement[]} */ ($$('[name="access.mode"]', list.closest('form') ?? list))
  const hint = keys && document.getElementById(`${keys.id}-h`)
  if (!password || !keys || !hint || (!href && !keys.disabled)) return
  keys.disabled = !!href
  if (href && keys.checked) password.checked = true
  hint.replaceChildren(href ? make('a', { href }, 'Add a key first') : 'No password is set.')
}
addEventListener('DOMContentLoaded', fetchKeys)
document.addEventListener('htmx:after:swap', fetchKeys)
