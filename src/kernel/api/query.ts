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
/**
 * A moment or a day, in UTC unless it has an offset. A `+` that was sent as it is arrives as a space.
 */
export const moment = (description: string) =>
  t.String({
    pattern:
      '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])' +
      '(T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?(Z|[+ -]([01]\\d|2[0-3]):?[0-5]\\d)?)?$',
    title: 'a time like 2026-11-21, 2026-11-21T14:03:22Z or 2026-11-21T16:03:22+02:00',
    description,
  })

/**
 * A `moment` in ms; a day is meant at its `ofDay`, in UTC. Throws `invalid_request` for a day that no calendar has.
 */
export function momentFrom(name: string, text: string, ofDay = 'T00:00'): number {
  const [, day, time = ofDay, offset = 'Z'] = /^(.{10})(T[\d:.]+)?(.*)$/.exec(text)!
  const zone = offset.replace(/^ /, '+').replace(/(\d\d)(\d\d)$/, '$1:$2') || 'Z'
  const midnight = Date.parse(`${day}T00:00Z`)
  const at = Date.parse(`${day}${time}${zone}`)
  if (!(at >= 0) || !(midnight >= 0) || new Date(midnight).toISOString().slice(0, 10) !== day)
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
