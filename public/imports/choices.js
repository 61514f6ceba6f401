// Choices in the tables of an import, and what rules and spreadsheets would change.
// @ts-check

/**
 * @typedef {{ matched: number, changed: number, isComplete: boolean,
 *   withheld: { name: string | null, sourceId: string, words: string }[] }} Applied
 * @typedef {{ changed: number, unchanged: number, unusable: number,
 *   changes: { line: number, part: string, sourceId: string, name: string | null, from: string | null,
 *   to: string | null }[], faults: { line: number, words: string }[] }} Upload
 */

const number = (/** @type {number} */ n, /** @type {string} */ word) =>
  `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`
const all = (/** @type {string} */ selector) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)])

// A choice that was made is drawn by the server: what the browser remembers of it would hide a later change.
document.addEventListener('htmx:after:swap', () => {
  for (const form of all('form.choice')) /** @type {HTMLFormElement} */ (form).reset()
})

/** Ends a selection, and says how many of it were decided, and which were not and why. */
export function showApplied(/** @type {Applied} */ { matched, changed, isComplete, withheld }) {
  for (const tick of all('[data-tick-none]')) tick.click()
  const words = matched
    ? `${changed.toLocaleString('en')} of ${matched.toLocaleString('en')} decided.`
    : 'Nothing matches: nothing was decided.'
  const lines = withheld.map((one) => (one.words.startsWith(`${one.name}:`) ? one.words : `${one.name}: ${one.words}`))
  if (!isComplete) lines.unshift('There are more: apply it again.')
  const detail = [words, { stays: lines.length > 0, lines: lines.slice(0, 10) }]
  dispatchEvent(new CustomEvent('batch', { detail }))
  return true
}

/** Says what a rule would change; it was not applied. */
export function showPreview(/** @type {Applied} */ { matched, changed, withheld }, /** @type {HTMLElement} */ place) {
  place.textContent = matched
    ? `${number(matched, 'owner')} match; ${changed.toLocaleString('en')} would change.` +
      (withheld.length ? ` ${withheld.length} do not take it: ${withheld[0]?.words}` : '')
    : 'It matches no owner.'
  return true
}

/** The difference between a spreadsheet and what is decided, and the button that applies it. */
export function showUpload(
  /** @type {Upload} */ { changed, unchanged, unusable, changes, faults },
  /** @type {HTMLElement} */ box,
) {
  const find = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (box.querySelector(selector))
  const fill = (/** @type {HTMLElement} */ table, /** @type {string[][]} */ rows) => {
    const body = /** @type {HTMLElement} */ (table.querySelector('tbody'))
    const row = /** @type {HTMLElement} */ (body.firstElementChild)
    const made = rows.map((cells) => {
      const one = /** @type {HTMLElement} */ (row.cloneNode(true))
      for (const [i, cell] of [...one.children].entries()) cell.textContent = cells[i] ?? ''
      return one
    })
    body.replaceChildren(...(made.length ? made : [row]))
    const section = /** @type {HTMLElement} */ (table.closest('[data-rows]'))
    section.hidden = !rows.length
  }
  const said = (/** @type {string | null} */ choice) => (choice ?? 'undecided').replaceAll('_', ' ')
  fill(
    find('[data-rows=changes] table'),
    changes.map(({ line, part, name, sourceId, from, to }) => [
      name ?? sourceId,
      part,
      `${said(from)} → ${said(to)}`,
      `line ${line}`,
    ]),
  )
  fill(
    find('[data-rows=faults] table'),
    faults.map(({ line, words }) => [`line ${line}`, words]),
  )
  find('[data-words]').textContent =
    `${number(changed, 'decision')} would change, ${unchanged.toLocaleString('en')} stay as they are.` +
    (unusable ? ` ${number(unusable, 'line')} cannot be used; the others can.` : '')
  find('[data-apply]').hidden = !changed
  const csv = /** @type {HTMLTextAreaElement} */ (find('textarea[name=csv]'))
  csv.value = /** @type {HTMLTextAreaElement} */ (document.querySelector('#upload-csv')).value
  box.hidden = false
  box.focus()
  return true
}
