// OpenAPI 3.1 made from the registry; its schemas are those that the gate validates with.
import { type TSchema, Type as t } from 'typebox'
import type { AccountKind } from '../api/access.ts'
import { type Code, errorBody } from '../api/errors.ts'
import { isAllowedInSupportSession, needsPerson, type Operation, queryOf, statusesOf, time } from '../api/operation.ts'
import type { Registry } from '../registry.ts'
import { list } from '../words.ts'
import { ref, shared } from './shared.ts'

const kindsOf = ({ access }: Operation) => (access === 'anyone' ? [] : (Object.keys(access) as AccountKind[]))

/** Operations of one kind have the same common codes. */
type CallKind = { change: boolean; anyone: boolean }
const callKind = (op: Operation): CallKind => ({ change: op.method !== 'GET', anyone: op.access === 'anyone' })

/** The codes of every operation of this kind, apart from those of 403 and 404. */
const commonCodes = ({ change, anyone }: CallKind): Code[] => [
  'invalid_token', // also where none is needed
  ...(anyone ? [] : (['not_authenticated'] as const)),
  'method_not_allowed',
  'rate_limited',
  'internal_error',
  'invalid_request', // for a query parameter that it does not know
  ...(change
    ? ([
        'csrf_failed',
        'bad_origin',
        'restarting',
        'invalid_idempotency_key',
        'unsupported_media_type',
        'too_large',
        'invalid_json',
        'validation_failed', // a body where none is asked for, too
      ] as const)
    : []),
]

/** All codes that the operation may answer: those of its kind, of who may call it, of its target, and its own. */
export function codesOf(op: Operation): Code[] {
  const gate: Code[] = [
    ...commonCodes(callKind(op)),
    'ip_not_allowed',
    ...(op.access === 'anyone' ? [] : (['forbidden'] as const)),
    ...(kindsOf(op).every((kind) => needsPerson(op, kind)) ? [] : (['missing_scope'] as const)),
    ...(kindsOf(op).some((kind) => needsPerson(op, kind)) ? (['token_not_allowed'] as const) : []),
    ...(op.access !== 'anyone' && !isAllowedInSupportSession(op) ? (['support_session'] as const) : []),
    ...(op.requiresRecentAuth ? (['confirmation_required'] as const) : []),
    ...(op.access !== 'anyone' && op.access.staff && !op.withoutSecondFactor
      ? (['second_factor_required'] as const)
      : []),
    ...(op.on ? [op.on.notFound] : []),
  ]
  return [...new Set([...gate, ...(op.refuses ?? [])])]
}

const json = (content: object, type = 'application/json') => ({ content: { [type]: content } })

const headers = {
  RequestId: { description: 'To quote when you ask about this call.', schema: { type: 'string', format: 'uuid' } },
  RetryAfter: { description: 'Seconds to wait; with 429 and 503.', schema: { type: 'integer', minimum: 1 } },
  Allow: { description: 'The methods that the path has; with 405.', schema: { type: 'string' } },
  Replayed: {
    description: '`true`: the answer is the remembered one, and nothing was done again.',
    schema: { const: 'true' },
  },
}
const requestId = { 'X-Request-Id': ref('headers', 'RequestId') }

/** The response of one status: its codes. The example of a code has its meaning as message, and its remedy. */
const errorResponse = (status: number, list: readonly Code[]) => ({
  description: list.map((code) => `\`${code}\``).join(', '),
  headers: {
    ...requestId,
    ...(status === 429 || status === 503 ? { 'Retry-After': ref('headers', 'RetryAfter') } : {}),
    ...(status === 405 ? { Allow: ref('headers', 'Allow') } : {}),
  },
  ...json({
    schema: ref('schemas', 'Error'),
    examples: Object.fromEntries(list.map((code) => [code, ref('examples', code)])),
  }),
})

/** These codes by their status, in the order of the table of errors. */
const byStatus = ({ errors }: Registry, codes: readonly Code[]): Map<number, Code[]> =>
  Map.groupBy(
    (Object.keys(errors) as Code[]).filter((code) => codes.includes(code)),
    (code) => errors[code].status,
  )

/**
 * The response of every status that an operation does not list itself: it says once what hundreds of operations share.
 * `x-codes` has its codes by their status.
 */
function commonResponse(registry: Registry, kind: CallKind) {
  const codes = byStatus(registry, commonCodes(kind))
  const all = [...codes].flatMap(([, list]) => list)
  const words = [...codes].map(([status, list]) => `${status} ${list.map((code) => `\`${code}\``).join(', ')}`)
  const { description: _, ...response } = errorResponse(0, all)
  return {
    description: `The refusals of every such call, by status: ${words.join('; ')}.`,
    'x-codes': Object.fromEntries(codes),
    ...response,
    headers: { ...requestId, 'Retry-After': ref('headers', 'RetryAfter'), Allow: ref('headers', 'Allow') },
  }
}

/** The statuses whose codes are not those of every call of its kind, and `default` for the others. */
function refusals(registry: Registry, op: Operation) {
  const common = byStatus(registry, commonCodes(callKind(op)))
  const own = [...byStatus(registry, codesOf(op))].filter(
    ([status, list]) => list.join() !== common.get(status)?.join(),
  )
  return {
    ...Object.fromEntries(own.map(([status, list]) => [status, errorResponse(status, list)])),
    default: commonResponse(registry, callKind(op)),
  }
}

/** A token, or a browser's session; changes of a session also carry its CSRF token. */
function securityOf(op: Operation) {
  if (op.access === 'anyone') return []
  const session = op.method === 'GET' ? { session: [] } : { session: [], csrf: [] }
  return kindsOf(op).some((kind) => !needsPerson(op, kind)) ? [{ token: [] }, session] : [session]
}

function accessWords(op: Operation): string {
  const { access } = op
  if (access === 'anyone') return 'Open to anyone.'
  const needs = Map.groupBy(kindsOf(op), (kind) => access[kind]!.map((right) => `\`${right}\``).join(' or '))
  const who = [...needs].map(([rights, kinds]) => `${list(kinds)}: ${rights}`)
  return (
    'Needs, by kind of account: ' +
    `${who.join('; ')}.${op.ownerOnly ? ' Only an owner.' : ''}` +
    (op.requiresSession ? ' A person who is signed in, not a token.' : '')
  )
}

type Parameter = { name: string; in: 'path' | 'query' | 'header'; description?: string }
function parametersOf({ examples }: Registry, op: Operation): Parameter[] {
  const named = (name: string, place: Parameter['in'], more: object): Parameter => ({ name, in: place, ...more })
  return [
    ...[...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
      named(name!, 'path', {
        required: true,
        description: `Id of the ${op.on?.name ?? name}.`,
        schema: { type: 'string' },
        ...(op.on && { example: examples.sampleId(op.on.name) }),
      }),
    ),
    ...Object.entries(queryOf(op)).map(
      ([name, { description, ...schema }]: [string, TSchema & { description?: string }]) =>
        named(name, 'query', {
          description,
          // A larger limit is accepted and answered with the maximum.
          schema: name === 'limit' && op.pages ? { ...schema, maximum: op.pages.most } : schema,
        }),
    ),
    ...(op.idempotent
      ? [
          named('Idempotency-Key', 'header', {
            description: `1 to 200 ASCII characters, none of them a control character; \
the same key within 24 hours answers what it answered.`,
            schema: { type: 'string', minLength: 1, maxLength: 200 },
            example: 'order-1842',
          }),
        ]
      : []),
  ]
}

type Named = Record<string, unknown>
/** The schema, with its named parts among the components: a client has one type for each, wherever it is used. */
function hoisted(schema: unknown, into: Named): unknown {
  if (Array.isArray(schema)) return schema.map((part) => hoisted(part, into))
  if (typeof schema !== 'object' || schema === null) return schema
  const { type } = schema as { type?: unknown }
  const plain = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, hoisted(part, into)]))
  // Code generators need the type beside the values.
  if (type === undefined && isWords(plain['enum'])) return { type: 'string', ...plain }
  const name = componentName(plain)
  if (!name) return plain
  into[name] ??= plain
  if (!Bun.deepEquals(into[name], plain)) throw new Error(`two schemas are called ${name}`)
  return ref('schemas', name)
}

/** Objects are named by their title, lines of text (whose pattern is long) by their title and lengths. */
function componentName({ type, title, pattern, description, minLength = 0, maxLength }: Named): string | undefined {
  if (typeof title !== 'string' || !/^[\w -]{1,30}$/.test(title)) return undefined
  if (type === 'object') return title
  if (type !== 'string' || String(pattern ?? '').length < 60 || description !== undefined) return undefined
  return `${title.replace(/(?:^|[ -])(\w)/g, (_, initial: string) => initial.toUpperCase())}${minLength}To${maxLength}`
}

const isWords = (values: unknown) => Array.isArray(values) && values.every((value) => typeof value === 'string')

/** The job that continues after the response. */
const afterwards = ({ response }: Operation): string =>
  'jobId' in ((response as { properties?: object }).properties ?? {})
    ? ' It answers at once: where there is a `jobId`, follow it at `GET /jobs/{jobId}`.'
    : ''

type Ref = { $ref: string }
/** Each part stands in the operation until `sharedParts` puts a reference in its place. */
type OperationObject = Named & {
  operationId: string
  parameters: (Parameter | Ref)[]
  requestBody?: Named | Ref
  responses: Record<string, Named | Ref>
}

function operationObject(registry: Registry, op: Operation, components: Named): OperationObject {
  const { complete, examples } = registry
  const parameters = hoisted(complete(parametersOf(registry, op) as any), components) as Parameter[]
  const example: any = examples.sample(complete(op.response), op.on?.name ?? op.id.split('.')[0]!)
  return {
    operationId: op.id,
    summary: op.summary,
    description: accessWords(op) + afterwards(op),
    tags: [op.id.split('.')[0]],
    security: securityOf(op),
    ...(op.access === 'anyone' ? {} : { 'x-access': op.access }),
    ...(op.requiresSession ? { 'x-in-person': true } : {}),
    ...(op.destroys?.length ? { 'x-destroys': op.destroys } : {}),
    parameters,
    ...(op.body && {
      requestBody: { required: true, ...json({ schema: hoisted(complete(op.body), components), example: op.example }) },
    }),
    responses: {
      ...Object.fromEntries(
        statusesOf(op).map((status, i) => [
          status,
          {
            description: i ? (op.dryRun ? ofDryRun : nothingToDo) : said[status],
            headers: { ...requestId, ...(op.idempotent && { 'Idempotency-Replayed': ref('headers', 'Replayed') }) },
            ...json(
              {
                schema: hoisted(complete(op.response), components),
                ...((!i || !op.dryRun) && { example: i ? { ...example, jobId: null } : example }),
              },
              op.produces,
            ),
          },
        ]),
      ),
      ...refusals(registry, op),
    },
  }
}

/** The delivery of one type of event; the answer of `GET /events` has the same form. */
function webhookObject({ complete, events, examples }: Registry, type: string, components: Named) {
  const { audience, words, data } = events[type]!
  const schema = t.Object({ id: t.String(), type: t.Literal(type), created_at: time, data })
  return {
    post: {
      summary: words,
      description: `For ${audience === 'staff only' ? 'staff' : `staff, ${audience}`}.`,
      requestBody: {
        required: true,
        ...json({
          schema: hoisted(complete(schema), components),
          example: examples.sample(complete(schema), 'event'),
        }),
      },
      responses: { '2XX': { description: 'Any answer from 200 to 299 within 10 seconds: it has arrived.' } },
    },
  }
}

/** The only code of an error response that has no other. */
function onlyCode({ content }: Named): string | undefined {
  const examples = Object.keys((content as Record<string, { examples?: object }>)['application/json']?.examples ?? {})
  return examples.length === 1 ? examples[0] : undefined
}

/** The kind of calls that share this response, by its codes. */
const commonName = ({ 'x-codes': codes }: Named): string => {
  const known = Object.values(codes as Record<string, Code[]>).flat()
  const who = known.includes('not_authenticated') ? 'signed-in' : 'open'
  return `${who}-${known.includes('invalid_json') ? 'change' : 'read'}`
}

/** Ids of different things are parameters of one name: the thing is in the component's name. */
const parameterName = ({ in: place, name, description }: Parameter): string =>
  [place, name, place === 'path' && /^Id of the (.+)\.$/.exec(description ?? '')?.[1]?.replaceAll(' ', '-')]
    .filter(Boolean)
    .join('.')

/** The components that operations share; the operations then refer to them. */
function sharedParts(operations: readonly OperationObject[]) {
  const parameters = operations.flatMap((op) =>
    [...op.parameters.entries()].map(([i, value]) => ({
      value,
      name: parameterName(value as Parameter),
      refer: (to: Ref) => void (op.parameters[i] = to),
    })),
  )
  const responses = operations.flatMap((op) =>
    Object.entries(op.responses).map(([status, value]) => ({
      value,
      name: status === 'default' ? commonName(value) : (onlyCode(value) ?? `${status}.${op.operationId}`),
      refer: (to: Ref) => void (op.responses[status] = to),
    })),
  )
  const requestBodies = operations.flatMap((op) =>
    op.requestBody
      ? [{ value: op.requestBody, name: op.operationId, refer: (to: Ref) => void (op.requestBody = to) }]
      : [],
  )
  return {
    parameters: shared('parameters', parameters),
    responses: shared('responses', responses),
    requestBodies: shared('requestBodies', requestBodies),
  }
}

const nothingToDo = 'Done: there was nothing to do on a node, and `jobId` is null.'
const ofDryRun = 'With `dryRun=true`: it would be accepted, and nothing was done.'
const said: Record<number, string> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Accepted; where there is a jobId, that job continues.',
}

const error = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: {
          type: 'string',
          description: 'To branch on. New ones may come: treat one that you do not know by its status.',
        },
        message: { type: 'string', description: 'For a person; its words may change.' },
        details: { type: 'object', description: 'Only where there is more to say.' },
      },
    },
  },
}

const description = `Every change and every read of the panel is a call of this API, with the same permissions.
Lists answer \`data\`, \`nextCursor\` and \`total\`; refusals answer \`error\` with \`code\`, \`message\`
and sometimes \`details\`.
Times are ISO 8601 in UTC; the unit stands at the end of a name (\`memoryMb\`, \`diskGb\`).`

export function openapi(registry: Registry, { version, root }: { version: string; root: string }) {
  const { operations, errors, events, scopes } = registry
  const paths: Record<string, Record<string, OperationObject>> = {}
  const schemas: Named = { Error: error }
  for (const op of operations) (paths[op.path] ??= {})[op.method.toLowerCase()] = operationObject(registry, op, schemas)
  const parts = sharedParts(Object.values(paths).flatMap((item) => Object.values(item)))
  return {
    openapi: '3.1.0',
    info: { title: 'Berth', version, description },
    servers: [{ url: root }],
    security: [{ token: [] }],
    tags: [...new Set(operations.map((op) => op.id.split('.')[0]!))].map((name) => ({ name })),
    paths,
    webhooks: Object.fromEntries(Object.keys(events).map((type) => [type, webhookObject(registry, type, schemas)])),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'pnl_…',
          description: `An API token. Its scopes:\n${Object.entries(scopes)
            .map(([name, { words }]) => `- \`${name}\`: ${words}`)
            .join('\n')}`,
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-panel',
          description: "A browser's session, made by signing in. Ignored when there is an Authorization header.",
        },
        csrf: {
          type: 'apiKey',
          in: 'header',
          name: 'X-CSRF-Token',
          description:
            'Changes by a session carry the word that its pages know, and come from the origin of PANEL_PUBLIC_URL.',
        },
      },
      ...parts,
      headers,
      examples: Object.fromEntries(
        [...new Set(operations.flatMap(codesOf))].map((code) => [
          code,
          {
            summary: code,
            description: errors[code].remedy,
            value: errorBody({ code, message: errors[code].when, details: errors[code].details ?? {} }),
          },
        ]),
      ),
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}
