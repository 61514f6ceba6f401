// Messages in a corner of the page, or in the open dialog.
// @ts-check

import { $, make } from './page.js'

/** Shows a message, also to screen readers. A refusal, and a message with `stays`, stays until it is closed. */
export function toast(
  /** @type {string} */ words,
  /** @type {{ bad?: boolean, stays?: boolean, lines?: string[], link?: [string, string] }} */ {
    bad = false,
    stays = bad,
    lines = [],
    link,
  } = {},
) {
  const said = $('dialog[open] .said')
  if (said) return void (said.textContent = words)
  const close = make('button', { type: 'button', class: 'btn bare', 'aria-label': 'Close message' }, '✕')
  const toast = make(
    'div',
    { class: bad ? 'toast bad' : 'toast' },
    make('span', {}, words, ...lines.map((line) => make('small', {}, line))),
    ...(link ? [make('a', { href: link[1] }, link[0])] : []),
    close,
  )
  close.addEventListener('click', () => toast.remove())
  $('#toasts')?.append(toast)
  if (!stays) setTimeout(() => toast.remove(), 6000)
}

/** For after the next page has loaded. */
export const toastLater = (/** @type {string} */ words) => sessionStorage.setItem('toast', words)
addEventListener('DOMContentLoaded', () => {
  const words = sessionStorage.getItem('toast')
  sessionStorage.removeItem('toast')
  if (words) toast(words)
})

export const fill = (/** @type {string} */ words, /** @type {any} */ answer) =>
  words.replace(/\{(\w+)\}/g, (_, name) => String(answer?.[name] ?? ''))
