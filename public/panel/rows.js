// Rows of a table that are ticked, and a button for all of them.
// @ts-check

/** Under way: a second press waits for its summary. */
let pressing = false

document.addEventListener('click', (event) => {
  const button = around(event, '[data-press]')
  if (button && !pressing) pressAll(button.dataset['press'] ?? '', $('span', button)?.textContent ?? '')
  const all = around(event, '[data-tick-all]')
  if (all) for (const tick of $$('[data-tick]')) /** @type {any} */ (tick).checked = /** @type {any} */ (all).checked
})

/** Does what each ticked row's own button does, one after the other, and says once how it went. */
async function pressAll(/** @type {string} */ what, /** @type {string} */ label) {
  const rows = $$('[data-tick]:checked').map((tick) => /** @type {Element} */ (tick.closest('tr')).id)
  if (!rows.length) return toast('Tick some rows first.')
  pressing = true
  const refusals = []
  for (const row of rows) {
    // Looked up when its turn comes: the list may have been drawn again meanwhile.
    const button = /** @type {HTMLButtonElement | null} */ ($(`#${row} [data-does=${what}]`))
    if (!button) continue
    const name = $(`#${row} .main a`)?.textContent ?? ''
    const why = button.dataset['why'] ?? (await sent(/** @type {HTMLFormElement} */ (button.form)))
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
