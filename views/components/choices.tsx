// Groups of choices: one of several as cards, any of several as boxes to tick.
import type { ComponentChildren } from 'preact'
import type { Option } from './field.tsx'
import { Icon } from './icon.tsx'

type GroupProps = {
  /** Makes the id unique on the page. */
  scope: string
  name: string
  label: string
  hint?: ComponentChildren
  options: readonly Option[]
  /** In place of the options where there are none. */
  empty?: ComponentChildren
}
const slug = (text: string) => text.replace(/[^A-Za-z0-9]+/g, '-')

type RadiosProps = GroupProps & {
  value: string | undefined
  /** A heading above says the label already. */
  quiet?: boolean
  /** The chosen value is sent as a number. */
  as?: 'number'
}
/** One of several, each a card; what cannot be chosen says why. */
export function Radios(f: RadiosProps) {
  const id = slug(`${f.scope}-${f.name}`)
  return (
    <fieldset class="f" id={id} aria-describedby={f.hint ? `${id}-h` : undefined}>
      <legend class={f.quiet ? 'sr' : undefined}>{f.label}</legend>
      {f.hint && (
        <span class="hint" id={`${id}-h`}>
          {f.hint}
        </span>
      )}
      <div class="picks">
        {f.options.map((o) => (
          // By value, not by place: in a list that is redrawn, what is chosen must stay with what it was chosen for.
          <Pick
            id={`${id}-${slug(o.value)}`}
            name={f.name}
            as={f.as}
            checked={o.value === f.value && !o.why}
            option={o}
          />
        ))}
      </div>
      {!f.options.length && f.empty}
    </fieldset>
  )
}

type PickProps = { id: string; name: string; as: 'number' | undefined; checked: boolean; option: Option }
const Pick = ({ id, name, as, checked, option: { value, label, icon, hint, why } }: PickProps) => (
  <div class="pick">
    <input
      type="radio"
      id={id}
      name={name}
      value={value}
      checked={checked}
      data-as={as}
      disabled={!!why}
      aria-describedby={hint || why ? `${id}-h` : undefined}
    />
    <label for={id}>
      {icon && <Icon name={icon} />} {label}
    </label>
    {(hint || why) && (
      <span class="hint" id={`${id}-h`}>
        {hint}
        {hint && why && ' · '}
        {why && <strong>{why}</strong>}
      </span>
    )}
  </div>
)

type ChecksProps = Omit<GroupProps, 'options'> & {
  /** `group`: the title under which it stands with others; those without one come first. */
  options: readonly (GroupProps['options'][number] & { group?: string })[]
  values: readonly string[]
}
/** Any of several, sent as a list. */
export function Checks(f: ChecksProps) {
  const id = slug(`${f.scope}-${f.name}`)
  const groups = Map.groupBy(f.options.entries(), ([, { group = '' }]) => group)
  return (
    <fieldset class="f" id={id} data-list={f.name} aria-describedby={f.hint ? `${id}-h` : undefined}>
      <legend>{f.label}</legend>
      {f.hint && (
        <span class="hint" id={`${id}-h`}>
          {f.hint}
        </span>
      )}
      {[...groups].map(([group, options]) => {
        const ticks = (
          <div class="ticks">
            {options.map(([i, o]) => (
              <div class="tick">
                <input
                  type="checkbox"
                  id={`${id}-${i}`}
                  name={f.name}
                  value={o.value}
                  data-as="list"
                  checked={f.values.includes(o.value)}
                />
                <label for={`${id}-${i}`}>{o.label}</label>
                {o.hint && <span class="hint">{o.hint}</span>}
              </div>
            ))}
          </div>
        )
        return group ? (
          <fieldset class="f">
            <legend>{group}</legend>
            {ticks}
          </fieldset>
        ) : (
          ticks
        )
      })}
      {!f.options.length && f.empty}
    </fieldset>
  )
}
