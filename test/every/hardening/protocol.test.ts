// Every number, text and list of the agents' protocol has bounds, so that no value of a node reaches what the database,
// a page or the memory cannot take. A field that is added without them fails here.
import { describe, expect, test } from 'bun:test'
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { fitted } from '../../../agent/protocol/bounds.ts'
import * as wire from '../../../agent/protocol/wire.ts'
import { fits } from '../../../src/kernel/api/validate.ts'

type Shape = {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Shape[]
  /** Of a tuple: the schema of each place. */
  items?: Shape | Shape[]
  additionalItems?: unknown
  properties?: Record<string, Shape>
  patternProperties?: Record<string, Shape>
  additionalProperties?: unknown
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  maxProperties?: number
  pattern?: string
}
type Place = { path: string; schema: Shape }

/** Every schema inside this one, with its path. */
function* placesIn(schema: Shape, path: string): Generator<Place> {
  yield { path, schema }
  for (const one of schema.anyOf ?? []) yield* placesIn(one, `${path}${nameOf(one)}`)
  for (const [name, field] of Object.entries(schema.properties ?? {})) yield* placesIn(field, `${path}.${name}`)
  for (const [name, field] of Object.entries(schema.patternProperties ?? {})) {
    yield { path: `${path}{key}`, schema: { type: 'string', pattern: name } }
    yield* placesIn(field, `${path}{value}`)
  }
  if (Array.isArray(schema.items)) {
    for (const [i, item] of schema.items.entries()) yield* placesIn(item, `${path}[${i}]`)
  } else if (schema.items) yield* placesIn(schema.items, `${path}[]`)
}
const nameOf = ({ properties }: Shape) => (properties?.['type']?.const ? `(${properties['type'].const})` : '')
const placesOf = (schemas: Record<string, TSchema>) =>
  Object.entries(schemas).flatMap(([name, schema]) => [...placesIn(schema as Shape, name)])

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null && '~kind' in value
const inputs = Object.entries(wire.commands).map(([name, { input }]) => [`${name} input`, input] as const)
const outputs = Object.entries(wire.commands).map(([name, { output }]) => [`${name} output`, output] as const)
const all = placesOf({
  ...Object.fromEntries(
    Object.entries<unknown>(wire).filter((entry): entry is [string, TSchema] => isSchema(entry[1])),
  ),
  ...Object.fromEntries([...inputs, ...outputs]),
})
/** The schemas of everything that comes from a node, or from a caller before authentication. */
const fromNodes = placesOf({
  FromAgent: wire.FromAgent,
  EnrollRequest: wire.EnrollRequest,
  ChallengeRequest: wire.ChallengeRequest,
  ...Object.fromEntries(outputs),
})

/** The most characters that a pattern lets through: infinite with `*`, `+` or `{n,}` outside of a class. */
const isBoundedPattern = (pattern: string) =>
  pattern.startsWith('^') && pattern.endsWith('$') && !/[*+]|\{\d+,\}/.test(pattern.replace(/\[[^\]]*\]/g, 'c'))

const describedPlaces = (places: Place[], wrong: (schema: Shape) => boolean) =>
  places.filter(({ schema }) => wrong(schema)).map(({ path }) => path)

describe('S52: the protocol', () => {
  test('is looked at whole', () => {
    expect(all.length).toBeGreaterThan(150)
    for (const path of ['FromAgent(log).at', 'FromAgent(heartbeat).workloads[].rxBytes', 'Facts.versions{value}'])
      expect(all.map((place) => place.path)).toContain(path)
  })
  test('has no number without bounds, and none beyond the safe integers', () => {
    const isWrong = ({ type, minimum, maximum }: Shape) =>
      (type === 'integer' || type === 'number') &&
      !(Number.isFinite(minimum) && Number.isFinite(maximum) && Math.abs(maximum!) <= Number.MAX_SAFE_INTEGER)
    expect(describedPlaces(all, isWrong)).toEqual([])
    expect(isWrong({ type: 'integer', minimum: 0 })).toBe(true)
    expect(isWrong({ type: 'number', minimum: 0, maximum: 1e16 })).toBe(true)
  })
  test('has no text without a length', () => {
    const isWrong = ({ type, enum: words, const: only, maxLength, pattern }: Shape) =>
      type === 'string' && !words && only === undefined && maxLength === undefined && !isBoundedPattern(pattern ?? '')
    expect(describedPlaces(all, isWrong)).toEqual([])
    for (const pattern of ['', '^a*$', '^[a]{2,}$', 'a{1,3}', '^(a|b)+$'])
      expect(isWrong({ type: 'string', pattern })).toBe(true)
  })
  test('has no list and no record without a size', () => {
    const isTuple = ({ items, additionalItems }: Shape) => Array.isArray(items) && additionalItems === false
    const isEndless = (schema: Shape) =>
      schema.type === 'array' && !Number.isFinite(schema.maxItems) && !isTuple(schema)
    expect(describedPlaces(all, isEndless)).toEqual([])
    expect(isEndless({ type: 'array', items: [{ type: 'integer' }] })).toBe(true)
    expect(fits(Type.Tuple([Type.Integer()]), [1])).toBe(true)
    expect(fits(Type.Tuple([Type.Integer()]), [1, 2])).toBe(false)
    expect(
      describedPlaces(
        all,
        ({ patternProperties, maxProperties, additionalProperties }) =>
          !!patternProperties && !(Number.isFinite(maxProperties) && additionalProperties === false),
      ),
    ).toEqual([])
  })
  test('has values of any form only where another schema decides, or the controller speaks', () => {
    const isAny = ({ type, anyOf, const: only, enum: words }: Shape) => !type && !anyOf && !words && only === undefined
    // An output and an input are checked by the command's own schemas; the seed is the controller's.
    expect(describedPlaces(all, isAny)).toEqual([
      'ConfigDrive.metaData{value}',
      'ConfigDrive.networkData{value}',
      'FromAgent(done).output',
      'Seed.metaData{value}',
      'Seed.userData{value}',
      'Seed.networkConfig{value}',
      'ToAgent(command).input',
      'seed.write input.metaData{value}',
      'seed.write input.networkData{value}',
      'seed.write input.metaData{value}',
      'seed.write input.userData{value}',
      'seed.write input.networkConfig{value}',
    ])
  })
})

const unreadable = [
  '\0',
  '\x1b[31m',
  '\x7f',
  '\x9b',
  '\u200b',
  '\u200e',
  '\u2028',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\ud800',
]

describe('S52: a text that a node sends', () => {
  const texts = fromNodes.filter(
    ({ schema: { type, enum: words, const: only } }) => type === 'string' && !words && !only,
  )
  test('is refused with characters that nobody can read, but for those that the controller escapes', () => {
    const passes = ({ maxLength, pattern }: Shape, text: string) =>
      pattern ? new RegExp(pattern, 'u').test(text) : (maxLength ?? 0) >= text.length
    const raw = texts.filter(({ schema }) =>
      unreadable.some((bad) => [bad, `a${bad}`, `${bad}a`].some((text) => passes(schema, text))),
    )
    expect(raw.map(({ path }) => path)).toEqual([
      'FromAgent(log).text',
      'FromAgent(failed).error.message',
      'guest.look output.script.output',
      'container.logs output.text',
      'source-host.save output.definition',
      'source-removal.look output.bridges[].commands',
      'source-removal.look output.commands',
    ])
  })
  test('of every kind is looked at', () => expect(texts.length).toBeGreaterThan(30))
})

test('a report of a host with odd values is made to fit, and is the same where it fits', () => {
  const facts = {
    hostname: 'a\u202eb\0',
    agentVersion: '1',
    fake: false,
    os: 'x'.repeat(300),
    kernel: `${'k'.repeat(199)}🚢`,
    bootedAt: -1,
    cpu: { model: 'm', threads: 0 },
    memoryMb: Number.NaN,
    virtualisation: { kind: 'kvm' as const, reason: 'fine\n' },
    versions: { qemu: '9\x1b' },
    bridges: Array.from({ length: 300 }, () => ({ name: 'br0', addresses: ['203.0.113.1/24'] })),
    addresses: [],
  }
  expect(fits(wire.Facts, facts)).toBe(false)
  const made = fitted(wire.Facts, facts)
  expect([...Value.Errors(wire.Facts, made)]).toEqual([])
  expect(made).toMatchObject({ hostname: 'a?b?', bootedAt: 0, cpu: { model: 'm', threads: 1 }, memoryMb: 0 })
  expect(fitted(wire.Facts, made)).toEqual(made)
  const beat = {
    type: 'heartbeat' as const,
    at: 1e300,
    cpuPercent: 100.4,
    load1: -0.1,
    memoryFreeMb: 1,
    pools: [],
    workloads: [{ id: `srv_${'0'.repeat(26)}`, power: 'running' as const, cpuMs: 2 ** 60, rxBytes: 0, txBytes: 0 }],
  }
  expect(fits(wire.Heartbeat, beat)).toBe(false)
  expect(fits(wire.Heartbeat, fitted(wire.Heartbeat, beat))).toBe(true)
})
