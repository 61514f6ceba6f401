// The reads that a panel's client can send, as a list of values. A path, an act or a parameter that is not in the list
// cannot be sent: the types refuse it, and so does the check at run time. Some panels act upon GET requests, so the
// method alone is no protection.

import { ID } from '../values/scalars.ts'

/** One read. `{id}` in its path stands for an id. */
export type AllowedRead = {
  path: string
  /** Parameters that every such request has. */
  always?: Readonly<Record<string, string>>
  /** Parameters that a request may have, with all the values that each may have. */
  parameters: Readonly<Record<string, RegExp>>
  /** The answer must have one of these fields. */
  keys: readonly string[]
  /** The things that are read, for people: "servers". */
  things: string
}
export type AllowedReads = Readonly<Record<string, AllowedRead>>

export type ParameterOf<Read extends AllowedRead> = keyof Read['parameters'] & string
type WithId<Read extends AllowedRead> = Read['path'] extends `${string}{id}${string}` ? { id: string } : { id?: never }
export type Given<Read extends AllowedRead> = WithId<Read> & {
  parameters?: { readonly [name in ParameterOf<Read>]?: string | number }
}

/** A request that is not in the list was about to be sent. That is a fault of this program, never of the panel. */
export class ReadNotAllowed extends Error {}

export const PAGE = /^[1-9]\d{0,5}$/
export const SIZE = /^[1-9]\d{0,3}$/

/** The path and the parameters of an allowed read. Throws `ReadNotAllowed`. */
export function allowed<Reads extends AllowedReads>(
  reads: Reads,
  name: keyof Reads & string,
  given: { id?: string; parameters?: Readonly<Record<string, string | number | undefined>> },
): { path: string; query: URLSearchParams } {
  const read = Object.hasOwn(reads, name) ? reads[name] : undefined
  if (!read) throw new ReadNotAllowed('this read is not in the list')
  const hasId = read.path.includes('{id}')
  if (hasId !== (given.id !== undefined)) throw new ReadNotAllowed(`${name} needs ${hasId ? 'an' : 'no'} id`)
  if (given.id !== undefined && !ID.test(given.id)) throw new ReadNotAllowed(`${name}: this is no id`)
  const query = new URLSearchParams(read.always)
  for (const [parameter, value] of Object.entries(given.parameters ?? {})) {
    if (value === undefined) continue
    const pattern = Object.hasOwn(read.parameters, parameter) ? read.parameters[parameter] : undefined
    if (!pattern) throw new ReadNotAllowed(`${name} has no parameter of this name`)
    if (!pattern.test(String(value))) throw new ReadNotAllowed(`${name}: ${parameter} cannot have this value`)
    query.set(parameter, String(value))
  }
  return { path: read.path.replace('{id}', given.id ?? ''), query }
}
