// Form fields: a label, a hint, space for what is wrong with it. `as` is how public/panel/calls/calls.js puts it into
// the body.
import type { ComponentChildren } from 'preact'
import { LEAST_CHARACTERS } from '../../src/identity/auth/passwords/hash.ts'
import type { IconName } from './icon.tsx'
import { useLocalMinute, ZoneName } from './time.tsx'

export type Option = {
  value: string
  label: string
  /** Of a card, in front of its label. */
  icon?: IconName | undefined
  hint?: ComponentChildren
  why?: string | undefined
}

type Named = {
  /** Makes the id unique on the page. */
  scope: string
  name: string
  label: string
  hint?: ComponentChildren
}
export type FieldProps = Named & {
  value?: string | number | null | undefined
  required?: boolean | undefined
  /**
   * `number`: sent as one. `moment`: an instant, from a local time in the reader's zone (`MomentField`). `words`: a
   * list, split at spaces and commas; `numbers`: a list of numbers.
   */
  as?: 'number' | 'words' | 'numbers' | 'null' | 'moment'
  /** Sent as null when empty. */
  nullable?: boolean
  type?: string
  autocomplete?: string
  /** Which keys a phone shows. */
  inputmode?: string
  min?: number
  max?: number
  unit?: string
  placeholder?: string
  mono?: boolean
  focus?: boolean | undefined
  /** The instant that `value` is in the reader's zone. */
  iso?: string | undefined
  /** In a form that is drawn again by its choices: what is typed is one of them. */
  asks?: boolean
}

const slug = (text: string) => text.replace(/[^A-Za-z0-9]+/g, '-')
const idOf = ({ scope, name }: Named) => slug(`${scope}-${name}`)
const describedBy = (id: string, hint: ComponentChildren) => (hint ? `${id}-h` : undefined)

const Hint = ({ id, children }: { id: string; children?: ComponentChildren }) =>
  children ? (
    <span class="hint" id={`${id}-h`}>
      {children}
    </span>
  ) : null

const Label = ({ id, required, children }: { id: string; required?: boolean | undefined; children: string }) => (
  <label for={id}>
    {children}
    {!required && <span class="opt"> optional</span>}
  </label>
)

const sentAs = ({ as, nullable }: FieldProps) =>
  nullable ? (as === 'number' || as === 'numbers' || as === 'moment' ? `${as}-null` : 'null') : as

/** One line. */
export function Field(f: FieldProps) {
  const id = idOf(f)
  return (
    <div class="f">
      <Label id={id} required={f.required}>
        {f.label}
      </Label>
      <Hint id={id}>{f.hint}</Hint>
      <span class="in-unit">
        <input
          id={id}
          name={f.name}
          type={f.type ?? 'text'}
          value={f.value ?? ''}
          aria-describedby={describedBy(id, f.hint)}
          required={f.required}
          data-as={sentAs(f)}
          data-iso={f.iso}
          data-ask={f.asks ? f.name : undefined}
          autocomplete={f.autocomplete ?? 'off'}
          inputmode={(f.inputmode ?? (f.as === 'number' ? 'numeric' : undefined)) as never}
          min={f.min}
          max={f.max}
          placeholder={f.placeholder}
          {...(f.mono && { class: 'mono', spellcheck: false, autocapitalize: 'off' })}
          autofocus={f.focus}
        />
        {f.unit && <span class="unit">{f.unit}</span>}
      </span>
    </div>
  )
}

type MomentProps = Named & { iso?: string | null | undefined; nullable?: boolean }
/** A day and a time in the zone of all times of the page, which its hint names. `iso`: the instant that it has now. */
export const MomentField = ({ iso, hint, ...named }: MomentProps) => (
  <Field
    {...named}
    as="moment"
    type="datetime-local"
    iso={iso ?? undefined}
    value={useLocalMinute(iso)}
    hint={
      <>
        Time zone: <ZoneName />.{hint && <> {hint}</>}
      </>
    }
  />
)

/** A password that is being chosen. */
export const NewPassword = (props: { scope: string; label?: string; focus?: boolean }) => (
  <Field
    label="Password"
    {...props}
    name="password"
    type="password"
    autocomplete="new-password"
    required
    hint={`At least ${LEAST_CHARACTERS} characters. Three or four random words work well.`}
  />
)

/** For password managers: the account that a password is for. Not shown and not sent. */
export const Username = ({ email = '' }: { email?: string }) => (
  <input type="email" autocomplete="username" value={email} readonly hidden />
)

type TextAreaProps = Pick<FieldProps, keyof Named | 'required' | 'mono'> & {
  value?: string | number | null | undefined
  rows?: number
  /** Sent as a list, one line each; none is null with `lines-null`. */
  as?: 'lines' | 'lines-null'
  /** Of the SSH key in it, shown while it is typed where browsers compute it (HTTPS). */
  fingerprint?: boolean
}
/** Several lines. */
export function TextArea(f: TextAreaProps) {
  const id = idOf(f)
  return (
    <div class="f">
      <Label id={id} required={f.required}>
        {f.label}
      </Label>
      <Hint id={id}>{f.hint}</Hint>
      <textarea
        id={id}
        name={f.name}
        rows={f.rows ?? 4}
        aria-describedby={describedBy(id, f.hint)}
        required={f.required}
        {...(f.mono && { class: 'mono', spellcheck: false })}
        data-as={f.as}
        data-fingerprint={f.fingerprint ? '' : undefined}
      >
        {f.value ?? ''}
      </textarea>
      {f.fingerprint && <output class="hint mono" for={id} />}
    </div>
  )
}

type SelectProps = Named & {
  value?: string | number | null | undefined
  nullable?: boolean
  options: readonly Option[]
}
/** One of a list. */
export function Select(f: SelectProps) {
  const id = idOf(f)
  return (
    <div class="f">
      <label for={id}>{f.label}</label>
      <Hint id={id}>{f.hint}</Hint>
      <select
        id={id}
        name={f.name}
        aria-describedby={describedBy(id, f.hint)}
        data-as={f.nullable ? 'null' : undefined}
      >
        {f.options.map((o) => (
          <option value={o.value} selected={o.value === f.value} disabled={!!o.why}>
            {o.label}
            {o.why && ` (${o.why})`}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Yes or no. */
export function Check(f: Named & { checked?: boolean | undefined }) {
  const id = idOf(f)
  return (
    <div class="f tick">
      <input
        type="checkbox"
        id={id}
        name={f.name}
        data-as="boolean"
        aria-describedby={describedBy(id, f.hint)}
        checked={f.checked}
      />
      <label for={id}>{f.label}</label>
      <Hint id={id}>{f.hint}</Hint>
    </div>
  )
}
