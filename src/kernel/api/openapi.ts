// The reference is the registry, read aloud: OpenAPI 3.1, whose schemas are the ones the gate checks with.

import { scopes } from './access.ts'
import { type Code, codes } from './errors.ts'
import type { Operation } from './operation.ts'

/** Codes that the gate itself may answer, whatever the operation. */
export function codesOf(op: Operation): Code[] {
  const change = op.method !== 'GET'
  const gate: Code[] = [
    'invalid_token', // also where none is needed
    'ip_not_allowed',
    ...(op.access === 'anyone' ? [] : (['not_authenticated', 'missing_scope', 'forbidden'] as const)),
    'rate_limited',
    'internal_error',
    'invalid_request', // for a query parameter that it does not know
    ...(op.inPerson ? (['token_not_allowed'] as const) : []),
    ...(op.access !== 'anyone' && !(op.inSupport ?? !op.inPerson) ? (['support_session'] as const) : []),
    ...(op.confirmed ? (['confirmation_required'] as const) : []),
    ...(op.on ? [op.on.notFound] : []),
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
  return [...new Set([...gate, ...(op.refuses ?? [])])]
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'string' }, message: { type: 'string' }, details: { type: 'object' } },
    },
  },
}

function operationObject(op: Operation) {
  const refusals = Map.groupBy(codesOf(op), (code) => codes[code])
  return {
    operationId: op.id,
    summary: op.summary,
    tags: [op.id.split('.')[0]],
    ...(op.access === 'anyone' ? { security: [] } : { 'x-access': op.access }),
    ...(op.inPerson ? { 'x-in-person': true } : {}),
    parameters: [
      ...[...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...Object.entries(op.query ?? {}).map(([name, description]) => ({ name, in: 'query', description, schema: { type: 'string' } })),
      ...(op.remembers ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    ...(op.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: op.body, ...(op.example ? { example: op.example } : {}) } },
          },
        }
      : {}),
    responses: {
      [op.status ?? 200]: {
        description: 'Done',
        headers: { 'X-Request-Id': { schema: { type: 'string' } } },
        content: { 'application/json': { schema: op.answer } },
      },
      ...Object.fromEntries(
        [...refusals]
          .sort(([a], [b]) => a - b)
          .map(([status, list]) => [
            status,
            { description: list.join(', '), content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
          ]),
      ),
    },
  }
}

export function openapi(operations: readonly Operation[], { version, root }: { version: string; root: string }) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const op of operations) (paths[op.path] ??= {})[op.method.toLowerCase()] = operationObject(op)
  return {
    openapi: '3.1.0',
    info: { title: 'Berth', version },
    servers: [{ url: root }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'pnl_…',
          description: Object.entries(scopes)
            .map(([name, words]) => `\`${name}\`: ${words}`)
            .join('\n'),
        },
      },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description: '1 to 200 characters; the same key within 24 hours answers what it answered.',
          schema: { type: 'string', minLength: 1, maxLength: 200 },
        },
      },
      schemas: { Error: errorSchema },
    },
  }
}
