// The text of `berth admin OPERATION --help`, made from the declaration of the operation.
import type { TSchema } from 'typebox'
import { API_ROOT } from '../../kernel/api/http.ts'
import { type Operation, queryOf } from '../../kernel/api/operation.ts'
import type { Registry } from '../../kernel/registry.ts'

type Schema = TSchema & {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  minimum?: number
  maximum?: number
  description?: string
  writeOnly?: boolean
}

export function operationHelp(op: Operation, registry: Registry): string {
  const ids = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const { properties = {}, required = [] } = registry.complete(op.body ?? {}) as Schema
  const needed = new Set(required)
  const query = Object.entries(registry.complete(queryOf(op)))
  const rows: [string, string][] = [
    ...ids.map((name): [string, string] => [name, `text, needed: id of the ${op.on?.name ?? name}`]),
    ...Object.entries(properties).map(([name, schema]): [string, string] => [
      name,
      `${kindOf(schema)}${needed.has(name) ? ', needed' : ''}${
        isSecret(schema) ? '; secret: give it on standard input' : ''
      }`,
    ]),
    ...query.map(([name, schema]): [string, string] => [
      `query.${name}`,
      `${kindOf(schema)}: ${(schema as Schema).description}`,
    ]),
  ]
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2
  return [
    `berth admin ${op.id}${rows.length ? ' [JSON]' : ''}`,
    `${op.summary}. ` +
      `${op.localOnly ? 'It is there on this host only, not over HTTP.' : `It is ${op.method} ${API_ROOT}${op.path}.`}`,
    ...(rows.length
      ? ['', ...rows.map(([name, words]) => `  ${name.padEnd(width)}${words}`)]
      : ['', 'It takes no fields.']),
    ...exampleOf(registry, op, ids, Object.values(properties).some(isSecret)),
  ].join('\n')
}

const isSecret = ({ writeOnly, anyOf = [] }: Schema): boolean => !!writeOnly || anyOf.some(isSecret)

function exampleOf({ examples }: Registry, op: Operation, ids: readonly string[], hidden: boolean): string[] {
  if (!ids.length && !op.example) return []
  const given = {
    ...Object.fromEntries(ids.map((name) => [name, examples.sampleId(op.on?.name ?? name) ?? '…'])),
    ...(op.example as object | undefined),
  }
  const text = JSON.stringify(given).replaceAll("'", "'\\''")
  return [
    '',
    'Example:',
    hidden ? `  berth admin ${op.id} - <<'JSON'\n  ${JSON.stringify(given)}\nJSON` : `  berth admin ${op.id} '${text}'`,
  ]
}

/** A schema in a few words: `whole number 1 to 64` · `one of "a", "b"` · `list of text` · `{ mode, password }`. */
function kindOf(schema: Schema): string {
  if (schema.enum) return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) return [...new Set(schema.anyOf.map(kindOf))].join(' or ')
  switch (schema.type) {
    case 'string':
      return 'text'
    case 'integer':
      return `whole number${between(schema)}`
    case 'number':
      return `number${between(schema)}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    case 'array':
      return `list of ${kindOf(schema.items ?? ({} as Schema))}`
    case 'object':
      return schema.properties
        ? `{ ${Object.entries(schema.properties)
            .map(([name, property]) => `${name}: ${kindOf(property)}`)
            .join('; ')} }`
        : 'object'
    default:
      return 'any value'
  }
}

const between = ({ minimum, maximum }: Schema) =>
  minimum !== undefined && maximum !== undefined
    ? ` ${minimum} to ${maximum}`
    : minimum !== undefined
      ? ` from ${minimum} on`
      : maximum !== undefined
        ? ` up to ${maximum}`
        : ''
