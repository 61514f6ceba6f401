// The parts of which the protocol's schemas are made. Each has bounds that the database and a page can take: one value
// of one node must never break what the controller does for the others.
import { type TSchema, Type as t } from 'typebox'
import { LINE, LINE_PATTERN, printable } from './text.ts'

/** Milliseconds since 1970, up to the last of the year 9999: beyond it a time has no ISO 8601 form of four digits. */
export const timestamp = t.Integer({ minimum: 0, maximum: 253_402_300_799_999 })
/** Bytes, and other counters that only grow. */
export const counter = t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** Mebibytes, up to one pebibyte. */
export const megabytes = t.Integer({ minimum: 0, maximum: 2 ** 30 })
/** One line that people read: no control, direction or invisible characters. */
export const line = (maxLength: number) => t.String({ minLength: 0, maxLength, pattern: LINE_PATTERN, title: LINE })
/** Lines of text with any characters. The controller shows the unreadable ones by their codes. */
export const anyText = (maxLength: number) => t.String({ maxLength, title: 'any text' })
/** The name of a bridge that Berth can use. It never looks like an option or a directory. */
export const BRIDGE_NAME = '[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,14}'
export const bridgeName = t.String({ pattern: `^${BRIDGE_NAME}$`, title: 'the name of a bridge', examples: ['br0'] })

/** Texts that are encrypted for a node (`for-node.ts`), of up to 200 bytes: base64url, behind key and tag. */
export const ENCRYPTED = '^encrypted\\.[A-Za-z0-9_-]{65,340}$'
/** Texts of up to 6,000 bytes: the tokens of registries are that long. */
export const ENCRYPTED_LONG = '^encrypted\\.[A-Za-z0-9_-]{65,8064}$'

/** The id of a workload of any kind, as a pattern. Nothing on a node depends on the kind. */
export const WORKLOAD_ID = '[a-z]{2,8}_[0-9a-z]{26}'
export const workloadId = t.String({ pattern: `^${WORKLOAD_ID}$` })

/**
 * The reaction of a node to a workload that ends although no command stopped it. `on_failure`: it is started again
 * after a crash, and stays off when its guest shut it down or its command ended well. `always`: also then. `never`: it
 * stays off.
 */
export const restartPolicies = ['always', 'on_failure', 'never'] as const
export const RestartPolicy = t.Enum(restartPolicies)
export type RestartPolicy = (typeof restartPolicies)[number]

type Shape = {
  type?: string
  anyOf?: Shape[]
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  items?: TSchema
  properties?: Record<string, TSchema>
  patternProperties?: Record<string, TSchema>
}

/**
 * The report with its numbers within the bounds of `schema`, its texts readable and cut, and its lists cut, so that one
 * odd value of the host does not keep the rest of the report from the controller.
 */
export function fitted<T>(schema: TSchema, value: T): T {
  return fit(schema as Shape, value) as T
}

function fit(among: Shape, value: unknown): unknown {
  const type = typeof value
  const schema = among.anyOf?.find((one) => one.type === type || (one.type === 'integer' && type === 'number')) ?? among
  const { minimum = 0, maximum = 0, maxLength, maxItems, items, properties, patternProperties } = schema
  if (typeof value === 'string') return maxLength === undefined ? value : printable(value.slice(0, maxLength))
  if (typeof value === 'number') return Math.min(maximum, Math.max(minimum, Number.isNaN(value) ? minimum : value))
  if (Array.isArray(value)) return items ? value.slice(0, maxItems).map((item) => fit(items as Shape, item)) : value
  if (typeof value !== 'object' || value === null) return value
  const others = Object.values(patternProperties ?? {})[0]
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const known = properties?.[name] ?? others
      return [name, known ? fit(known as Shape, field) : field]
    }),
  )
}
