// Names that features declare, as values of a field: a schema says which names it takes, and the registry puts them in.
// So an operation about all features (roles, the audit log) needs no list of its own.
import { Type as t } from 'typebox'
import type { Feature } from './feature.ts'

/** The names, from all that the features declare. */
export type NamesOf = (features: readonly Feature[]) => readonly string[]

/** A text that is one of `also`, or a name that features declare. */
export const declaredName = <T extends string>(
  names: NamesOf,
  { also = [], ...more }: { also?: readonly string[]; description?: string } = {},
) => t.Unsafe<T>({ type: 'string', maxLength: 100, 'x-declared': { names, also }, ...more })

type Marked = { 'x-declared'?: { names: NamesOf; also: readonly string[] } }

/** Returns a function that puts names into schemas. A schema that asks for none is returned as it is. */
export function completing(features: readonly Feature[]) {
  const done = new Map<object, unknown>()
  const complete = (schema: unknown): unknown => {
    if (typeof schema !== 'object' || schema === null) return schema
    const known = done.get(schema)
    if (known !== undefined) return known
    const made = built(schema)
    done.set(schema, made)
    return made
  }
  const built = (schema: object): unknown => {
    if (Array.isArray(schema)) {
      const items = schema.map(complete)
      return items.some((item, i) => item !== schema[i]) ? items : schema
    }
    const { 'x-declared': declared, maxLength: _, ...rest } = schema as Marked & Record<string, unknown>
    if (declared) return { ...rest, enum: [...declared.also, ...declared.names(features)] }
    const entries = Object.entries(schema).map(([name, value]) => [name, complete(value)] as const)
    // typebox marks kinds of schemas by properties that are not enumerable; a schema without names keeps them.
    return entries.some(([name, value]) => value !== (schema as Record<string, unknown>)[name])
      ? Object.create(Object.getPrototypeOf(schema), {
          ...namedProperties(schema),
          ...Object.fromEntries(
            entries.map(([name, value]) => [name, { value, enumerable: true, configurable: true, writable: true }]),
          ),
        })
      : schema
  }
  return complete as <S>(schema: S) => S
}

/** Without symbols: under one a schema keeps its compiled validator, which does not fit a schema with other names. */
const namedProperties = (schema: object): PropertyDescriptorMap =>
  Object.fromEntries(Object.entries(Object.getOwnPropertyDescriptors(schema)))
