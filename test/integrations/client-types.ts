// integrations/client-ts/api.ts, from the OpenAPI document: a type for each schema, and for each operation its method,
// its path, what it takes and what it answers.
import { API_ROOT } from '../../src/kernel/api/http.ts'

type Schema = Readonly<Record<string, any>>
type Parameter = { name: string; in: string; required?: boolean; schema: Schema }

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
/** A list that a client can walk: the name of the parameter that continues it. */
const CURSOR = 'cursor'

/** The text of api.ts. Throws for a schema whose form it does not know, so that none is typed wrongly. */
export function clientTypes(document: Schema): string {
  const { components } = document
  /** A reference to a parameter or response is followed; one to a schema is a type's name. */
  const found = <T>(one: { $ref?: string } & object): T =>
    (one.$ref
      ? one.$ref
          .slice(2)
          .split('/')
          .reduce((at: any, part) => at[part], document)
      : one) as T

  const operations = Object.entries<Schema>(document['paths'])
    .flatMap(([path, methods]) => METHODS.filter((m) => methods[m]).map((m) => ({ path, m, of: methods[m] as Schema })))
    .toSorted((a, b) => (a.of['operationId'] < b.of['operationId'] ? -1 : 1))
    .map(({ path, m, of }) => {
      const parameters = ((of['parameters'] ?? []) as object[]).map((one) => found<Parameter>(one))
      const body = of['requestBody'] && found<Schema>(of['requestBody'])
      return { id: of['operationId'], summary: of['summary'], path, method: m.toUpperCase(), parameters, body, of }
    })

  const named = Object.entries<Schema>(components['schemas'])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `${comment(schema)}export type ${name} = ${typeOf(schema)}`)

  const taken = operations.map(({ id, summary, parameters, body, of }) => {
    const lines = [
      ...['path', 'query'].flatMap((where) => {
        const these = parameters.filter((p) => p.in === where)
        const optional = these.some((p) => p.required) ? '' : '?'
        return these.length ? [`${where}${optional}: ${fieldsOf(these)}`] : []
      }),
      ...(body ? [`body${body['required'] ? '' : '?'}: ${contentOf(body)}`] : []),
      `result: ${resultOf(of, found)}`,
    ]
    return `  /** ${summary} */\n  '${id}': {\n${lines.map((line) => `    ${indented(line, 4)}\n`).join('')}  }`
  })

  const routes = operations.map(({ id, method, path, parameters }) => {
    const isKeyed = parameters.some((p) => p.in === 'header' && p.name === 'Idempotency-Key')
    return `  '${id}': ['${method}', '${path}', ${isKeyed}],`
  })
  const lists = operations.filter(
    ({ method, parameters }) => method === 'GET' && parameters.some((p) => p.in === 'query' && p.name === CURSOR),
  )

  return [
    '// Made from the OpenAPI document of Berth by its tests. Change the operations, not this file.',
    `export const API_ROOT = '${API_ROOT}'`,
    ...named,
    `/** Operations by their ids. */\nexport interface Operations {\n${taken.join('\n')}\n}`,
    '/** Lists that go on behind their first page. */\n' +
      `export type ListId =\n${lists.map(({ id }) => `  | '${id}'`).join('\n')}`,
    '/** Method, path, and whether it takes an Idempotency-Key. */\n' +
      `export const routes: { readonly [Id in keyof Operations]: readonly [string, string, boolean] } = {\n` +
      `${routes.join('\n')}\n}`,
    '',
  ].join('\n\n')
}

const indented = (text: string, by: number) => text.replaceAll('\n', `\n${' '.repeat(by)}`)

const comment = ({ description }: Schema) => (description ? `/** ${description.replaceAll('*/', '* /')} */\n` : '')

/** A parameter is sent as text; a number may be given as one. */
const fieldsOf = (parameters: readonly Parameter[]) =>
  `{ ${parameters.map((p) => `${p.name}${p.required ? '' : '?'}: ${typeOf(p.schema)}`).join('; ')} }`

function resultOf(operation: Schema, found: <T>(one: object) => T): string {
  const answers = Object.entries<Schema>(operation['responses']).filter(([status]) => status.startsWith('2'))
  const types = answers.map(([, response]) => contentOf(found<Schema>(response)))
  return [...new Set(types)].join(' | ') || 'undefined'
}

/** JSON as its type, other content as the response itself, none as undefined. */
function contentOf({ content }: Schema): string {
  if (!content) return 'undefined'
  const json = content['application/json']
  return json ? typeOf(json['schema']) : 'Response'
}

function typeOf(schema: Schema): string {
  const { $ref, anyOf, oneOf, const: only, enum: values, type, items, properties } = schema
  if ($ref) return ($ref as string).slice($ref.lastIndexOf('/') + 1)
  if (anyOf ?? oneOf) return [...new Set((anyOf ?? oneOf).map((one: Schema) => typeOf(one)))].join(' | ')
  if (only !== undefined) return JSON.stringify(only)
  if (values) return values.map((value: unknown) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' | ')
  if (type === 'array') return `(${items ? typeOf(items) : 'unknown'})[]`
  if (type === 'integer') return 'number'
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type
  if (type === 'object') return properties ? objectOf(schema) : recordOf(schema)
  if (Object.keys(schema).every((key) => ['description', 'title'].includes(key))) return 'unknown'
  throw new Error(`a schema of another form: ${JSON.stringify(schema).slice(0, 200)}`)
}

function objectOf({ properties, required = [] }: Schema): string {
  const fields = Object.entries<Schema>(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
    const optional = required.includes(name) ? '' : '?'
    return `  ${indented(comment(schema), 2)}${key}${optional}: ${indented(typeOf(schema), 2)}`
  })
  return fields.length ? `{\n${fields.join('\n')}\n}` : 'Record<string, never>'
}

function recordOf({ additionalProperties, patternProperties }: Schema): string {
  const value = Object.values<Schema>(patternProperties ?? {})[0] ?? additionalProperties
  return typeof value === 'object' ? `Record<string, ${typeOf(value)}>` : 'Record<string, unknown>'
}
