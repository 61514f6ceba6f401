// Rows of a table that are ticked, and a button for all of them.
// @ts-check

document.addEventListener('click', (event) => {
  // Presses the same button in every row that is ticked: each answers for itself.
  const press = around(event, '[data-press]')?.dataset['press']
  const ticked = $$('[data-tick]:checked')
  if (press && !ticked.length) toast('Tick some rows first.')
  if (press) for (const tick of ticked) $(`[data-does=${press}]`, /** @type {Element} */ (tick.closest('tr')))?.click()
  const all = around(event, '[data-tick-all]')
  if (all) for (const tick of $$('[data-tick]')) /** @type {any} */ (tick).checked = /** @type {any} */ (all).checked
})
