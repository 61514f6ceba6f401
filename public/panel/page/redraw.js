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
const nameOf = (/** @type {Element} */ control) => control.getAttribute('aria-label') ?? control.textContent?.trim()
const controls = 'a[href], summary, button'
/**
 * The place of the focus before a redraw. `within`: the nearest thing around it that has an id.
 * @type {{ name: string | undefined, within: string | undefined, group: Element | null, rows: Element | null,
 *   at: number, section: Element | null } | undefined}
 */
let focused
function remember() {
  const active = document.activeElement
  const row = active?.closest('tr, li')
  focused =
    active && active !== document.body
      ? {
          name: nameOf(active),
          within: active.parentElement?.closest('[id]')?.id,
          group: active.closest('.acts, .bar'),
          rows: row?.parentElement ?? null,
          at: row ? [...(row.parentElement?.children ?? [])].indexOf(row) : 0,
          section: active.closest('.sec'),
        }
      : undefined
}
document.addEventListener('htmx:before:swap', remember)
/**
 * A button is another element once it is off: the focus goes to the one of the same name, then to its neighbour. When
 * the focused row is removed, it goes to the next row, else to the heading, else to the top.
 */
document.addEventListener('htmx:after:swap', () => {
  if (!focused || (document.activeElement && document.activeElement !== document.body)) return
  const { name, within, group, rows, at, section } = focused
  const place = within === undefined ? null : document.getElementById(within)
  const same = place && $$(controls, place).find((control) => nameOf(control) === name)
  const neighbour = group?.isConnected ? $(controls, group) : null
  const next = rows?.isConnected ? (rows.children[at] ?? rows.lastElementChild) : null
  const heading = section?.isConnected ? /** @type {HTMLElement | null} */ (section.querySelector('h2')) : null
  if (heading) heading.tabIndex = -1
  const target = same ?? (next && $(controls, next)) ?? neighbour ?? heading ?? $('#main')
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
