// Prefix + UUIDv7 as 26 lower-case base-32 characters: ids sort by the time they were made.
import type { Declared } from '../register.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

type IdKinds = Declared<'ids'>
/** The prefixes that features declare (`ids` in feature.ts); an unknown one does not compile. */
export type IdPrefix = {
  [K in keyof IdKinds]: IdKinds[K] extends { prefix: infer P extends string } ? P : never
}[keyof IdKinds]

/** A kind of id: its prefix, and how examples in the reference name such a thing. */
export type IdDeclaration = {
  prefix: string
  /** A name that stands for any of this kind. */
  sample?: string
  /** Other names of fields that hold such an id: `ownerId` holds the id of an account. */
  also?: readonly string[]
}

/** A new id: `newId('srv')` returns `srv_06eqb…`. */
export function newId(prefix: IdPrefix): string {
  let text = `${prefix}_`
  // 26 characters of five bits hold two more than the 128 there are: they are zeros, in front.
  let held = 0
  let bits = 2
  for (const byte of Bun.randomUUIDv7('buffer')) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; ) {
      bits -= 5
      text += alphabet[(held >> bits) & 31]
    }
    held &= 31
  }
  return text
}

/** Cheap look at the form, so that garbage in a path is "not found" before any query. */
export const looksLikeId = (text: string) => /^[a-z]{2,8}_[0-9a-z]{26}$/.test(text)
