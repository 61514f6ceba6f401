// Frames that an agent might send, right and broken, made from the protocol's own schemas; the same for the same seed.
import { FromAgent } from '../../../agent/protocol/wire.ts'

type Shape = {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
  patternProperties?: Record<string, Shape>
  pattern?: string
  minimum?: number
  maximum?: number
  maxLength?: number
}
/** Ids that exist, so that forged frames name what is there. */
export type Known = { keys: readonly string[]; workloads: readonly string[] }
/** `right`: it fits the schema, whatever it claims. */
export type Made = { data: string | Uint8Array<ArrayBuffer>; right: boolean }

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const numbers = [1e300, -1e300, 1e18, 2 ** 53, -1, 0.5, 1e-300]
const texts = [
  '\0',
  '\x1b[2J',
  '\u202eevil',
  '\u200b',
  '\ud800',
  'x'.repeat(5000),
  '__proto__',
  "'; DROP TABLE jobs --",
]
const wrong = [null, true, [], {}, [[[[]]]], '', 'zq7mark', -1, { __proto__: null, constructor: 1 }]
const whole = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '{}',
  '{"type":"shell"}',
  nested(10_000),
  `{"type":${nested(30)}}`,
  `{"a":${'{"b":'.repeat(40)}1${'}'.repeat(40)}}`,
  `[${'0,'.repeat(70_000)}0]`,
  '\ufeff{}',
  '{"type":"log","type":"done","key":"x"}',
]

export function frames(seed: number, known: () => Known) {
  let state = seed >>> 0
  /** Xorshift: a number from 0 up to `below`. */
  const random = (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
  const one = <T>(of: readonly T[]): T => of[random(of.length)]!

  function madeFrom(shape: Shape, name = ''): unknown {
    if ('const' in shape) return shape.const
    if (shape.enum) return one(shape.enum)
    if (shape.anyOf) return madeFrom(one(shape.anyOf), name)
    switch (shape.type) {
      case 'object':
        return Object.fromEntries(
          Object.entries(shape.properties ?? {}).map(([key, inner]) => [key, madeFrom(inner, key)]),
        )
      case 'array':
        return Array.from({ length: random(4) }, () => madeFrom(shape.items!, name))
      case 'integer':
        return one([shape.minimum!, shape.maximum!, Math.min(shape.maximum!, Date.now())])
      case 'number':
        return one([shape.minimum!, shape.maximum!])
      case 'boolean':
        return random(2) === 1
      case 'string':
        return textOf(shape, name)
      default:
        return { power: 'running' }
    }
  }
  function textOf({ pattern = '', maxLength }: Shape, name: string): string {
    const { keys, workloads } = known()
    if (name === 'key') return one(keys)
    if (pattern.includes('26}')) return one(workloads)
    const usual = { pool: 'local', code: 'no_space', name: 'br0' }[name]
    if (usual) return usual
    if (pattern.includes('/[0-9]')) return '203.0.113.1/24'
    return 'zq7mark'.slice(0, maxLength)
  }

  /** The value with one place in it made wrong. */
  function broken(value: unknown): unknown {
    if (Array.isArray(value) && value.length && random(3)) return value.with(random(value.length), broken(one(value)))
    if (value && typeof value === 'object' && Object.keys(value).length && random(5)) {
      const name = one(Object.keys(value))
      const { [name]: old, ...rest } = value as Record<string, unknown>
      return random(4) ? { ...rest, [name]: broken(old) } : rest
    }
    return typeof value === 'number' ? one(numbers) : typeof value === 'string' ? one([...texts, ...wrong]) : one(wrong)
  }

  /** `rightOf10`: so many of ten frames fit the schema. */
  return (rightOf10: number): Made => {
    if (random(10) < rightOf10) return { data: JSON.stringify(madeFrom(FromAgent as Shape)), right: true }
    const way = random(10)
    if (way === 0) return { data: one(whole), right: false }
    const text = JSON.stringify(broken(madeFrom(FromAgent as Shape)))
    if (way === 1) return { data: new TextEncoder().encode(text), right: false }
    if (way === 2) return { data: text.slice(0, random(text.length)), right: false }
    return { data: text, right: false }
  }
}
