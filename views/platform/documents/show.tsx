// The documents, with their contents at the side: each as a page, the codes of errors as one more, and a search.
import type { ComponentChildren } from 'preact'
import type { AssetName } from '../../../public/assets.ts'
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import { markup } from '../../../src/kernel/web/html.ts'
import { noPage, page } from '../../../src/kernel/web/page.ts'
import { useAt, usePageContext } from '../../../src/kernel/web/page-context.ts'
import { type DocumentEntry, type DocumentGroup, documentGroups } from '../../../src/platform/documents/contents.ts'
import {
  DOCUMENTS_ROOT,
  documentsFor,
  type Heading,
  type ShownDocument,
  searchDocuments,
  shownDocument,
} from '../../../src/platform/documents/documents.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { ErrorCodes } from './error-codes.tsx'
import { pictures } from './pictures.ts'

/** The page of codes stands in the contents beside the documents. */
const ERROR_CODES = 'error-codes'
const errorCodesEntry: Listed = { name: ERROR_CODES, title: 'Codes of errors and failures', group: 'look' }
const MOST_CHARACTERS = 100

const common = { reads: {}, nav: 'documents', files: ['documents.css'] satisfies AssetName[] }

export const documentsPage = page({
  ...common,
  path: '/docs',
  title: 'Documentation',
  view: ({ at }) => {
    if (!documentsFor(at.actor.kind).length) throw noPage()
    const question = (at.query['q'] ?? '').slice(0, MOST_CHARACTERS)
    return (
      <Frame current={undefined} question={question}>
        {question ? <Found question={question} /> : <Index />}
      </Frame>
    )
  },
})

export const documentPage = page({
  ...common,
  path: '/docs/{name}',
  title: 'Documentation',
  view: ({ at }) => {
    const name = at.params['name'] ?? ''
    const isKnown = documentsFor(at.actor.kind).some((one) => one.name === name)
    if (!isKnown && !(name === ERROR_CODES && at.actor.kind === 'staff')) throw noPage()
    if (isKnown) return <OneDocument name={name} />
    return (
      <Frame current={name}>
        <ErrorCodes />
      </Frame>
    )
  },
})

function OneDocument({ name }: { name: string }) {
  const { actor } = useAt()
  const { asset } = usePageContext()
  const entry = documentsFor(actor.kind).find((one) => one.name === name)!
  const shown: ShownDocument = shownDocument(name, (file) => {
    const picture = pictures[file]
    return picture && asset(picture)
  })
  return (
    <Frame current={name} headings={shown.headings}>
      <article class="prose">
        <p class="muted">
          <Link to="/docs">Contents</Link> · {documentGroups[entry.group]}
        </p>
        <h2>{shown.title}</h2>
        {markup(shown.html)}
      </article>
    </Frame>
  )
}

type FrameProps = {
  current: string | undefined
  question?: string
  headings?: readonly Heading[]
  children: ComponentChildren
}
const Frame = ({ current, question = '', headings = [], children }: FrameProps) => (
  <>
    <Head title="Documentation" />
    <div class="docs">
      <Contents current={current} question={question} />
      {children}
      {headings.length > 1 && (
        <nav class="toc on" aria-label="On this page">
          <h2>On this page</h2>
          {headings.map(({ id, title }) => (
            <a href={`#${id}`}>{title}</a>
          ))}
        </nav>
      )}
    </div>
  </>
)

const Contents = ({ current, question }: { current: string | undefined; question: string }) => (
  <nav class="toc" aria-label="Contents">
    <form class="search" action={DOCUMENTS_ROOT} role="search">
      <Icon name="search" />
      <label class="sr" for="docs-q">
        Search the documentation
      </label>
      <input id="docs-q" type="search" name="q" value={question} placeholder="Search the docs" autocomplete="off" />
    </form>
    {groupsFor(useAt().actor.kind).map(([group, entries]) => (
      <>
        <h2>{documentGroups[group]}</h2>
        {entries.map((entry) => (
          <EntryLink entry={entry} isCurrent={entry.name === current} />
        ))}
      </>
    ))}
  </nav>
)

/** The contents as a page, which a phone has in place of the contents at the side. */
const Index = () => (
  <article class="prose">
    {groupsFor(useAt().actor.kind).map(([group, entries]) => (
      <>
        <h2>{documentGroups[group]}</h2>
        <ul>
          {entries.map((entry) => (
            <li>
              <EntryLink entry={entry} isCurrent={false} />
            </li>
          ))}
        </ul>
      </>
    ))}
  </article>
)

const EntryLink = ({ entry: { name, title }, isCurrent }: { entry: Listed; isCurrent: boolean }) => (
  <Link to="/docs/{name}" params={{ name }} aria-current={isCurrent ? 'page' : undefined}>
    {title}
  </Link>
)

type Listed = Pick<DocumentEntry, 'name' | 'title' | 'group'>
/** The documents of a reader by group, and for staff the page of codes. */
const groupsFor = (kind: AccountKind): readonly (readonly [DocumentGroup, readonly Listed[]])[] => [
  ...Map.groupBy([...documentsFor(kind), ...(kind === 'staff' ? [errorCodesEntry] : [])], ({ group }: Listed) => group),
]

function Found({ question }: { question: string }) {
  const hits = searchDocuments(documentsFor(useAt().actor.kind), question)
  return (
    <article class="prose">
      <h2>{hits.length ? `Found for “${question}”` : `Nothing has “${question}”`}</h2>
      {hits.length === 0 && (
        <p>
          Try fewer words, or look for a code on{' '}
          <Link to="/docs/{name}" params={{ name: ERROR_CODES }}>
            the page of codes
          </Link>
          .
        </p>
      )}
      <ul class="hits">
        {hits.map(({ name, title, section, anchor, excerpt }) => (
          <li>
            <a href={`${DOCUMENTS_ROOT}/${name}${anchor && `#${anchor}`}`}>
              {title}
              {section && `: ${section}`}
            </a>
            <p class="muted">{excerpt}</p>
          </li>
        ))}
      </ul>
    </article>
  )
}
