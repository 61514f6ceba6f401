// Fields that search for things that are too many for a choice (views/components/forms/chooser.tsx): the browser offers
// the names that were found; the id of the chosen one is in a hidden field, or ticked among several.
// @ts-check

import { $ } from '../page/page.js'

/** @type {any} */
let timer
let asked = ''
document.addEventListener('input', ({ target }) => {
  const input = /** @type {HTMLInputElement} */ (target)
  const { list, value } = input
  const chooser = /** @type {HTMLElement | null} */ (input.closest('[data-chooser]'))
  if (!chooser || !list) return
  clearTimeout(timer)
  const found = [.../** @type {any} */ (list).options].find((option) => option.value === value)
  const template = /** @type {HTMLTemplateElement | null} */ ($('template', chooser))
  input.setCustomValidity(value && !found ? 'Choose one of those that are found.' : '')
  if (!found && value && value !== asked) timer = setTimeout(() => find(chooser, input), 200)
  if (!template) {
    const field = /** @type {HTMLInputElement} */ ($('[type=hidden]', chooser))
    const before = field.value
    field.value = found?.id ?? ''
    if (field.value === before) return
    field.dispatchEvent(new Event('change', { bubbles: true }))
    // A filter narrows its list at once.
    if (field.form?.matches('[data-filters]')) field.form.requestSubmit()
  } else if (found) {
    // One more box, ticked.
    const row = /** @type {HTMLElement} */ (template.content.cloneNode(true))
    const [box, label] = /** @type {any} */ (row.children[0]).children
    label.htmlFor = box.id = `${input.id}-${found.id}`
    box.value = found.id
    label.textContent = value
    // Where none was offered, there are no ticks yet.
    const ticks = $('.ticks', chooser) ?? $('fieldset', chooser)
    ticks?.append(row)
    input.value = ''
  }
})

async function find(/** @type {HTMLElement} */ { dataset }, /** @type {HTMLInputElement} */ input) {
  asked = input.value
  const query = new URLSearchParams({ of: dataset['chooser'] ?? '', q: asked })
  const response = await fetch(`/api/v1/admin/choices?${query}`)
  if (!response.ok || input.value !== asked) return
  const { data } = await response.json()
  input.list?.replaceChildren(
    ...data.map((/** @type {{ id: string, name: string }} */ { id, name }) =>
      Object.assign(new Option('', name), { id }),
    ),
  )
  // The whole name may have been typed.
  input.dispatchEvent(new Event('input', { bubbles: true }))
}
