// Validation by schema, with messages for people. Values are never echoed: they may be passwords.
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { LINE, withoutMarks } from '../../../agent/protocol/text.ts'
import { type FieldError, invalid } from './errors.ts'

/** A schema owns its compiled validator: compiled at its first use, gone with it. */
const VALIDATOR = Symbol('validator')
function validator(schema: TSchema & { [VALIDATOR]?: Validator }): Validator {
  const compiled = schema[VALIDATOR]
  if (compiled) return compiled
  const made = Compile(schema) as unknown as Validator
  Object.defineProperty(schema, VALIDATOR, { value: made })
  return made
}

/** True when `value` has the shape. */
export const fits = (schema: TSchema, value: unknown) => validator(schema).Check(value)

/** Throws `validation_failed`, naming each wrong field once. */
export function check(schema: TSchema, value: unknown) {
  const given = value === undefined ? {} : value
  if (!fits(schema, given)) throw invalid(...wrongFields(schema, given))
}

/** A body with more wrong fields is something else altogether. The library's own limit is eight. */
const MOST_NAMED = 50
Settings.Set({ maxErrors: 2 * MOST_NAMED })

function wrongFields(schema: TSchema, value: unknown): FieldError[] {
  const found = new Map<string, string>()
  for (const e of validator(schema).Errors(value))
    for (const { field, message } of explain(e as unknown as SchemaError, schema))
      if (!found.has(field) && found.size < MOST_NAMED) found.set(field, message)
  return [...found].map(([field, message]): FieldError => ({ field, message }))
}

/** The mistake in a single value, in words. */
export const wrongWith = (schema: TSchema, value: unknown): string =>
  wrongFields(schema, value)[0]?.message ?? 'is not right.'

/** A message lists this many values at most; the reference lists all. */
const MOST_TOLD = 20

type SchemaError = {
  keyword: string
  instancePath: string
  schemaPath: string
  params: Record<string, any>
  message: string
}

function explain({ keyword, instancePath, schemaPath, params, message }: SchemaError, schema: TSchema): FieldError[] {
  const at = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 100)
  const under = (name: string) => (at ? `${at}.${name}` : name).slice(0, 100)
  switch (keyword) {
    case 'required':
      return (params.requiredProperties as string[]).map((name) => ({ field: under(name), message: 'is required.' }))
    case 'additionalProperties':
      return (params.additionalProperties as string[]).map((name) => ({
        field: under(name),
        message: 'is not a field of this call.',
      }))
    case 'boolean': // the `false` schema that stands for a field which is not listed
      return [{ field: at, message: 'is not a field of this call.' }]
    case 'minLength':
      return [
        {
          field: at,
          message: params.limit === 1 ? 'must not be empty.' : `must have at least ${params.limit} characters.`,
        },
      ]
    case 'maxLength':
      return [{ field: at, message: `must have at most ${params.limit} characters.` }]
    case 'minimum':
      return [{ field: at, message: `must be ${params.limit} or more.` }]
    case 'maximum':
      return [{ field: at, message: `must be ${params.limit} or less.` }]
    case 'enum':
      return [{ field: at, message: oneOf(params.allowedValues as unknown[]) }]
    case 'type':
      return [{ field: at || 'body', message: `must be ${article(String(params.type))}.` }]
    case 'pattern':
      return [{ field: at, message: `must be ${titleAt(schema, schemaPath) ?? 'in the right format'}.` }]
    case 'anyOf':
      return [{ field: at, message: 'has the wrong format.' }]
    case 'format':
      return [{ field: at, message: `must be ${article(String(params.format))}.` }]
    default:
      return [{ field: at || 'body', message: message.endsWith('.') ? message : message + '.' }]
  }
}

const oneOf = (values: unknown[]) =>
  values.length > MOST_TOLD
    ? 'must be one of the values that the reference lists.'
    : `must be one of ${values.join(', ')}.`
const article = (word: string) => (/^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`)

/** The `title` of a pattern describes it in words. */
function titleAt(schema: TSchema, schemaPath: string): string | undefined {
  let at: any = schema
  for (const part of schemaPath.replace(/^#?\/?/, '').split('/')) at = at?.[part]
  return at?.title
}

type Shape = { title?: string; anyOf?: TSchema[]; properties?: Record<string, TSchema>; items?: TSchema }

/** The title of the schema that `reasonText` makes. */
export const REASON = 'a reason in words'
/** The title of the schema that `line` makes. */
export const SEEN_LINE = 'one line of visible text'

/** Has the schema no text that is composed? A list of thousands without one is not made anew. */
const PLAIN = Symbol('plain')
function isPlain(schema: TSchema & { [PLAIN]?: boolean }): boolean {
  const known = schema[PLAIN]
  if (known !== undefined) return known
  const { title, anyOf = [], properties = {}, items } = schema as Shape
  const below = [...anyOf, ...Object.values(properties), ...(items ? [items] : [])]
  const plain = title !== REASON && title !== LINE && title !== SEEN_LINE && below.every(isPlain)
  Object.defineProperty(schema, PLAIN, { value: plain })
  return plain
}

/**
 * The value with its lines of text in Unicode's composed form, without invisible marks at their ends: names that look
 * the same are equal. Passwords and keys stay.
 */
export function composed(schema: TSchema | undefined, value: unknown): unknown {
  if (!schema || isPlain(schema)) return value
  const { title, anyOf, properties, items } = schema as Shape
  if (typeof value === 'string')
    return title === REASON
      ? withoutMarks(value.normalize('NFC')).trim()
      : title === LINE || title === SEEN_LINE
        ? withoutMarks(value.normalize('NFC'))
        : anyOf
          ? anyOf.reduce<unknown>((text, one) => composed(one, text), value)
          : value
  if (Array.isArray(value)) return items ? value.map((each) => composed(items, each)) : value
  if (!properties || typeof value !== 'object' || value === null) return value
  const own = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, composed(own(name), each)]))
}
