// Query parameters. The gate, OpenAPI and the reference use the same schema.
import { type TSchema, Type as t } from 'typebox'
import type { IdPrefix } from '../db/ids.ts'
import { ApiError } from './errors.ts'
import { fits, wrongWith } from './validate.ts'

/** Text that is not empty: an empty filter is a mistake and does not mean "everything". */
export const text = (description: string, maxLength = 200) => t.String({ minLength: 1, maxLength, description })
export const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  t.Enum([...values], { description })
/** An id with this prefix; it need not exist. */
export const idOf = (prefix: IdPrefix, description: string) =>
  t.String({ pattern: `^${prefix}_[0-9a-z]{26}$`, title: `an id like ${prefix}_…`, description })
export const wholeNumber = (description: string, minimum: number, more: { default?: number; maximum?: number } = {}) =>
  t.Integer({ minimum, description, ...more })
/** A moment, or a day, in UTC. */
export const moment = (description: string) =>
  t.String({
    pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,3})?)?Z?)?$',
    title: 'a time like 2026-11-21 or 2026-11-21T14:03:22Z',
    description,
  })

/** A `moment` in ms; a day begins at midnight in UTC. Throws `invalid_request` for a day that no calendar has. */
export function momentFrom(name: string, text: string): number {
  const at = Date.parse(text.includes('T') ? `${text.replace('Z', '')}Z` : `${text}T00:00Z`)
  if (!(at >= 0) || new Date(at).toISOString().slice(0, 10) !== text.slice(0, 10))
    throw new ApiError('invalid_request', `${name}: there is no such day.`)
  return at
}

/** The mistake in the value of a parameter, in words; undefined when it is valid. */
export function wrongValue(schema: TSchema, value: string): string | undefined {
  const isNumber = (schema as { type?: string }).type === 'integer'
  if (isNumber && !/^[0-9]+$/.test(value)) return 'must be a whole number.'
  const given = isNumber ? Number(value) : value
  if (fits(schema, given)) return undefined
  return value === '' ? 'must not be empty; leave it out to ask for everything.' : wrongWith(schema, given)
}
