// Lists: filters that are the address, a table that becomes cards on a phone, and a pager by cursor.
import { type Content, type Html, html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'

type Column<Row> = { title: string; cell(row: Row): Content; main?: true; num?: true; quiet?: true; actions?: true }

/** `main` is the cell that names the row. */
export const table = <Row>(
  label: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  idOf?: (row: Row) => string,
): Html => html`
  <div class="wrap"><table class="t"><caption class="sr">${label}</caption><thead><tr>${columns.map((c) => html`<th scope="col"${c.num && html` class="num"`}>${c.actions ? html`<span class="sr">${c.title}</span>` : c.title}</th>`)}</tr></thead>
  <tbody>${rows.map((row) => html`<tr${idOf && html` id="${idOf(row)}"`}>${columns.map((c) => html`<td data-l="${c.title}" class="${c.main ? 'main' : ''} ${c.num ? 'num' : ''} ${c.actions ? 'does' : ''}">${c.cell(row)}</td>`)}</tr>`)}</tbody></table></div>`

/** The same page with other filters; paging starts anew. */
export function addressWith(at: At, changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(at.query)
  query.delete('cursor')
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  return at.path + (text && `?${text}`)
}

/** A GET form: works without scripts, and the address can be shared. */
export const filters = (at: At, inner: Content, count: Content): Html => html`
  <form class="bar filters" role="search" action="${at.path}" method="get" data-filters>${inner}<button class="btn">Filter</button>${
    Object.entries(at.query).some(([name, value]) => name !== 'cursor' && value) &&
    html`<a class="btn bare" href="${at.path}">Clear</a>`
  }<span class="grow"></span><span class="muted" role="status">${count}</span></form>`

export const filterText = (at: At, name: string, label: string, placeholder: string): Html =>
  html`<label class="sr" for="q-${name}">${label}</label><input id="q-${name}" name="${name}" value="${at.query[name] ?? ''}" placeholder="${placeholder}" type="search" autocomplete="off">`

export const filterChoice = (
  at: At,
  name: string,
  label: string,
  options: readonly (readonly [string, string])[],
): Html =>
  html`<label class="sr" for="q-${name}">${label}</label><select id="q-${name}" name="${name}"><option value="">${label}: any</option>${options.map(([value, words]) => html`<option value="${value}"${at.query[name] === value && html` selected`}>${words}</option>`)}</select>`

/** Filters as links, where there are few and one is always on. */
export const tabs = (at: At, label: string, name: string, options: readonly (readonly [string, Content])[]): Html =>
  html`<nav class="tabs" aria-label="${label}">${options.map(([value, words]) => html`<a href="${addressWith(at, { [name]: value || null })}"${(at.query[name] ?? '') === value && html` aria-current="page"`}>${words}</a>`)}</nav>`

/** Above a list that a link narrowed, where no filter shows it: to what, and the way to all of it. */
export const someOnly = (at: At, words: Content): Content => words && html`${words} <a href="${at.path}">Show all</a>`

type Listed = { data: readonly unknown[]; nextCursor: string | null; total: number }

/** Cursors lead forward; the way back is the browser's, and the start. */
export const pager = (at: At, { data, nextCursor, total }: Listed): Html =>
  at.query['cursor'] || nextCursor
    ? html`<nav class="bar pager" aria-label="Pages"><span class="muted">${data.length} of ${total.toLocaleString('en')} shown</span><span class="grow"></span>${at.query['cursor'] && html`<a class="btn" href="${addressWith(at, {})}">First page</a>`}${nextCursor && html`<a class="btn" href="${addressWith(at, { cursor: nextCursor })}" rel="next">Next page</a>`}</nav>`
    : html``
