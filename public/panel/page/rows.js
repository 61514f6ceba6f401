// Ticked rows of a table, and the buttons that act on all of them.
// @ts-check

import { sendInBatch } from '../calls/batch.js'
import { toast } from './messages.js'
import { $, $$, around } from './page.js'
import { refresh } from './redraw.js'

/** True while a batch runs: a second press is ignored until its summary. */
let pressing = false

document.addEventListener('click', (event) => {
  const button = around(event, '[data-press]')
  if (button && !pressing) pressAll(button.dataset['press'] ?? '', $('span', button)?.textContent ?? '')
  const all = /** @type {HTMLInputElement | null} */ (around(event, 'input[data-tick-all]'))
  const none = around(event, '[data-tick-none]')
  if (all) tickAll(all.checked)
  if (none) tickAll(false)
})
document.addEventListener('change', showChosen)
document.addEventListener('htmx:after:swap', showChosen)

const ticked = () => $$('input[data-tick]:checked')

function tickAll(/** @type {boolean} */ yes) {
  for (const tick of $$('input[data-tick], input[data-tick-all]')) /** @type {HTMLInputElement} */ (tick).checked = yes
  showChosen()
}

/** The bar with the actions is shown while a row is ticked. */
function showChosen() {
  const bar = $('[data-chosen]')
  if (!bar) return
  const n = ticked().length
  bar.hidden = n === 0
  const count = $('[data-chosen-count]', bar)
  if (count) count.textContent = `${n} chosen`
}

/** Presses the button of each ticked row, one after the other, and shows one summary. */
async function pressAll(/** @type {string} */ what, /** @type {string} */ label) {
  const rows = ticked().map((tick) => /** @type {Element} */ (tick.closest('tr')).id)
  if (!rows.length) return toast('Tick some rows first.')
  pressing = true
  const refusals = []
  for (const row of rows) {
    // The list may have been drawn again since the batch began.
    const button = /** @type {HTMLButtonElement | null} */ ($(`#${row} [data-does=${what}]`))
    if (!button) continue
    const name = $(`#${row} .name a`)?.textContent ?? ''
    const why = button.dataset['why'] ?? (await sendInBatch(/** @type {HTMLFormElement} */ (button.form)))
    if (why) refusals.push(why.includes(name) ? why : `${name}: ${why}`)
  }
  pressing = false
  const begun = rows.length - refusals.length
  toast(`${label}: ${begun || 'none'} under way${refusals.length ? `, ${refusals.length} not` : ''}.`, {
    stays: true,
    lines: refusals,
  })
  refresh()
}
