// The command palette: a field and its results, drawn by the server. As a page it works without scripts; as a dialog on
// every page public/panel/page/palette.js opens it with Ctrl K and moves through the results.
import { powerServer } from '../../../src/compute/servers/power.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { MOST, search } from '../../../src/platform/search/search.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'

type Found = Answers<{ f: typeof search }>['f']['data'][number]

const shapes: Readonly<Record<string, [IconName, string]>> = {
  page: ['chevron-right', 'Page'],
  action: ['plus', 'Action'],
  server: ['server', 'Server'],
  customer: ['customers', 'Customer'],
  node: ['node', 'Node'],
  job: ['jobs', 'Job'],
  address: ['history', 'Who had it'],
}

/** A kind of thing that a feature adds is called by its own name. */
const shapeOf = (type: string): [IconName, string] => shapes[type] ?? ['dot', type]

type Shown = Pick<Found, 'type' | 'title' | 'href'> & Partial<Found>
const Results = ({ found, q }: { found: readonly Shown[]; q: string }) => (
  <>
    <div id="found" role="listbox" aria-label="Results" data-for={q.trim()}>
      {runsOf(found).map(({ type, from, hits }) => (
        <div role="group" aria-label={headingOf(type)}>
          <small class="muted" aria-hidden="true">
            {headingOf(type)}
          </small>
          {hits.map((f, i) => (
            <Hit of={f} id={`found-${from + i}`} />
          ))}
        </div>
      ))}
    </div>
    <WithHit of={found[0]} />
    <p id="found-n" class="muted" role="status">
      {q && !found.length ? `No results for “${q}”.` : q && countOf(found)}
    </p>
  </>
)

/** Neighbours of one kind have a heading: exact hits come first, so a kind may have two. */
function runsOf(found: readonly Shown[]) {
  const runs: { type: string; from: number; hits: Shown[] }[] = []
  for (const [from, hit] of found.entries()) {
    const last = runs.at(-1)
    if (last?.type === hit.type) last.hits.push(hit)
    else runs.push({ type: hit.type, from, hits: [hit] })
  }
  return runs
}
const headingOf = (type: string) => {
  const [, word] = shapeOf(type)
  return type === 'address' ? 'Address history' : `${word.charAt(0).toUpperCase()}${word.slice(1)}s`
}

/** There may be more than are shown. */
const countOf = ({ length }: readonly Shown[]) => (length < MOST ? `${length} found` : `The best ${length} are shown`)

const Hit = ({ of: f, id }: { of: Shown; id: string }) => (
  <a role="option" id={id} href={f.href} aria-selected="false">
    <Icon name={shapeOf(f.type)[0]} />
    <span class="grow">
      {f.title}
      {f.detail && <small class="muted"> {f.detail}</small>}
    </span>
    {f.exact && <span class="tag">Exact</span>}
    {f.terminated && <span class="tag">Terminated</span>}
    <small class="muted">{shapeOf(f.type)[1]}</small>
  </a>
)

/** The first result is meant alone: what can be done with it, reached with Tab. */
const WithHit = ({ of: hit }: { of: Shown | undefined }) =>
  hit?.id && hit.actions?.length ? (
    <div class="bar" role="group" aria-label={`With ${hit.title}`}>
      {hit.actions.map(({ title, href, operation, copies }) =>
        copies ? (
          <button type="button" class="btn s" data-copy={copies}>
            <Icon name="copy" />
            {title}
          </button>
        ) : href ? (
          <a class="btn s" href={href}>
            {title}
          </a>
        ) : (
          operation === powerServer.id && <Restart id={hit.id ?? ''} title={hit.title} />
        ),
      )}
    </div>
  ) : null

const Restart = ({ id, title }: { id: string; title: string }) => (
  <Action
    op={powerServer}
    params={{ id }}
    label="Restart…"
    submit="Restart"
    title={`Restart ${title}?`}
    small
    body={{ action: 'restart' }}
    done="Restart: under way"
    confirm={{
      consequences: ['It shuts down and starts again.', 'What runs on it is not there meanwhile.'],
      keep: 'Keep it running',
    }}
  />
)

const Input = ({ q }: { q: string }) => (
  <input
    name="q"
    value={q}
    type="search"
    role="combobox"
    aria-label="Search servers, customers, nodes, jobs and pages"
    aria-expanded="true"
    aria-controls="found"
    aria-autocomplete="list"
    placeholder="Name, address or id"
    autocomplete="off"
    autocapitalize="off"
    spellcheck={false}
    maxlength={100}
    hx-get="/search"
    hx-trigger="input changed delay:150ms"
    hx-select="#results"
    hx-target="#results"
    hx-swap="outerHTML"
    hx-sync="replace"
  />
)

const SearchForm = ({ q, found }: { q: string; found: readonly Shown[] }) => (
  <form class="palette" role="search" action="/search" method="get" data-palette="">
    <div class="search">
      <Icon name="search" />
      <Input q={q} />
    </div>
    <div id="results">
      <Results found={found} q={q} />
    </div>
  </form>
)

export const searchPage = page({
  path: '/search',
  reads: { found: search },
  title: 'Search',
  view: ({ found, at }) => (
    <>
      <Head title="Search" />
      <section class="sec first" aria-label="Search">
        <SearchForm q={at.query['q'] ?? ''} found={found.data} />
      </section>
    </>
  ),
})

/** In the top bar: a link to the page; with scripts it opens the dialog. */
export const SearchButton = () => (
  <a class="find" href="/search" data-dialog="palette">
    <Icon name="search" />
    <span>Search or go to…</span>
    <kbd>Ctrl K</kbd>
  </a>
)

/** Shows the reader's actions until something is typed. Not for the search page, which has the same field. */
export const Palette = ({ actions }: { actions: readonly Shown[] }) => (
  <dialog id="palette" class="wide" aria-label="Search">
    <SearchForm q="" found={actions.slice(0, MOST)} />
  </dialog>
)
