// openapi.json as a client's generator reads it: valid by the published schema of OpenAPI 3.1, and complete.
import { beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import Ajv from 'ajv/dist/2020'
import { operations, registry } from '../../../src/app/features.ts'
import { type Operation, queryOf } from '../../../src/kernel/api/operation.ts'
import { codesOf, openapi } from '../../../src/kernel/openapi/openapi.ts'

type Json = any
const document: Json = JSON.parse(
  JSON.stringify(openapi(registry, { version: '0', root: 'https://panel.test/api/v1' })),
)
/** The operation with its shared parts in place. */
const said = (op: Operation): Json => {
  const {
    parameters,
    requestBody,
    responses,
    security = document.security,
    ...own
  } = document.paths[op.path][op.method.toLowerCase()]
  return {
    ...own,
    security,
    parameters: parameters.map(follow),
    requestBody: follow(requestBody),
    responses: Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, follow(response)])),
  }
}
const follow = (value: Json): Json =>
  typeof value?.$ref === 'string'
    ? value.$ref
        .slice(2)
        .split('/')
        .reduce((at: Json, part: string) => at?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], document)
    : value
const ajv = new Ajv({
  strict: false,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, uuid: true, email: true },
})

describe('openapi.json', () => {
  let verdict: { valid: boolean; errors?: unknown }
  beforeAll(async () => void (verdict = await new Validator().validate(structuredClone(document))))
  test('is valid OpenAPI 3.1', () => expect(verdict).toMatchObject({ valid: true }))
  test('and the check would notice when it were not', async () => {
    const broken = structuredClone(document)
    broken.paths['/status'].get.responses['200'].description = undefined
    delete broken.paths['/status'].get.responses['200'].description
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })

  test('has nothing that refers to what is not there', () => {
    const walk = (value: Json): void => {
      if (typeof value !== 'object' || value === null) return
      if (typeof value.$ref === 'string') expect([value.$ref, typeof follow(value)]).toEqual([value.$ref, 'object'])
      Object.values(value).forEach(walk)
    }
    walk(document)
  })
  test('says once what operations share: it is small', () => {
    const { webhooks, ...calls } = document
    const bytes = JSON.stringify(calls).length
    expect(JSON.stringify(webhooks).length / Object.keys(webhooks).length).toBeLessThan(1500)
    expect(bytes / operations.length).toBeLessThan(2400)
    expect(bytes).toBeLessThan(1_400_000)
    // An operation repeats nothing of the refusals that all calls have.
    for (const op of operations)
      for (const status of [405, 413, 415, 429, 500, 503])
        expect([op.id, status in document.paths[op.path][op.method.toLowerCase()].responses]).toEqual([op.id, false])
  })
  test('has every operation, each path and name once', () => {
    const found = Object.values<Json>(document.paths).flatMap((item) => Object.values<Json>(item))
    expect(found.map((op) => op.operationId).toSorted()).toEqual(operations.map((op) => op.id).toSorted())
    const shapes = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}'))
    expect(new Set(shapes).size).toBe(shapes.length)
  })
})

for (const type of Object.keys(registry.events))
  test(`the event ${type} has a schema that compiles, and an example that fits it`, () => {
    const { schema, example } = document.webhooks[type].post.requestBody.content['application/json']
    const fits = ajv.compile({ ...schema, components: { schemas: document.components.schemas } })
    expect([fits(example), fits.errors]).toEqual([true, null])
    expect(fits({ ...example, type: 'another' })).toBe(false)
  })

for (const op of operations)
  describe(op.id, () => {
    test('has schemas that compile, and examples of body and answer that fit them', () => {
      const { requestBody, responses } = said(op)
      const content = responses[op.status ?? 200].content
      expect(Object.keys(content)).toEqual([op.produces ?? 'application/json'])
      for (const { schema, example } of [
        ...(op.produces ? [] : [content['application/json']]),
        ...(requestBody ? [requestBody.content['application/json']] : []),
      ]) {
        const fits = ajv.compile({ ...schema, components: { schemas: document.components.schemas } })
        expect(example).toBeDefined()
        expect([fits(example), fits.errors]).toEqual([true, null])
      }
    })
    test('says each refusal under its status, with an example, and when to come again', () => {
      const { responses } = said(op)
      for (const code of codesOf(op)) {
        const { status } = registry.errors[code]
        const own = responses[status]
        const { description, content, headers, 'x-codes': codes } = own ?? responses.default
        if (!own) expect(codes[status]).toContain(code)
        expect(description).toContain(`\`${code}\``)
        expect(headers).toHaveProperty(['X-Request-Id'])
        expect(follow(content['application/json'].examples[code]).value.error.code).toBe(code)
      }
      // A status of its own hides what `default` says about it, so it has every code of that status.
      for (const [status, codes] of Object.entries<string[]>(responses.default['x-codes']))
        if (responses[status])
          expect(Object.keys(responses[status].content['application/json'].examples)).toEqual(
            expect.arrayContaining(codes),
          )
      for (const status of op.method === 'GET' ? [405, 429, 500] : [405, 413, 415, 422, 429, 500, 503])
        expect({ ...responses.default['x-codes'], ...responses }).toHaveProperty([`${status}`])
      expect(responses.default.headers).toHaveProperty(['Retry-After'])
    })
    test('says who may call it and how he shows who he is', () => {
      const { security, description } = said(op)
      const schemes = security.map((one: object) => Object.keys(one).toSorted().join('+'))
      if (op.access === 'anyone') return expect(security).toEqual([])
      expect(schemes).toContain(op.method === 'GET' ? 'session' : 'csrf+session')
      if (op.requiresSession) expect(schemes).not.toContain('token')
      for (const [kind, rights] of Object.entries(op.access))
        for (const right of rights)
          expect(description).toMatch(new RegExp(`${kind}\\b[^;:]*: [^;]*\`${right.replace('.', '\\.')}\``))
    })
    test('names its parameters: of the path, of the query, and the key', () => {
      const parameters = said(op).parameters.map(follow)
      expect(parameters.map((q: Json) => `${q.in} ${q.name}`)).toEqual([
        ...[...op.path.matchAll(/\{(\w+)\}/g)].map((m) => `path ${m[1]}`),
        ...Object.keys(queryOf(op)).map((name) => `query ${name}`),
        ...(op.idempotent ? ['header Idempotency-Key'] : []),
      ])
      if (!op.pages) return
      expect(parameters.find((q: Json) => q.name === 'limit').schema).toMatchObject({
        default: op.pages.usual,
        maximum: op.pages.most,
      })
    })
  })

test('every path has the id of its thing as example, in the form that ids have', () => {
  for (const op of operations)
    if (op.on)
      expect([op.id, said(op).parameters[0].example]).toEqual([
        op.id,
        expect.stringMatching(/^[a-z]{2,8}_[0-9a-z]{26}$/),
      ])
})
test('every value that examples are made of is the value of a field', () => {
  const text = JSON.stringify(operations.map((op) => op.response))
  for (const name of Object.keys(registry.samples)) expect([name, text.includes(`"${name}":`)]).toEqual([name, true])
})
test('an answer by pages says how many rows it has, and only such an answer', () => {
  for (const op of operations)
    expect([op.id, 'nextCursor' in (op.response.properties ?? {})]).toEqual([op.id, op.pages !== undefined])
})
test('every code says when it is answered and what to do, in sentences', () => {
  for (const [code, { when, remedy }] of Object.entries(registry.errors))
    for (const words of [when, remedy]) expect([code, words]).toEqual([code, expect.stringMatching(/^[A-Z].*\.$/)])
})

test('what is answered in several places is one named schema, and its pages another', () => {
  const schemaOf = (id: string) =>
    said(operations.find((op) => op.id === id)!).responses['200'].content['application/json'].schema
  for (const [id, name] of [
    ['servers.get', 'Server'],
    ['servers.list', 'ServerPage'],
    ['servers.list-all', 'ServerPage'],
    ['jobs.get', 'JobDetails'],
    ['customers.get', 'Customer'],
    ['nodes.list', 'NodePage'],
    ['tokens.list', 'TokenPage'],
  ] as const)
    expect([id, schemaOf(id)]).toEqual([id, { $ref: `#/components/schemas/${name}` }])
  const { ServerPage, Server } = document.components.schemas
  expect(ServerPage.properties.data.items).toEqual({ $ref: '#/components/schemas/Server' })
  expect(Server.properties.status).toMatchObject({
    type: 'string',
    enum: expect.arrayContaining(['pending_setup', 'suspended']),
  })
})
