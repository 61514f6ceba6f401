// Equal parts of several operations stand once among the components, and the operations refer to them.

type Json = Readonly<Record<string, unknown>>
/** A place in the document that holds a value, or a reference to the component that holds it. */
export type Place<T extends Json> = { value: T; name: string; refer(reference: { $ref: string }): void }

export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

/**
 * Answers the components of `kind`, by name, and puts references where they are used; the first place gives the name. A
 * value with one place stays there. Different values of one name are told apart by a number.
 */
export function shared<T extends Json>(kind: string, places: readonly Place<T>[]): Record<string, T> {
  const components: Record<string, T> = {}
  for (const equal of Map.groupBy(places, ({ value }) => JSON.stringify(value)).values()) {
    const { name, value } = equal[0]!
    if (equal.length === 1) continue
    let unique = name
    for (let n = 2; unique in components; n++) unique = `${name}.${n}`
    components[unique] = value
    for (const { refer } of equal) refer(ref(kind, unique))
  }
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)))
}
