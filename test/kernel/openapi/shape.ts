// An OpenAPI document as text to be read as a diff: one line for each operation, and for each field of a named schema.

type Json = any

/** The part that a reference names; any other value is answered as it is. */
export const follow = (document: Json, value: Json): Json =>
  typeof value?.$ref === 'string'
    ? value.$ref
        .slice(2)
        .split('/')
        .reduce((at: Json, part: string) => at[part], document)
    : value

const withLimits = (type: string, { minLength, maxLength, minimum, maximum, pattern, format }: Json): string => {
  const [least, most] = [minLength ?? minimum, maxLength ?? maximum]
  const limits = least === undefined && most === undefined ? '' : `(${least ?? ''}..${most ?? ''})`
  const form = pattern ? ` /${pattern.length > 40 ? Bun.hash(pattern).toString(36) : pattern}/` : ''
  return `${type}${format ? `<${format}>` : ''}${limits}${form}`
}

/**
 * The type of a schema in a line, e.g. `{ name: string(1..60), tags?: string[] } | null`. A named schema is its name.
 */
export function typeOf(schema: Json): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.enum) return schema.enum.map((value: unknown) => JSON.stringify(value)).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.type === 'array') {
    const items = typeOf(schema.items)
    const limits = schema.minItems || schema.maxItems ? `(${schema.minItems ?? 0}..${schema.maxItems ?? ''})` : ''
    return `${/[ |]/.test(items) ? `(${items})` : items}[]${limits}`
  }
  if (schema.type !== 'object') return withLimits(schema.type ?? 'any', schema)
  const fields = Object.keys(schema.properties ?? {}).map((name) => fieldOf(schema, name))
  for (const value of Object.values(schema.patternProperties ?? {})) fields.push(`[name]: ${typeOf(value)}`)
  return fields.length ? `{ ${fields.join(', ')} }` : 'object'
}

const fieldOf = ({ properties, required }: Json, name: string): string =>
  `${name}${required?.includes(name) ? '' : '?'}: ${typeOf(properties[name])}`

/** Error statuses that have one code, whatever the operation. */
const everywhere = new Set([405, 413, 415, 429, 500, 503])

/** Answers the text, with a line break at its end. */
export function textOf(document: Json): string {
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, op]) => {
      const parameters = op.parameters
        .map((one: Json) => follow(document, one))
        .filter((one: Json) => one.in !== 'path')
        .map((one: Json) => `${one.in} ${one.name}${one.required ? '' : '?'}: ${typeOf(one.schema)}`)
      const body = op.requestBody && follow(document, op.requestBody).content['application/json'].schema
      const { default: others, ...own } = op.responses
      const ofAll = Object.entries<string[]>(follow(document, others)?.['x-codes'] ?? {})
      const responses = [
        ...ofAll.filter(([status]) => !(status in own)).map(([status, codes]) => [status, codes] as const),
        ...Object.entries<Json>(own),
      ]
        .toSorted(([a], [b]) => Number(a) - Number(b))
        .flatMap(([status, response]) => {
          if (everywhere.has(Number(status))) return []
          if (Array.isArray(response)) return `${status} ${response.join(' ')}`
          const { content } = follow(document, response)
          const json = content['application/json']
          if (!json) return `${status} ${Object.keys(content)}`
          return `${status} ${Number(status) < 400 ? typeOf(json.schema) : Object.keys(json.examples).join(' ')}`
        })
      const parts = [...parameters, ...(body ? [`body ${typeOf(body)}`] : []), ...responses]
      return `${method.toUpperCase()} ${path} ${op.operationId} · ${parts.join(' · ')}`
    }),
  )
  const webhooks = Object.entries<Json>(document.webhooks ?? {}).map(
    ([type, { post }]) => `${type} · ${typeOf(post.requestBody.content['application/json'].schema.properties.data)}`,
  )
  const schemas = Object.entries<Json>(document.components.schemas).flatMap(([name, schema]) =>
    schema.properties
      ? Object.keys(schema.properties).map((field) => `${name}.${fieldOf(schema, field)}`)
      : [`${name}: ${typeOf(schema)}`],
  )
  return `${[...operations.toSorted(), '', ...webhooks.toSorted(), '', ...schemas].join('\n')}\n`
}
