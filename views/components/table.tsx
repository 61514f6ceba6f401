// Lists: filters that are the address, a table whose rows become three lines on a phone, and a pager by cursor.
import type { ComponentChildren } from 'preact'
import { placeOf } from '../../src/kernel/reader/place.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { useAt } from '../../src/kernel/web/page-context.ts'
import { Icon } from './icon.tsx'
import { Link } from './link.tsx'

/**
 * The role of a column decides its place on a phone: `name`, `state`, `addr` and `more` (a menu) have their own, `a`
 * and `b` share the third line, `wide` has a line with its title. `mid` and `lo` leave first where the surface is
 * narrow, and are not on a phone.
 */
type Kind = 'name' | 'state' | 'addr' | 'a' | 'b' | 'more' | 'wide' | 'mid' | 'lo' | 'tick'
export type Column<Row> = {
  title: string
  cell(row: Row): ComponentChildren
  kind?: Kind
  num?: boolean
  /** Share of the width, in percent. */
  width?: number
  /** In place of the title in the head of the column, e.g. a box that ticks all rows. */
  head?: ComponentChildren
  /** The first order when the title is pressed: a value of the list's parameter `sort`. */
  sort?: string
  /** The list is in this order, that of `sort`, while its address asks for none. */
  usual?: boolean
}
type TableProps<Row> = {
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  idOf?: ((row: Row) => string) | undefined
  /** Text wraps and columns take what they need: for lists of sentences. */
  flow?: boolean
  /** The head stays in view. */
  stick?: boolean
  /** The rows are the list that the page's address asks for: titles of columns sort it. */
  sortable?: boolean | undefined
}

const lookOf = <Row,>({ kind = 'wide', num }: Column<Row>) =>
  [kind === 'mid' || kind === 'lo' ? `hide ${kind}` : kind === 'tick' ? 'hide' : kind, num && 'num']
    .filter(Boolean)
    .join(' ')
/** Boxes and menus have a width of their own (panel.css). */
const Share = <Row,>({ of: { kind = 'wide', width } }: { of: Column<Row> }) => (
  <col
    class={kind === 'tick' ? 'w-tick' : kind === 'more' ? 'w-menu' : /mid|lo/.test(kind) ? kind : undefined}
    width={width && `${width}%`}
  />
)

export const Table = <Row,>({ label, rows, columns, idOf, flow, stick, sortable }: TableProps<Row>) => (
  <table class={`t${flow ? ' flow' : ''}${stick ? ' stick' : ''}`}>
    <caption class="sr">{label}</caption>
    {(!flow || columns.some(({ width }) => width)) && (
      <colgroup>
        {columns.map((c) => (
          <Share of={c} />
        ))}
      </colgroup>
    )}
    <thead>
      <tr>
        {columns.map((c) => (
          <Heading of={c} sortable={sortable} />
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <Row row={row} columns={columns} id={idOf?.(row)} />
      ))}
    </tbody>
  </table>
)

/** A title that sorts goes from its first order to the reverse, and to the list's own, which is marked, too. */
function Heading<Row>({ of: c, sortable }: { of: Column<Row>; sortable: boolean | undefined }) {
  const at = useAt()
  const look = [/mid|lo/.test(c.kind ?? '') && c.kind, c.num && 'num'].filter(Boolean).join(' ') || undefined
  if (!c.sort || !sortable)
    return (
      <th scope="col" class={look}>
        {c.head ?? (c.kind === 'more' ? <span class="sr">{c.title}</span> : c.title)}
      </th>
    )
  const reverse = c.sort.startsWith('-') ? c.sort.slice(1) : `-${c.sort}`
  const now = at.query['sort'] || (c.usual ? c.sort : undefined)
  const order = now !== c.sort && now !== reverse ? undefined : now.startsWith('-') ? 'descending' : 'ascending'
  const next = now === c.sort ? reverse : now === reverse || c.usual ? null : c.sort
  return (
    <th scope="col" class={look} aria-sort={order}>
      <a href={addressWith(at, { sort: next })} data-list="">
        {c.title}
        {order && <Icon name={order === 'ascending' ? 'arrow-up' : 'arrow-down'} />}
      </a>
    </th>
  )
}

/** A number in a column; on a phone, where the column has no title, with the word for what is counted. */
export const Count = ({ n, of, plural = `${of}s` }: { n: number; of: string; plural?: string }) => (
  <>
    {n.toLocaleString('en')}
    <span class="per"> {n === 1 ? of : plural}</span>
  </>
)

type RowProps<Row> = { row: Row; columns: readonly Column<Row>[]; id: string | undefined }
const Row = <R,>({ row, columns, id }: RowProps<R>) => (
  <tr id={id}>
    {columns.map((c) => (
      <td data-l={c.title} class={lookOf(c)}>
        {c.cell(row)}
      </td>
    ))}
  </tr>
)

/** The same page with other filters; `null` removes one. Paging starts anew. */
export function addressWith(at: Pick<At, 'path' | 'query'>, changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(at.query)
  query.delete('cursor')
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  return at.path + (text && `?${text}`)
}

export type Listed = { data: readonly unknown[]; nextCursor: string | null; total: number }

/** `51–100 of 303`; undefined where all rows are on one page. */
export function rangeOf(page: Listed): string | undefined {
  const { first } = placeOf(page)
  if (!first && !page.nextCursor) return undefined
  const [from, to, total] = [first + 1, first + page.data.length, page.total].map((n) => n.toLocaleString('en'))
  return `${from}–${to} of ${total}`
}

/** The addresses of the pages beside this one; undefined where there is none. */
function besides(at: Pick<At, 'path' | 'query'>, page: Listed) {
  const { previous } = placeOf(page)
  return {
    previous: previous === undefined ? undefined : addressWith(at, { cursor: previous }),
    next: page.nextCursor === null ? undefined : addressWith(at, { cursor: page.nextCursor }),
  }
}

/** Above a list: `children` says where the page stands; arrows lead on. */
export function PagerButtons({ of, children }: { of: Listed; children: ComponentChildren }) {
  const { previous, next } = besides(useAt(), of)
  const way = (href: string | undefined, words: string, icon: 'chevron-left' | 'chevron-right') =>
    href && (
      <a class="btn ico s" href={href} aria-label={words}>
        <Icon name={icon} />
      </a>
    )
  return (
    <span class="pager">
      {children}
      {way(previous, 'Previous page', 'chevron-left')}
      {way(next, 'Next page', 'chevron-right')}
    </span>
  )
}

/** Below a list that has more than one page. */
export function Pager({ of }: { of: Listed }) {
  const range = rangeOf(of)
  const { previous, next } = besides(useAt(), of)
  if (!range) return null
  return (
    <nav class="pager end" aria-label="Pages">
      <b>{range}</b>
      {previous && (
        <a class="btn s" href={previous} rel="prev">
          <Icon name="chevron-left" />
          Previous
        </a>
      )}
      {next && (
        <a class="btn s" href={next} rel="next">
          Next
          <Icon name="chevron-right" />
        </a>
      )}
    </nav>
  )
}

type TabsProps = {
  label: string
  name: string
  options: readonly (readonly [value: string, words: ComponentChildren])[]
}
/** Filters as links, where there are few and one is always on. */
export function Tabs({ label, name, options }: TabsProps) {
  const at = useAt()
  return (
    <nav class="tabs" aria-label={label}>
      {options.map(([value, words]) => (
        <a
          href={addressWith(at, { [name]: value || null })}
          aria-current={(at.query[name] ?? '') === value ? 'page' : undefined}
        >
          {words}
        </a>
      ))}
    </nav>
  )
}

type PageTabsProps = { label: string; of: readonly (readonly [href: string, words: string])[] }
/** The pages of one thing; the one at this address is marked. */
export function PageTabs({ label, of }: PageTabsProps) {
  const at = useAt()
  return (
    <nav class="tabs" aria-label={label}>
      {of.map(([href, words]) => (
        <Link href={href} aria-current={href === at.path ? 'page' : undefined}>
          {words}
        </Link>
      ))}
    </nav>
  )
}
