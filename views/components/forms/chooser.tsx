// One or several of things that may be many: all of them to choose from while they are few, beyond that a field that
// searches (public/panel/forms/chooser.js, which its page has among its files).
import type { ComponentChildren } from 'preact'
import type { AssetName } from '../../../public/assets.ts'
import { type Answers, type At, aroundParts, reading } from '../../../src/kernel/web/page.ts'
import { findChoices, MOST_CHOICES } from '../../../src/platform/choices/choices.ts'
import { Checks } from '../choices.tsx'
import { Select } from '../field.tsx'

/** The files of a page with such a field. */
export const chooserFiles = ['chooser.js'] as const satisfies AssetName[]

export type Choices = Answers<{ choices: typeof findChoices }>['choices']
/** A kind of thing that can be chosen. */
export type ChoiceKind = 'node' | 'location' | 'package' | 'address pool'

/** Reads what a field offers. `chosen`: the id that it has already, whose name it shows. */
export const choicesOf = (of: ChoiceKind, chosen: (at: At) => string | undefined = () => undefined) =>
  reading(findChoices, (at) => {
    const id = chosen(at)
    return { query: { of, ...(id && { chosenId: id }) } }
  })
/** Of things that the page has read already. */
export const fewOf = (all: readonly { id: string; name: string }[]): Choices => ({
  data: all.slice(0, MOST_CHOICES),
  more: all.length > MOST_CHOICES,
})
/** Of a filter above a list that is redrawn: `name` is that of the filter. */
export const filterChoices = (of: ChoiceKind, name: string) => aroundParts(choicesOf(of, ({ query }) => query[name]))

const slug = (text: string) => text.replace(/[^A-Za-z0-9]+/g, '-')

type SearchProps = { id: string; of: ChoiceKind; words?: string; label?: string; class?: string; hint?: boolean }
/** The field that searches, and the names that it found. */
export const SearchField = ({ id, of, words = '', label, hint, ...more }: SearchProps) => (
  <>
    <input
      id={id}
      type="search"
      list={`${id}-found`}
      value={words}
      placeholder={`Search for a ${of}`}
      autocomplete="off"
      aria-label={label}
      aria-describedby={hint ? `${id}-h` : undefined}
      {...more}
    />
    <datalist id={`${id}-found`} />
  </>
)

type ChooserProps = {
  scope: string
  name: string
  label: string
  hint?: ComponentChildren
  of: ChoiceKind
  choices: Choices
  value: string | null | undefined
  /** The words for no choice; undefined: there is none. */
  none?: string
  /** Sent as null when nothing is chosen. */
  nullable?: boolean
}
/** One of them. */
export function Chooser({ scope, name, label, hint, of, choices, value, none, nullable = false }: ChooserProps) {
  if (!choices.more) {
    const options = choices.data.map((one) => ({ value: one.id, label: one.name }))
    return (
      <Select
        {...{ scope, name, label, hint, nullable }}
        value={value ?? ''}
        options={none === undefined ? options : [{ value: '', label: none }, ...options]}
      />
    )
  }
  const id = slug(`${scope}-${name}`)
  return (
    <div class="f" data-chooser={of}>
      <label for={id}>
        {label}
        {none && <span class="opt"> {none.toLowerCase()} if empty</span>}
      </label>
      {hint && (
        <span class="hint" id={`${id}-h`}>
          {hint}
        </span>
      )}
      <SearchField id={id} of={of} words={nameIn(choices, value)} hint={!!hint} />
      <input type="hidden" name={name} value={value ?? ''} data-as={nullable ? 'null' : undefined} />
    </div>
  )
}
export const nameIn = ({ data }: Choices, id: string | null | undefined) => data.find((one) => one.id === id)?.name

type ManyProps = Omit<ChooserProps, 'value' | 'none' | 'nullable'> & {
  chosen: readonly { id: string; name: string }[]
  /** In place of the options where there are none. */
  empty?: ComponentChildren
}
/** Any number of them, sent as a list. */
export function ManyChooser({ scope, name, label, hint, of, choices, chosen, empty }: ManyProps) {
  const known = choices.more ? chosen : choices.data
  const boxes = (
    <Checks
      {...{ scope, name, label, hint, empty: choices.more ? undefined : empty }}
      values={chosen.map(({ id }) => id)}
      options={known.map((one) => ({ value: one.id, label: one.name }))}
    />
  )
  if (!choices.more) return boxes
  return (
    <div class="stack" data-chooser={of}>
      {boxes}
      <template>
        <div class="tick">
          <input type="checkbox" id="chosen" name={name} data-as="list" checked />
          <label for="chosen">Chosen</label>
        </div>
      </template>
      <SearchField id={slug(`${scope}-${name}-search`)} of={of} label={`Add a ${of}`} />
    </div>
  )
}
