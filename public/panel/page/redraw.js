// The server draws pages; a redraw changes the parts that differ and leaves open dialogs and the focus alone.
// @ts-check

import { $, $$, htmx } from './page.js'

/** The address whose page is shown. */
export let drawn = location.pathname + location.search

/** Draws the page again where it changed. @returns {Promise<void>} */
export function refresh() {
  drawn = location.pathname + location.search
  return htmx.ajax('GET', drawn, { target: '#main', select: '#main', swap: 'outerMorph' })
}

/** The name of a control, whether it is a form's button, opens a dialog or is off. */
const nameOf = (/** @type {Element} */ control) => control.ariaLabel || control.textContent
const controls = 'a[href], summary, button'
/**
 * The place of the focus before a redraw. `within`: its group of actions, or what has an id.
 * @type {{ name: string | null, within: Element | null | undefined, rows: Element | null | undefined,
 *   at: number, section: Element | null } | undefined}
 */
let focused
document.addEventListener('htmx:before:swap', () => {
  const active = $(':focus')
  const row = active?.closest('tr, li')
  const rows = row?.parentElement
  focused = active
    ? {
        name: nameOf(active),
        within: active.parentElement?.closest('.acts, [id]'),
        rows,
        at: row && rows ? [...rows.children].indexOf(row) : 0,
        section: active.closest('.sec'),
      }
    : undefined
})
/**
 * A button is another element once it is off: the focus goes to the one of the same name. When the focused row is
 * removed, it goes to the next row, else to the heading, else to a neighbour, else to the top.
 */
document.addEventListener('htmx:after:swap', () => {
  if (!focused || $(':focus')) return
  const { name, within, rows, at, section } = focused
  const same = within?.isConnected && $$(controls, within).find((control) => nameOf(control) === name)
  const next = rows && (rows.children[at] ?? rows.lastElementChild)
  const heading = section?.isConnected && $('h2', section)
  if (heading) heading.tabIndex = -1
  const first = (/** @type {Element | null | undefined} */ of) => of?.isConnected && $(controls, of)
  const target = same || first(next) || heading || first(within) || $('#main')
  target?.focus({ preventScroll: true })
})

/** Live parts keep asking; without an answer the page says that it may be out of date. */
export const answering = (/** @type {boolean} */ yes) =>
  void ($('#offline') && /** @type {HTMLElement} */ (($('#offline').hidden = yes)))

htmx.registerExtension('panel', {
  htmx_before_morph_node: (/** @type {Element} */ _, /** @type {any} */ { oldNode }) =>
    !oldNode.matches?.('dialog[open]:not([data-back]),.kept'),
  htmx_before_morph_attr: (/** @type {Element} */ element, /** @type {any} */ { attrName }) =>
    !(attrName === 'open' && element instanceof HTMLDetailsElement),
})

for (const element of $$('[data-reload]')) setTimeout(() => location.reload(), Number(element.dataset['reload']) * 1000)
