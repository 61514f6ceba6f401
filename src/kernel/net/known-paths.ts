// Which methods each path of a router has, for the refusal of all others. A route for each other method of each path
// would be nine of ten routes, and to make them a sixth of the start of the program.

type Branch<Method> = {
  words: Map<string, Branch<Method>>
  /** Where the path has a parameter. */
  parameter?: Branch<Method>
  methods: Method[]
}
const branch = <Method>(): Branch<Method> => ({ words: new Map(), methods: [] })

/** The methods of paths, found as the router finds a route. */
export class KnownPaths<Method extends string> {
  private readonly root = branch<Method>()
  private readonly ends = new Map<string, Branch<Method>>()

  /** A path as routers write it: `/servers/:id`. */
  add(method: Method, path: string) {
    let end = this.ends.get(path)
    if (!end) {
      end = this.root
      for (const part of path.split('/'))
        if (part.startsWith(':')) end = end.parameter ??= branch()
        else {
          const next: Branch<Method> = end.words.get(part) ?? branch()
          end.words.set(part, next)
          end = next
        }
      this.ends.set(path, end)
    }
    if (!end.methods.includes(method)) end.methods.push(method)
  }

  /** The methods of the path that the router takes, in which a word comes before a parameter; undefined: of none. */
  methodsAt(path: string): readonly Method[] | undefined {
    return this.fitting(path.split('/')).next().value?.methods
  }

  /** Every path as it was added, with its methods. */
  all = (): [path: string, methods: readonly Method[]][] => [...this.ends].map(([path, { methods }]) => [path, methods])

  /** Methods of other paths that have a parameter where this one has a word: the router would take those. */
  shadowing = (path: string): Method[] => [...this.fitting(path.split('/'))].flatMap(({ methods }) => methods)

  private *fitting(parts: readonly string[], at = 0, from = this.root): Generator<Branch<Method>> {
    if (at === parts.length) {
      if (from.methods.length) yield from
      return
    }
    const part = parts[at]!
    const word = part.startsWith(':') ? undefined : from.words.get(part)
    if (word) yield* this.fitting(parts, at + 1, word)
    if (from.parameter && part !== '') yield* this.fitting(parts, at + 1, from.parameter)
  }
}
