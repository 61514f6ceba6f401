// A form of the fields of a list (src/kernel/fields/field-list.ts), in their order, and in groups where it has some:
// forms.css draws those.
import type { ComponentChildren } from 'preact'
import type { FieldList, ListedField } from '../../../src/kernel/fields/field-list.ts'
import { Check, Field, Select } from '../field.tsx'

type Props<L extends FieldList> = {
  list: L
  scope: string
  /** The record that is edited; without it, a new one is made. */
  of?: Readonly<Record<string, any>> | undefined
  /** First values of fields in a form for a new record, in place of the list's. */
  initial?: { [K in keyof L]?: string | number }
  /** A field that the page draws itself, in the place of the list's. */
  instead?: { [K in keyof L]?: ComponentChildren }
  /** Drawn in front of a field. */
  before?: { [K in keyof L]?: ComponentChildren }
}

export function ListedFields<L extends FieldList>({ list, scope, of, initial, instead, before }: Props<L>) {
  const rows: string[][] = []
  const groups: { title: string; names: string[] }[] = []
  for (const [name, { form }] of Object.entries(list)) {
    if (form.group) groups.push({ title: form.group, names: [] })
    groups.at(-1)?.names.push(name)
    if (form.isBeside) rows.at(-1)!.push(name)
    else rows.push([name])
  }
  const drawn = (name: string) =>
    instead?.[name] || <OneField scope={scope} name={name} field={list[name]!} of={of} begins={initial?.[name]} />
  if (groups.length)
    return (
      <>
        {groups.map(({ title, names }) => (
          <fieldset class="group" aria-label={title}>
            <h2>{title}</h2>
            <div class="fields">{names.map(drawn)}</div>
          </fieldset>
        ))}
      </>
    )
  return (
    <>
      {rows.map((row) => (
        <>
          {before?.[row[0]!]}
          {row.length > 1 ? <div class="pair">{row.map(drawn)}</div> : drawn(row[0]!)}
        </>
      ))}
    </>
  )
}

type OneFieldProps = {
  scope: string
  name: string
  field: ListedField
  of: Props<FieldList>['of']
  begins: string | number | undefined
}
function OneField({ scope, name, field: { control, words = {}, form, usual }, of, begins }: OneFieldProps) {
  const { isBeside: _, group: __, initial = usual as string | number | undefined, ...shown } = form
  const isNullable = usual === null
  const value = of ? of[name] : (begins ?? initial)
  if (control === 'check') return <Check scope={scope} name={name} {...shown} checked={!!value} />
  if (control === 'choice') {
    const options = Object.entries(words).map(([of, label]) => ({ value: of, label }))
    return <Select scope={scope} name={name} {...shown} value={value} options={options} nullable={isNullable} />
  }
  const kind = { ...(control === 'number' && { as: 'number' as const }), ...(isNullable && { nullable: true }) }
  return <Field scope={scope} name={name} {...shown} {...kind} required={!isNullable} value={value} />
}
