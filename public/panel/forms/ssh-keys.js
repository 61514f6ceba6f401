// An owner's SSH keys, where one may be chosen.
// @ts-check

import { $, $$, area, make } from '../page/page.js'

/** The owner of the keys in each list; a redraw keeps the list and may change the owner. */
const shownFor = new WeakMap()
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
    else if (!answer.data.length)
      place.replaceChildren(
        'There is no SSH key on the account yet. ',
        make('a', { href: area ? `${area}/customers/${owner}#keys` : '/account/ssh-keys' }, 'Add one'),
      )
    else
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
addEventListener('DOMContentLoaded', fetchKeys)
document.addEventListener('htmx:after:swap', fetchKeys)
