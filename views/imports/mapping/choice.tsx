// A choice in a row of a table, saved as soon as it is made, and one choice for all rows that are ticked.
import type { ComponentChildren } from 'preact'
import { changeMapping } from '../../../src/imports/mapping/mapping.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { CallForm } from '../../components/action.tsx'
import type { Option } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { State } from '../../components/state.tsx'
import type { PartName } from '../imports/decisions.tsx'
import type { Import } from '../imports/words.tsx'

/** One choice for a row. `given`: the fields that say so to the API; `why`: it cannot be chosen. */
export type RowOption = { given: Readonly<Record<string, unknown>>; label: string; why?: string | undefined }
type RowChoiceProps = {
  of: Import
  part: PartName
  row: { sourceId: string; name: string | null }
  options: readonly RowOption[]
  /** The one that is chosen; undefined: none. */
  chosen: RowOption | undefined
  mayMap: boolean
}

export function RowChoice({ of, part, row, options, chosen, mayMap }: RowChoiceProps) {
  if (!mayMap) return <>{chosen?.label ?? 'Undecided'}</>
  const sentFor = (given: RowOption['given']) => JSON.stringify([{ sourceId: row.sourceId, ...given }])
  return (
    <CallForm op={changeMapping} params={{ id: of.id }} class="call choice" whenChosen done="Saved">
      <select
        id={`choice-${part}-${row.sourceId}`.replace(/[^A-Za-z0-9]+/g, '-')}
        name={part}
        data-as="json"
        aria-label={`What happens to ${row.name ?? row.sourceId}`}
        autocomplete="off"
      >
        <option value={sentFor({ choice: null })} selected={!chosen}>
          {chosen ? 'Undecided' : 'Choose…'}
        </option>
        {options.map((one) => (
          <option value={sentFor(one.given)} selected={one === chosen} disabled={!!one.why && one !== chosen}>
            {one.label}
            {one.why && ` (${one.why})`}
          </option>
        ))}
      </select>
    </CallForm>
  )
}

const BULK = 'bulk-form'
/** In the head of the column of ticks. */
export const TickAll = () => (
  <label class="tickbox">
    <input type="checkbox" data-tick-all="" aria-label="All on this page" autocomplete="off" />
  </label>
)
/** Its form is the bar of what is ticked. */
export const Tick = ({ sourceId, name }: { sourceId: string; name: string | null }) => (
  <label class="tickbox">
    <input
      type="checkbox"
      form={BULK}
      name="where.sourceIds"
      value={sourceId}
      data-as="list"
      data-tick=""
      aria-label={`Select ${name ?? sourceId}`}
      autocomplete="off"
    />
  </label>
)

type ChosenProps = {
  op: Operation
  of: Import
  options: readonly { value: string | null; label: string }[]
  /** A second choice, such as of the location. */
  more?: { name: string; label: string; options: readonly Option[]; nullable?: boolean } | undefined
}
/** The bar that is shown while a row is ticked. */
export const Chosen = ({ op, of, options, more }: ChosenProps) => (
  <CallForm op={op} params={{ id: of.id }} class="call" hands={{ to: 'showApplied', at: '#main' }} id={BULK}>
    <div class="picked" role="region" aria-label="Selected rows" data-chosen="" hidden>
      <b data-chosen-count="" />
      <span data-list="where.sourceIds" />
      <select name="choice" data-as="json" aria-label="What happens to them" autocomplete="off">
        {options.map(({ value, label }) => (
          <option value={JSON.stringify(value)}>{label}</option>
        ))}
      </select>
      {more && more.options.length > 0 && (
        <select
          name={more.name}
          aria-label={more.label}
          data-as={more.nullable ? 'null' : undefined}
          autocomplete="off"
        >
          {more.options.map(({ value, label }) => (
            <option value={value}>{label}</option>
          ))}
        </select>
      )}
      <button class="btn s">
        <Icon name="check" />
        <span>Apply</span>
      </button>
      <button type="button" class="btn s ico" data-tick-none="" aria-label="Clear selection">
        <Icon name="close" />
      </button>
    </div>
  </CallForm>
)

type DecisionProps = { choice: string | null; isProposed: boolean; words?: string }
/** Whether somebody has decided. `words`: what was. */
export function Decision({ choice, isProposed, words = 'Decided' }: DecisionProps) {
  const [tone, shape, said] =
    choice === null
      ? (['warn', 'wait', 'Undecided'] as const)
      : choice === 'leave_out'
        ? (['idle', 'fail', 'Left out'] as const)
        : (['ok', 'tick', isProposed ? 'Proposed' : words] as const)
  return (
    <State tone={tone} shape={shape}>
      {said}
    </State>
  )
}

type Offered = { choice: string; isOffered: boolean; words: string }
/** The effect of what is chosen. */
export const effectOf = ({ choice, offers }: { choice: string | null; offers: readonly Offered[] }) =>
  offers.find((one) => one.choice === choice)?.words
export const Why = ({ children }: { children: ComponentChildren }) => <span class="why">{children}</span>
