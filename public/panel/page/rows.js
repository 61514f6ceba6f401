// Ticked rows of a table, and the actions for all of them. Each asks first, and says who cannot and why.
// @ts-check

import { call } from '../calls/batch.js'
import { $, $$, closest, go, make } from './page.js'

/** True while a batch runs: a second press is ignored until its summary. */
let pressing = false
/** The question that is open. @type {{ of: DOMStringMap, label: string, rows: { id: string, name: string }[] }} */
let asked = { of: {}, label: '', rows: [] }

document.addEventListener('click', (event) => {
  const button = closest(event, '[data-press]')
  if (button && !pressing) ask(button.dataset, $('span', button)?.textContent ?? '')
  if (closest(event, '[data-bulk]') && !pressing) pressAll()
  const all = /** @type {HTMLInputElement | null} */ (closest(event, 'input[data-tick-all]'))
  const none = closest(event, '[data-tick-none]')
  const matching = closest(event, '[data-tick-matching]')
  const plan = closest(event, '[data-plan]')
  if (all) tickAll(all.checked)
  if (none) {
    filter = undefined
    tickAll(false)
  }
  if (matching) chooseMatching(matching)
  if (plan) openPlan(plan.dataset['plan'] ?? '')
})
document.addEventListener('change', () => {
  filter = undefined
  showChosen()
})
document.addEventListener('htmx:after:swap', showChosen)

/** All that the filters leave are chosen, and not only those of this page: their filters. @type {string | undefined} */
let filter

function chooseMatching(/** @type {HTMLElement} */ button) {
  tickAll(true)
  filter = button.dataset['tickMatching'] ?? ''
  showChosen()
}

/** The page that says what would happen to those that are chosen. */
function openPlan(/** @type {string} */ path) {
  const ids = ticked().map((tick) => /** @type {Element} */ (tick.closest('tr')).id)
  go(path + (filter === undefined ? `&ids=${ids.join()}` : filter && `&${filter}`))
}

const ticked = () => $$('input[data-tick]:checked')

function tickAll(/** @type {boolean} */ yes) {
  for (const tick of $$('input[data-tick], input[data-tick-all]')) /** @type {HTMLInputElement} */ (tick).checked = yes
  showChosen()
}

/** The bar with the actions is shown while a row is ticked. */
function showChosen() {
  const bar = $('[data-chosen]')
  if (!bar) return
  const matching = $('[data-tick-matching]', bar)
  if (matching) matching.hidden = filter !== undefined
  const n = filter === undefined ? ticked().length : Number(matching?.dataset['total'])
  bar.hidden = n === 0
  const count = $('[data-chosen-count]', bar)
  if (count) count.textContent = `${n} selected`
}

const servers = (/** @type {number} */ n) => `${n} ${n === 1 ? 'server' : 'servers'}`
const typed = () => /** @type {HTMLInputElement} */ ($('#bulk-typed'))
const question = () => /** @type {HTMLDialogElement} */ ($('#bulk'))

/** Says how many it would be, and groups those that cannot by their reason. */
function ask(/** @type {DOMStringMap} */ of, /** @type {string} */ label) {
  asked = { of, label, rows: [] }
  const { rows } = asked
  /** @type {Map<string, string[]>} */
  const cannot = new Map()
  let out = 0
  for (const tick of ticked()) {
    const { id } = /** @type {Element} */ (tick.closest('tr'))
    const name = $(`#${id} .name a`)?.textContent ?? ''
    const why = JSON.parse(tick.dataset['tick'] ?? '{}')[of['press'] ?? '']
    if (!why) rows.push({ id, name })
    else {
      cannot.set(why, [...(cannot.get(why) ?? []), name])
      out++
    }
  }
  const dialog = question()
  const [title, words, list, field, go] = $$('h2, p, ul, [data-typed], [data-bulk]', dialog)
  if (!title || !words || !list || !field || !go) return
  field.hidden = !of['field'] || !rows.length
  field.children[0].textContent = of['field'] ?? ''
  typed().value = ''
  title.textContent = rows.length
    ? `${label} ${servers(rows.length)}?`
    : `${label}: not possible for ${out === 1 ? 'this server' : `these ${servers(out)}`}`
  words.textContent = out ? `${out} cannot:` : ''
  list.replaceChildren(...[...cannot].map(([why, names]) => make('li', {}, `${names.join(', ')}: ${why}`)))
  go.textContent = label
  go.hidden = !rows.length
  dialog.showModal()
  $('[data-close]', dialog)?.focus()
}

/** Calls for each server, one after the other, unticks all, and shows one summary. */
async function pressAll() {
  const { of, label, rows } = asked
  const dialog = question()
  const value = typed().value
  if (of['field'] && !value.trim()) return typed().focus()
  pressing = true
  dialog.close()
  const refusals = []
  for (const { id, name } of rows) {
    const body = (of['body'] ?? '').replace('?', () => JSON.stringify(value).slice(1, -1))
    const why = await call((of['url'] ?? '').replace('/./', `/${id}/`), JSON.parse(body))
    if (why) refusals.push(why.includes(name) ? why : `${name}: ${why}`)
  }
  pressing = false
  tickAll(false)
  const begun = rows.length - refusals.length
  const summary = `${label}: ${begun || 'none'} under way${refusals.length ? `, ${refusals.length} refused` : ''}.`
  dispatchEvent(new CustomEvent('batch', { detail: [summary, { stays: true, lines: refusals }] }))
}
