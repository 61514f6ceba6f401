// The filters of a list. They are its address: a GET form that works without scripts, and whose result can be shared as
// a link.
import type { ComponentChildren } from 'preact'
import { useAt } from '../../src/kernel/web/page-context.ts'
import { Icon } from './icon.tsx'

/** The form around the filters of a list; `count` says what they leave. */
export function Filters({ count, children }: { count: ComponentChildren; children: ComponentChildren }) {
  const at = useAt()
  const filtered = Object.entries(at.query).some(([name, value]) => name !== 'cursor' && value)
  return (
    <form class="tools" role="search" action={at.path} method="get" data-filters="">
      {children}
      <button class="btn">Filter</button>
      {filtered && (
        <a class="btn bare" href={at.path}>
          Clear
        </a>
      )}
      <span class="grow" />
      <span class="muted" role="status">
        {count}
      </span>
    </form>
  )
}

/** Free text. */
export function FilterText({ name, label, placeholder }: { name: string; label: string; placeholder: string }) {
  const at = useAt()
  return (
    <div class="search">
      <Icon name="search" />
      <label class="sr" for={`q-${name}`}>
        {label}
      </label>
      <input
        id={`q-${name}`}
        name={name}
        value={at.query[name] ?? ''}
        placeholder={placeholder}
        type="search"
        autocomplete="off"
      />
    </div>
  )
}

type ChoiceProps = { name: string; label: string; options: readonly (readonly [value: string, words: string])[] }
/** One of several, or any: a chip that is a select, filled where a choice is on. */
export function FilterChoice({ name, label, options }: ChoiceProps) {
  const at = useAt()
  return (
    <>
      <label class="sr" for={`q-${name}`}>
        {label}
      </label>
      <select id={`q-${name}`} name={name} class={at.query[name] ? 'chip on' : 'chip'}>
        <option value="">{label}: any</option>
        {options.map(([value, words]) => (
          <option value={value} selected={at.query[name] === value}>
            {words}
          </option>
        ))}
      </select>
    </>
  )
}

/** A filter that came with a link and has no field of its own stays when the others change. */
export function KeptFilter({ name }: { name: string }) {
  const value = useAt().query[name]
  return value ? <input type="hidden" name={name} value={value} /> : null
}

/** Above a list that a link narrowed, where no filter shows it: to what, and the way to all of it. */
export function SomeOnly({ children }: { children: ComponentChildren }) {
  const at = useAt()
  return (
    <p class="muted">
      {children} <a href={at.path}>Show all</a>
    </p>
  )
}
