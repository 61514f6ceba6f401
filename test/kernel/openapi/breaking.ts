// Compares two OpenAPI documents by shape, not by words.
import { follow } from './shape.ts'

type Json = any

/** Answers each change that breaks a client, in words; none: every client of `before` works with `after`. */
export function breakingChanges(before: Json, after: Json): string[] {
  const found: string[] = []
  for (const [path, item] of Object.entries<Json>(before.paths))
    for (const [method, was] of Object.entries<Json>(item)) {
      const words = `${method.toUpperCase()} ${path}`
      const is = after.paths[path]?.[method]
      if (!is) found.push(`${words} is gone`)
      else new Comparison(before, after, words, found).operation(was, is)
    }
  return found
}

class Comparison {
  /** Pairs of named schemas that are compared already: a schema may contain itself. */
  private compared = new Set<string>()
  constructor(
    private before: Json,
    private after: Json,
    private operationName: string,
    private found: string[],
  ) {}

  operation(was: Json, is: Json) {
    if (was.operationId !== is.operationId) this.report(`is called ${is.operationId} and no longer ${was.operationId}`)
    for (const way of was.security)
      if (!is.security.some((one: Json) => Bun.deepEquals(Object.keys(one).toSorted(), Object.keys(way).toSorted())))
        this.report(`no longer takes ${Object.keys(way).join(' and ')}`)
    for (const kind of Object.keys(was['x-access'] ?? {}))
      if (is['x-access'] && !is['x-access'][kind]) this.report(`is no longer for ${kind}`)
    this.parameters(this.list(this.before, was.parameters), this.list(this.after, is.parameters))
    this.body(follow(this.before, was.requestBody), follow(this.after, is.requestBody))
    for (const [status, response] of Object.entries<Json>(was.responses)) {
      if (Number(status) >= 400) continue
      const [had, has] = [follow(this.before, response), follow(this.after, is.responses[status])]
      if (!has) this.report(`no longer answers ${status}`)
      else this.content(`response ${status}`, had.content, has.content)
    }
  }

  private parameters(had: Json[], has: Json[]) {
    const key = (one: Json) => `${one.in} parameter ${one.name}`
    for (const one of had) {
      const now = has.find((other) => key(other) === key(one))
      if (!now) this.report(`${key(one)} is gone`)
      else {
        if (now.required && !one.required) this.report(`${key(one)} is now required`)
        this.sent(key(one), one.schema, now.schema)
      }
    }
    for (const one of has)
      if (one.required && !had.some((other) => key(other) === key(one))) this.report(`${key(one)} is new and required`)
  }

  private body(had: Json, has: Json) {
    if (!had && has) this.report('now requires a body')
    else if (had && !has) this.report('no longer takes a body')
    else if (had) this.sent('body', had.content['application/json'].schema, has.content['application/json'].schema)
  }

  private content(at: string, had: Json, has: Json) {
    for (const [type, { schema }] of Object.entries<Json>(had)) {
      if (!has[type]) this.report(`${at} is no longer ${type}`)
      else this.received(at, schema, has[type].schema)
    }
  }

  /** A client's request: a value that was accepted must stay accepted. */
  private sent(at: string, from: Json, to: Json) {
    if (this.isKnown('sent', from, to)) return
    const [had, has] = [follow(this.before, from), follow(this.after, to)]
    if (had.anyOf || has.anyOf) {
      const now = alternatives(has)
      for (const one of alternatives(had)) {
        const match = now.find((other) => this.isLike(one, other))
        if (!match) this.report(`${at} no longer takes ${kindOf(follow(this.before, one))}`)
        else this.sent(at, one, match)
      }
      return
    }
    if (kindOf(had) !== kindOf(has)) return this.report(`${at} is ${kindOf(has)} and no longer ${kindOf(had)}`)
    const values = valuesOf(has)
    if (values) {
      const lost = (valuesOf(had) ?? ['other values']).filter((value: unknown) => !values.includes(value))
      if (lost.length) this.report(`${at} no longer takes ${lost.join(', ')}`)
    }
    for (const [limit, isTighter] of Object.entries(tighter))
      if (has[limit] !== undefined && (had[limit] === undefined || isTighter(had[limit], has[limit])))
        this.report(`${at} has ${limit} ${has[limit]} and no longer ${had[limit] ?? 'any'}`)
    if (has.pattern !== undefined && has.pattern !== had.pattern) this.report(`${at} has another pattern`)
    if (had.items && has.items) this.sent(`${at}[]`, had.items, has.items)
    for (const [name, schema] of Object.entries<Json>(had.properties ?? {})) {
      if (has.properties?.[name]) this.sent(`${at}.${name}`, schema, has.properties[name])
      else if (has.additionalProperties === false) this.report(`${at}.${name} is gone`)
    }
    for (const name of has.required ?? [])
      if (!had.required?.includes(name))
        this.report(`${at}.${name} is ${had.properties?.[name] ? 'now' : 'new and'} required`)
  }

  /**
   * A response to a client: it keeps every field with its type. New fields and new values are no break.
   */
  private received(at: string, from: Json, to: Json) {
    if (this.isKnown('received', from, to)) return
    const [had, has] = [follow(this.before, from), follow(this.after, to)]
    if (had.anyOf || has.anyOf) {
      const before = alternatives(had)
      for (const one of alternatives(has)) {
        const match = before.find((other) => this.isLike(other, one))
        if (!match) this.report(`${at} may now be ${kindOf(follow(this.after, one))}`)
        else this.received(at, match, one)
      }
      return
    }
    if (kindOf(had) !== kindOf(has)) return this.report(`${at} is ${kindOf(has)} and no longer ${kindOf(had)}`)
    if (had.items && has.items) this.received(`${at}[]`, had.items, has.items)
    for (const [name, schema] of Object.entries<Json>(had.properties ?? {})) {
      const now = has.properties?.[name]
      if (!now) this.report(`${at}.${name} is gone`)
      else {
        if (had.required?.includes(name) && !has.required?.includes(name))
          this.report(`${at}.${name} may now be left out`)
        this.received(`${at}.${name}`, schema, now)
      }
    }
  }

  private isLike = (was: Json, is: Json) =>
    kindOf(follow(this.before, was)) === kindOf(follow(this.after, is)) &&
    (was.$ref === undefined || is.$ref === undefined || was.$ref === is.$ref)

  private isKnown(way: string, from: Json, to: Json): boolean {
    if (!from.$ref || !to.$ref) return false
    const key = `${way} ${from.$ref} ${to.$ref}`
    if (this.compared.has(key)) return true
    this.compared.add(key)
    return false
  }

  private list = (document: Json, list: Json[] | undefined) => (list ?? []).map((one) => follow(document, one))
  private report = (words: string) => void this.found.push(`${this.operationName}: ${words}`)
}

const alternatives = (schema: Json): Json[] => schema.anyOf ?? [schema]
const valuesOf = (schema: Json): unknown[] | undefined =>
  schema.enum ?? ('const' in schema ? [schema.const] : undefined)
const kindOf = (schema: Json): string => {
  const [value] = valuesOf(schema) ?? []
  return schema.type ?? (value === null ? 'null' : value === undefined ? 'anything' : typeof value)
}

const tighter: Record<string, (was: number, is: number) => boolean> = {
  minLength: (was, is) => is > was,
  minimum: (was, is) => is > was,
  minItems: (was, is) => is > was,
  maxLength: (was, is) => is < was,
  maximum: (was, is) => is < was,
  maxItems: (was, is) => is < was,
}
