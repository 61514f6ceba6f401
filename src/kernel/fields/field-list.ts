// The fields of a record, each said once in a list: its column, what bodies accept, what responses show, and how a form
// asks for it. Tables, schemas and forms (views/components/forms/listed-fields.tsx) are made from the list.
import type { HasDefault, NotNull } from 'drizzle-orm'
import { integer, type SQLiteColumnBuilderBase, text } from 'drizzle-orm/sqlite-core'
import { type Static, type TSchema, Type as t } from 'typebox'
import { described, nullable } from '../api/operation.ts'

/** A kind of value. `column` makes its column by the name in the database. */
type Kind<C, B, R> = {
  control: 'line' | 'number' | 'check' | 'choice'
  column: (name: string) => C
  body: B
  response: R
  /** Of a choice: its values in their order, and the words for each. */
  words?: Readonly<Record<string, string>>
}
type FieldText = {
  /** The label in a form. */
  label: string
  hint?: string
  unit?: string
  placeholder?: string
  /** The type of the input of a line. */
  type?: 'time'
  /** The value in a form for a new record; without it, the default of the field. */
  initial?: string | number
  /** The title of the group of the form in which it stands, and those behind it until the next title. */
  group?: string
  /** It stands in one row of the form with the field before it. */
  isBeside?: boolean
  /** In the reference: of the field in responses, and in bodies. */
  description?: string
  bodyDescription?: string
}
/** `usual`: its value where a body does not name it; undefined: every body has to. */
export type ListedField<
  C = SQLiteColumnBuilderBase,
  B extends TSchema = TSchema,
  R extends TSchema = TSchema,
  U = unknown,
> = Kind<C, B, R> & { usual: U; form: Omit<FieldText, 'description' | 'bodyDescription'> }
export type FieldList = Readonly<Record<string, ListedField>>

// ---------------------------------------------------------------- kinds of values
export const wholeNumber = (minimum: number, maximum: number) => ({
  control: 'number' as const,
  column: (name: string) => integer(name),
  body: t.Integer({ minimum, maximum }),
  response: t.Integer(),
})
export const yesOrNo = {
  control: 'check' as const,
  column: (name: string) => integer(name, { mode: 'boolean' }),
  body: t.Boolean(),
  response: t.Boolean(),
}
/** A text of one line that matches the schema. */
export const textLine = <B extends TSchema>(body: B) => ({
  control: 'line' as const,
  column: (name: string) => text(name),
  body,
  response: t.String(),
})
/** One of the values of the schema. */
export const choice = <B extends TSchema>(body: B, words: Readonly<Record<Static<B> & string, string>>) => ({
  control: 'choice' as const,
  column: (name: string) => text(name).$type<Static<B>>(),
  body,
  response: body,
  words,
})

// ---------------------------------------------------------------- fields
type Builder = SQLiteColumnBuilderBase & { notNull(): any }
function field<C, B extends TSchema, R extends TSchema, U>(
  kind: Kind<C, B, R>,
  usual: U,
  { description, bodyDescription: _, ...form }: FieldText,
): ListedField<C, B, R, U> {
  const response = description ? described(kind.response, description) : kind.response
  return { ...kind, response, usual, form }
}
/** Describing a schema copies it without the mark that it is optional, so it is described first. */
const bodyWith = <B extends TSchema>(body: B, { bodyDescription }: FieldText) =>
  bodyDescription ? described(body, bodyDescription) : body

/** A field that every body has to name. */
export const required = <C extends Builder, B extends TSchema, R extends TSchema>(
  { body, column, ...kind }: Kind<C, B, R>,
  about: FieldText,
) =>
  field(
    { ...kind, column: (name) => column(name).notNull() as NotNull<C>, body: bodyWith(body, about) },
    undefined,
    about,
  )

/** A field that has the value `usual` where a body does not name it. */
export const usually = <C extends Builder, B extends TSchema, R extends TSchema>(
  usual: Static<B>,
  { body, column, ...kind }: Kind<C, B, R>,
  about: FieldText,
) =>
  field(
    {
      ...kind,
      column: (name) => column(name).notNull().default(usual) as HasDefault<NotNull<C>>,
      body: t.Optional(bodyWith(body, about)),
    },
    usual,
    about,
  )

/** A field that is null where a body does not name it. */
export const optional = <C extends Builder, B extends TSchema, R extends TSchema>(
  { body, response, ...kind }: Kind<C, B, R>,
  about: FieldText,
) => field({ ...kind, body: t.Optional(nullable(bodyWith(body, about))), response: nullable(response) }, null, about)

/** The field as the first of a group of the form. */
export const inGroup = <F extends ListedField>(group: string, field: F): F => ({
  ...field,
  form: { ...field.form, group },
})

// ---------------------------------------------------------------- what a list is made into
const each = <L extends FieldList>(list: L, make: (field: ListedField, name: string) => unknown) =>
  Object.fromEntries(Object.entries(list).map(([name, field]) => [name, make(field, name)]))
/** memoryMb is memory_mb in the database. */
const columnName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The columns of its table. */
export const columnsOf = <L extends FieldList>(list: L) =>
  each(list, (field, name) => field.column(columnName(name))) as { [K in keyof L]: ReturnType<L[K]['column']> }
/** The properties of a body that makes a record. */
export const bodyOf = <L extends FieldList>(list: L) =>
  each(list, ({ body }) => body) as { [K in keyof L]: L[K]['body'] }
/** The properties of a body that changes one. */
export const changesOf = <L extends FieldList>(list: L) =>
  each(list, ({ body }) => t.Optional(body)) as { [K in keyof L]: ReturnType<typeof t.Optional<L[K]['body']>> }
/** The properties of a response. */
export const responseOf = <L extends FieldList>(list: L) =>
  each(list, ({ response }) => response) as { [K in keyof L]: L[K]['response'] }
/** The values of a row that the list has. */
export const valuesOf = <L extends FieldList, Row extends Record<keyof L, unknown>>(list: L, row: Row) =>
  each(list, (_, name) => row[name]) as Pick<Row, keyof L & keyof Row>
