// Every list of the panel: filters above, where the page stands in the list, the rows, and the way on. Filters are the
// page's address: a GET form that works without scripts, and whose result can be shared as a link.
import type { ComponentChildren } from 'preact'
import type { Operation, Query } from '../../src/kernel/api/operation.ts'
import { useAt } from '../../src/kernel/web/page-context.ts'
import { type Params, pathOf } from './action.tsx'
import { type ChoiceKind, type Choices, nameIn, SearchField } from './forms/chooser.tsx'
import { Head } from './head.tsx'
import { Icon } from './icon.tsx'
import { Live } from './live.tsx'
import { Empty, Section } from './section.tsx'
import { addressWith, type Column, type Listed, Pager, PagerButtons, rangeOf, Table } from './table.tsx'
import { instantsIn, useLocalMinute } from './time.tsx'
import { count } from './words.ts'

type ListProps = {
  of: Listed
  /** The word for a row, in the singular; `plural` where it does not end with an s. */
  noun: string
  plural?: string
  filters?: readonly (Filter | false | undefined)[]
  /** The columns that can be sorted by: on a phone, where the titles of columns are hidden, a choice sorts. */
  sorts?: readonly { title: string; sort?: string }[]
  /** Fetched again every so many seconds; undefined: it does not change by itself. */
  every?: number
  /** Between the filters and the rows, e.g. tabs. */
  above?: ComponentChildren
  /** In place of the rows of a list that has none, whatever the filters. */
  empty: ComponentChildren
  /** Where the filters leave none, in other words. */
  emptyWhenFiltered?: string | undefined
  /** The table. */
  children: ComponentChildren
}

export function List({
  of,
  noun,
  plural,
  filters = [],
  every,
  above,
  empty,
  emptyWhenFiltered,
  children,
  ...more
}: ListProps) {
  const { query } = useAt()
  const narrowed = isFiltered(query)
  const rows = of.data.length ? (
    children
  ) : narrowed ? (
    <NothingFits words={emptyWhenFiltered ?? `No ${noun} matches these filters.`} />
  ) : (
    empty
  )
  return (
    <>
      {(of.total > 0 || narrowed) && (
        <Filters of={filters} sorts={more.sorts}>
          <PagerButtons of={of}>
            <b role="status">{rangeOf(of) ?? count(of.total, noun, plural)}</b>
          </PagerButtons>
        </Filters>
      )}
      {above}
      {every ? (
        <Live id="list" every={every} class="">
          {rows}
        </Live>
      ) : (
        rows
      )}
      <Pager of={of} />
    </>
  )
}

type ListPageProps<Row> = {
  title: string
  words: string
  actions: ComponentChildren
  of: Listed & { data: readonly Row[] }
  columns: readonly Column<Row>[]
  empty: ComponentChildren
}
/** A page that is one list without filters, such as of the reader's own keys, scripts or images. */
export const ListPage = <Row extends { id: string }>({ title, words, actions, ...list }: ListPageProps<Row>) => (
  <>
    <Head title={title} actions={actions} sub={<p>{words}</p>} />
    <Section id="list" title={title} quiet flush first>
      <ListOf title={title} {...list} />
    </Section>
  </>
)

/** The rows of such a list and its pager, or what is there instead. */
export const ListOf = <Row extends { id: string }>({
  title,
  of,
  columns,
  empty,
}: Pick<ListPageProps<Row>, 'title' | 'of' | 'columns' | 'empty'>) =>
  of.data.length > 0 ? (
    <>
      <Table label={title} rows={of.data} columns={columns} idOf={({ id }) => id} />
      <Pager of={of} />
    </>
  ) : (
    empty
  )

function NothingFits({ words }: { words: string }) {
  const at = useAt()
  return (
    <Empty
      action={
        <a class="btn" href={at.path} data-list="">
          Clear filters
        </a>
      }
    >
      {words}
    </Empty>
  )
}

type DownloadProps = { op: Operation; params?: Params; label: string; query?: Query }
/** The list as the filters or `query` narrow it, to its end, as a file. Nothing for readers who may not fetch it. */
export function Download({ op, params, label, query: asked }: DownloadProps) {
  const at = useAt()
  if (!at.may(op)) return null
  const { cursor: _, limit: __, ...filters } = asked ?? at.query
  const query = new URLSearchParams(filters).toString()
  return (
    <a class="btn" href={pathOf(op, params ?? {}) + (query && `?${query}`)} download>
      <Icon name="download" />
      {label}
    </a>
  )
}

type Named = { name: string; label: string }
/**
 * Text with a placeholder, one of several `options` or of the `choices` of many things, a moment (`time`), or a filter
 * without a field that a link brings: `value` is what it narrows the list to.
 */
export type Filter = Named &
  (
    | { placeholder: string }
    | { options: readonly (readonly [value: string, words: string])[] }
    | { of: ChoiceKind; choices: Choices }
    | { time: true }
    | { value: ComponentChildren }
  )

/** Does the page's address narrow the list? */
export const isFiltered = (query: Readonly<Record<string, string>>): boolean =>
  Object.entries(query).some(
    ([name, value]) => !['cursor', 'limit', 'sort', 'delivery', 'like', 'give', 'customer'].includes(name) && value,
  )

type FiltersProps = {
  of: readonly (Filter | false | undefined)[]
  sorts?: ListProps['sorts'] | undefined
  children: ComponentChildren
}
/** The form around the filters; each that is on has a link that removes it. `children`: what they leave. */
export function Filters({ of, sorts, children }: FiltersProps) {
  const at = useAt()
  const filters = of.filter((filter) => !!filter)
  const { sort } = at.query
  return (
    <form class="tools" role="search" action={at.path} method="get" data-filters="">
      {filters.map((filter) => (
        <FilterField of={filter} />
      ))}
      {sorts ? <Sort of={sorts} value={sort} /> : sort && <input type="hidden" name="sort" value={sort} />}
      {filters.some((filter) => !('value' in filter)) && <button class="btn">Filter</button>}
      {isFiltered(at.query) && (
        <a class="btn bare" href={at.path} data-list="">
          Clear
        </a>
      )}
      <span class="grow" />
      {children}
    </form>
  )
}

function FilterField({ of: filter }: { of: Filter }) {
  const value = useAt().query[filter.name] ?? ''
  if ('value' in filter) return value ? <GivenFilter of={filter} value={value} words={filter.value} /> : null
  if ('choices' in filter) return <ChoiceOfMany {...filter} value={value} />
  return 'options' in filter ? (
    <Choice {...filter} value={value} />
  ) : 'time' in filter ? (
    <MomentFilter {...filter} />
  ) : (
    <Text {...filter} value={value} />
  )
}

/** A moment. The address has the instant; the field shows it in the zone of all times of the page. */
export function MomentFilter({ name, label }: Named) {
  const at = useAt()
  const iso = instantsIn(at, [name])[name]
  return (
    <label class="bar">
      {label}
      <input
        name={name}
        value={useLocalMinute(iso)}
        data-iso={iso || undefined}
        type="datetime-local"
        autocomplete="off"
      />
    </label>
  )
}

const Text = ({ name, label, placeholder, value }: Named & { placeholder: string; value: string }) => (
  <div class="search">
    <Icon name="search" />
    <label class="sr" for={`q-${name}`}>
      {label}
    </label>
    <input id={`q-${name}`} name={name} value={value} placeholder={placeholder} type="search" autocomplete="off" />
  </div>
)

type ChoiceProps = Named & { options: readonly (readonly [value: string, words: string])[]; value: string }
/** A chip that is a select, filled where a choice is on; then a cross removes it. */
const Choice = ({ name, label, options, value }: ChoiceProps) => (
  <span class="bar">
    <label class="sr" for={`q-${name}`}>
      {label}
    </label>
    <select id={`q-${name}`} name={name} class={value ? 'chip on' : 'chip'} autocomplete="off">
      <option value="">{value ? 'Any' : label}</option>
      {options.map(([option, words]) => (
        <option value={option} selected={option === value}>
          {option === value ? `${label}: ${words}` : words}
        </option>
      ))}
    </select>
    {value && <Remove name={name} label={label} />}
  </span>
)

type ManyProps = Named & { of: ChoiceKind; choices: Choices; value: string }
/** As `Choice` while they are few, beyond that a field that searches. */
const ChoiceOfMany = ({ name, label, of, choices, value }: ManyProps) =>
  choices.more ? (
    <span class="bar" data-chooser={of}>
      <SearchField id={`q-${name}`} of={of} words={nameIn(choices, value)} label={label} />
      <input type="hidden" name={name} value={value} />
      {value && <Remove name={name} label={label} />}
    </span>
  ) : (
    <Choice name={name} label={label} options={choices.data.map((one) => [one.id, one.name])} value={value} />
  )

/** It is also sent where it is hidden, so that the order stays when a filter changes. */
const Sort = ({ of, value = '' }: { of: NonNullable<ListProps['sorts']>; value: string | undefined }) => (
  <span class="bar per">
    <label class="sr" for="q-sort">
      Sort by
    </label>
    <select id="q-sort" name="sort" class={value ? 'chip on' : 'chip'} autocomplete="off">
      <option value="">Sort by: default</option>
      {of.flatMap(({ title, sort }) =>
        sort
          ? [sort, sort.startsWith('-') ? sort.slice(1) : `-${sort}`].map((by, reverse) => (
              <option value={by} selected={by === value}>
                {`${by === value ? 'Sort by: ' : ''}${title}${reverse ? ', reversed' : ''}`}
              </option>
            ))
          : [],
      )}
    </select>
  </span>
)

const Remove = ({ name, label }: Named) => {
  const at = useAt()
  return (
    <a
      class="btn bare ico s"
      href={addressWith(at, { [name]: null })}
      aria-label={`Remove filter ${label}`}
      data-list=""
    >
      <Icon name="close" />
    </a>
  )
}

/** A filter that came with a link: it stays when the others change. */
const GivenFilter = ({ of: { name, label }, value, words }: { of: Named; value: string; words: ComponentChildren }) => (
  <a class="chip on" href={addressWith(useAt(), { [name]: null })} data-list="">
    <input type="hidden" name={name} value={value} />
    {label}: {words}
    <Icon name="close" />
    <span class="sr">Remove filter</span>
  </a>
)
