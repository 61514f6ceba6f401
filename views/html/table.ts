import { h } from 'preact'
import { type Content, type Html, html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { FilterChoice, Filters, FilterText } from '../components/filters.tsx'
import { addressWith, type Column, Pager, Table, Tabs } from '../components/table.tsx'

type Given<Row> = { title: string; cell(row: Row): Content; main?: true; num?: true; quiet?: true; actions?: true }

/** `main` is the cell that names the row. */
export const table = <Row>(
  label: string,
  rows: readonly Row[],
  columns: readonly Given<Row>[],
  idOf?: (row: Row) => string,
): Html =>
  h(Table<Row>, {
    label,
    rows,
    idOf,
    flow: true,
    columns: columns.map(
      ({ main, num, actions, ...c }): Column<Row> => ({
        ...c,
        kind: main ? 'name' : 'wide',
        ...(num && { num }),
        ...(actions && { head: html`<span class="sr">${c.title}</span>` }),
      }),
    ),
  })

export { addressWith }
export const filters = (_at: At, inner: Content, count: Content): Html => h(Filters, { count, children: inner })
export const filterText = (_at: At, name: string, label: string, placeholder: string): Html =>
  h(FilterText, { name, label, placeholder })
export const filterChoice = (
  _at: At,
  name: string,
  label: string,
  options: readonly (readonly [string, string])[],
): Html => h(FilterChoice, { name, label, options })
export const tabs = (_at: At, label: string, name: string, options: readonly (readonly [string, Content])[]): Html =>
  h(Tabs, { label, name, options })
export const someOnly = (at: At, words: Content): Content => words && html`${words} <a href="${at.path}">Show all</a>`
export const pager = (_at: At, of: Parameters<typeof Pager>[0]['of']): Html => h(Pager, { of })
