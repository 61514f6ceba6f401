// A body's schema as rows for people: what the gate checks, said in words.
import type { TSchema } from 'typebox'

/** The part of JSON Schema that declarations use. */
type Schema = {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: readonly string[]
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  format?: string
  title?: string
  writeOnly?: boolean
}
export type FieldRow = { name: string; type: string; required: boolean; rule: string }

/** Fields of fields are `outer.inner`. */
export function fieldRows(schema: TSchema | undefined, prefix = '', needed = true): FieldRow[] {
  const { properties = {}, required = [] } = (schema ?? {}) as Schema
  return Object.entries(properties).flatMap(([short, inner]) => {
    const name = prefix + short
    const must = needed && required.includes(short)
    const parts = inner.anyOf ?? [inner]
    const row = { name, type: typeOf(inner), required: must, rule: ruleOf(inner) }
    return [
      row,
      ...parts.flatMap((part) =>
        fieldRows((part.items ?? part) as TSchema, part.items ? `${name}[].` : `${name}.`, must),
      ),
    ]
  })
}

function typeOf(s: Schema): string {
  if (s.anyOf) return [...new Set(s.anyOf.map(typeOf))].join(' or ')
  if (s.enum || s.const !== undefined) return typeof (s.enum?.[0] ?? s.const)
  if (s.type === 'array') return `list of ${s.items ? typeOf(s.items) : 'anything'}`
  return s.type ?? 'anything'
}

const between = (least: number | undefined, most: number | undefined, what: string): string | undefined => {
  const [from, to] = [least?.toLocaleString('en'), most?.toLocaleString('en')]
  if (from === undefined && to === undefined) return undefined
  const range =
    to === undefined ? `${from} or more` : from === undefined || from === '0' ? `at most ${to}` : `${from} to ${to}`
  return what ? `${range} ${what}` : range
}

function ruleOf(s: Schema): string {
  const own = [
    s.enum && `one of ${s.enum.join(', ')}`,
    s.const !== undefined && `always ${s.const}`,
    s.title,
    s.format === 'date-time' ? 'ISO 8601, e.g. 2027-01-31T12:00:00.000Z' : s.format,
    between(s.minLength, s.maxLength, 'characters'),
    between(s.minimum, s.maximum, ''),
    between(s.minItems, s.maxItems, 'entries'),
    s.writeOnly && 'never returned or logged',
    ...(s.anyOf ?? []).map(ruleOf),
    s.items && ruleOf(s.items) && `each: ${ruleOf(s.items)}`,
  ]
  return [...new Set(own.filter(Boolean))].join('; ')
}
