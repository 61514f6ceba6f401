// Examples of responses, made from their schemas: they cannot go stale, because nobody writes them.
import type { TSchema } from 'typebox'
import type { IdDeclaration } from '../db/ids.ts'

/** The part of JSON Schema that declarations use. */
type Schema = {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: object
  format?: string
  minimum?: number
  maxLength?: number
  examples?: readonly unknown[]
}

/** Value of a field in examples, by the name of the field; taken where it is of the field's type. */
export type SampleValue = string | number | boolean | null

const camel = (words: string) => words.replace(/[ -](\w)/g, (_, c: string) => c.toUpperCase())

const takes = (s: Schema, value: string | number | boolean | null): boolean =>
  s.anyOf
    ? s.anyOf.some((one) => takes(one, value))
    : s.enum
      ? s.enum.includes(value)
      : value === null
        ? s.type === 'null'
        : typeof value === 'number'
          ? s.type === 'integer' || s.type === 'number'
          : s.type === typeof value &&
            s.format === undefined &&
            String(value).length <= (s.maxLength ?? Number.POSITIVE_INFINITY)

/** Samples from what features declare: ids by their kinds, values by the names of fields. */
export function sampling(ids: Readonly<Record<string, IdDeclaration>>, values: Readonly<Record<string, SampleValue>>) {
  const kinds = new Map(
    Object.entries(ids).flatMap(([name, kind]) =>
      [name, ...(kind.also ?? [])].map((called) => [called, kind] as const),
    ),
  )
  const kindOf = (of: string) => kinds.get(camel(of)) ?? kinds.get(camel(of).replace(/s$/, ''))
  const idOfKind = ({ prefix }: IdDeclaration) => `${prefix}_06eq7v2k9m4x8d1t5w3rjz0nbh`

  /** The id that stands for any of this kind; undefined where there is no such kind. */
  const sampleId = (of: string): string | undefined => {
    const kind = kindOf(of)
    return kind && idOfKind(kind)
  }

  /** A value of the schema. `of` is the kind of thing it describes; a nested object is called by its field. */
  function sample(schema: TSchema, of: string, field = ''): unknown {
    const s = schema as Schema
    const known = values[field]
    if (known !== undefined && takes(s, known)) return known
    if (s.examples) return s.examples[0]
    if (s.enum) return s.enum[0]
    if (s.const !== undefined) return s.const
    if (s.anyOf) return sample(s.anyOf.find((one) => one.type !== 'null') as TSchema, of, field)
    switch (s.type) {
      case 'object': {
        const about = field === '' || field === 'data' ? of : field
        return Object.fromEntries(
          Object.entries(s.properties ?? {}).map(([name, inner]) => [name, sample(inner as TSchema, about, name)]),
        )
      }
      case 'array':
        return [sample(s.items as TSchema, of, field)]
      case 'string':
        return s.format === 'date-time' ? '2027-01-31T12:00:00.000Z' : textOf(of, field)
      case 'integer':
      case 'number':
        return Math.max(s.minimum ?? 0, 1)
      case 'boolean':
        return true
      default:
        return null
    }
  }

  function textOf(of: string, field: string): string {
    if (field === 'id') return sampleId(of) ?? of
    if (field === 'name') return kindOf(of)?.sample ?? `${of} name`
    const thing = /^(\w+)Ids?$/.exec(field)?.[1] ?? /^(\w+)Name$/.exec(field)?.[1]
    const kind = thing && kindOf(thing)
    return (kind && (field.endsWith('Name') ? kind.sample : idOfKind(kind))) || `${of} ${field}`
  }

  return { sample, sampleId }
}
