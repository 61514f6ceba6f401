// The command palette: a field and what it finds, drawn by the server. As a page it works without scripts; as a dialog on every page
// public/panel/palette.js opens it with Ctrl K and moves through what was found.
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import { MOST, search } from '../../../src/platform/search/search.ts'
import { head } from '../../components/head.ts'
import { type IconName, icon } from '../../components/icon.ts'

type Found = Answers<{ f: typeof search }>['f']['data'][number]

const shapes: Readonly<Record<string, [IconName, string]>> = {
  page: ['next', 'Page'],
  action: ['plus', 'Action'],
  server: ['server', 'Server'],
  customer: ['customers', 'Customer'],
  node: ['node', 'Node'],
  job: ['jobs', 'Job'],
}

/** A kind of thing that a feature adds is called by its own name. */
const shapeOf = (type: string): [IconName, string] => shapes[type] ?? ['dot', type]

type Shown = Pick<Found, 'type' | 'title' | 'href'> & { detail?: string | null }
const results = (found: readonly Shown[], q: string): Html => html`
  <div id="found" role="listbox" aria-label="Results" data-for="${q.trim()}">${found.map(
    (f, i) =>
      html`<a role="option" id="found-${i}" href="${f.href}" aria-selected="false">${icon(shapeOf(f.type)[0])}<span class="grow">${f.title}${f.detail && html` <small class="muted">${f.detail}</small>`}</span><small class="muted">${shapeOf(f.type)[1]}</small></a>`,
  )}</div>
  <p id="found-n" class="muted" role="status">${q && !found.length ? `Nothing is called “${q}”, or you may not see it.` : ''}<span class="sr">${found.length > 0 && `${found.length} found`}</span></p>`

const input = (q: string): Html =>
  html`<input name="q" value="${q}" type="search" role="combobox" aria-label="Search servers, customers, nodes, jobs and pages" aria-expanded="true" aria-controls="found" aria-autocomplete="list" placeholder="Name, address or id" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="100" hx-get="/search" hx-trigger="input changed delay:150ms" hx-select="#results" hx-target="#results" hx-swap="outerHTML" hx-sync="replace">`

const form = (q: string, found: readonly Shown[]): Html =>
  html`<form class="palette" role="search" action="/search" method="get" data-palette><div class="bar">${icon('search')}${input(q)}</div><div id="results">${results(found, q)}</div></form>`

export const searchPage = page({
  path: '/search',
  reads: { found: search },
  title: 'Search',
  view: ({ found, at }) =>
    html`${head({ title: 'Search' })}<section class="card" aria-label="Search">${form(at.query['q'] ?? '', found.data)}</section>`,
})

/** In the top bar: a link to the page; with scripts it opens the dialog. */
export const searchButton = (): Html =>
  html`<a class="btn find" href="/search" data-dialog="palette">${icon('search')}<span>Search</span><kbd class="muted">Ctrl K</kbd></a>`

/** Not on the search page itself, which has the same field. Before anything is typed it shows what can be done. */
export const palette = (at: At, actions: readonly Shown[]): Html =>
  at.path === '/search'
    ? html``
    : html`<dialog id="palette" class="wide" aria-label="Search">${form('', actions.slice(0, MOST))}</dialog>`
