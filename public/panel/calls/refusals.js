// Refusals, shown above a form and beside its fields.
// @ts-check

import { toast } from '../page/messages.js'
import { $, $$, make } from '../page/page.js'

/** @typedef {{ code: string, message: string, details?: { fields?: { field: string, message: string }[] } }} Failure */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Input */

const title = document.title

export function clearErrors(/** @type {HTMLElement} */ form) {
  document.title = title
  for (const element of $$('.errors, .err', form)) element.remove()
  for (const element of $$('[aria-invalid]', form)) {
    element.removeAttribute('aria-invalid')
    const rest = (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .filter((id) => !id.endsWith('-err'))
      .join(' ')
    if (rest) element.setAttribute('aria-describedby', rest)
    else element.removeAttribute('aria-describedby')
  }
}

export function refused(/** @type {HTMLFormElement} */ form, /** @type {Failure} */ { message, details }) {
  if (form.matches('.call')) {
    // A choice that was refused is not made.
    form.reset()
    return toast(message, { bad: true })
  }
  clearErrors(form)
  const items = (details?.fields ?? []).map(({ field, message }) => {
    const input =
      inputFor(form, field) ?? $(`[data-list="${CSS.escape(field)}"],[data-into="${CSS.escape(field)}"]`, form)
    if (!input) return make('li', {}, `${field} ${message}`)
    const group = /** @type {HTMLElement | null} */ (input.closest('fieldset.f'))
    if (input === group) group.tabIndex = -1
    const place = group ?? input
    const label =
      (group ? $('legend', group) : $(`label[for="${input.id}"]`, form))?.firstChild?.textContent?.trim() ?? field
    const id = `${place.id}-err`
    place.setAttribute('aria-describedby', `${place.getAttribute('aria-describedby') ?? ''} ${id}`.trim())
    if (!group) input.setAttribute('aria-invalid', 'true')
    const words = `${label} ${message}`
    ;(group ? $('legend', group) : (input.closest('.in-unit') ?? input))?.after(
      make('span', { class: 'err', id }, words),
    )
    const link = make('a', { href: `#${input.id}` }, words)
    link.addEventListener('click', (event) => {
      event.preventDefault()
      input.focus()
    })
    return make('li', {}, link)
  })
  const sum = make(
    'div',
    { class: 'errors', role: 'alert', tabindex: '-1' },
    make(form.closest('dialog') ? 'h3' : 'h2', {}, 'There is a problem'),
    items.length ? make('ul', {}, ...items) : make('p', {}, message),
  )
  const heading = $('h2', form)
  if (heading && form.closest('dialog')) heading.after(sum)
  else form.prepend(sum)
  document.title = `Error: ${title}`
  sum.focus()
}

const inputFor = (/** @type {HTMLFormElement} */ form, /** @type {string} */ field) =>
  /** @type {Input | undefined} */ (
    [...form.elements].find((e) => {
      const { name } = /** @type {Input} */ (e)
      return (
        name &&
        !e.matches(':disabled, [type=hidden]') &&
        (name === field || name.startsWith(`${field}.`) || field.startsWith(`${name}.`))
      )
    })
  )
