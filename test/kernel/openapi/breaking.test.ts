// A program written for the last release works with the next one. The document of the last release is kept in
// released.json beside this file (RELEASE=1.0.0 writes it); before the first release there is none.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { registry } from '../../../src/app/features.ts'
import { openapi } from '../../../src/kernel/openapi/openapi.ts'
import { breakingChanges } from './breaking.ts'

type Json = any
const current = (): Json => JSON.parse(JSON.stringify(openapi(registry, { version: '0', root: '/api/v1' })))

const released = new URL('./released.json', import.meta.url).pathname
if (process.env['RELEASE']) writeFileSync(released, JSON.stringify(current()))
test.skipIf(!existsSync(released))('nothing that the last release has is broken', () =>
  expect(breakingChanges(JSON.parse(readFileSync(released, 'utf8')), current())).toEqual([]),
)

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: Json) => ({ content: { 'application/json': { schema } } })
/** A document of two operations with one of everything that is compared. */
const small = (): Json => ({
  paths: {
    '/things': {
      get: {
        operationId: 'things.list',
        security: [{ token: [] }, { session: [] }],
        'x-access': { staff: ['things:read'], customer: ['things:read'] },
        parameters: [{ name: 'state', in: 'query', schema: { type: 'string', enum: ['open', 'closed'] } }],
        responses: { 200: json({ type: 'array', items: ref('Thing') }), 404: { description: '' } },
      },
      post: {
        operationId: 'things.create',
        security: [{ token: [] }],
        parameters: [],
        requestBody: json({
          type: 'object',
          additionalProperties: false,
          required: ['name'],
          properties: {
            name: { type: 'string', maxLength: 60 },
            size: { type: 'string', enum: ['s', 'm', 'l'] },
            note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          },
        }),
        responses: { 201: { $ref: '#/components/responses/made' } },
      },
    },
  },
  components: {
    responses: { made: json(ref('Thing')) },
    schemas: {
      Thing: {
        type: 'object',
        required: ['id', 'parent'],
        properties: {
          id: { type: 'string' },
          parent: { anyOf: [ref('Thing'), { type: 'null' }] },
          count: { type: 'integer' },
        },
      },
    },
  },
})

/** The changes that `change` of the small document breaks. */
const brokenBy = (change: (document: Json) => void) => {
  const after = small()
  change(after)
  return breakingChanges(small(), after)
}
const bodyOf = (d: Json) => d.paths['/things'].post.requestBody.content['application/json'].schema
const thingOf = (d: Json) => d.components.schemas.Thing

describe('breaks a client', () => {
  const cases: Record<string, [change: (d: Json) => void, words: string[]]> = {
    'a path that is gone': [(d) => delete d.paths['/things'], ['GET /things is gone', 'POST /things is gone']],
    'a method that is gone': [(d) => delete d.paths['/things'].post, ['POST /things is gone']],
    'another name': [
      (d) => (d.paths['/things'].post.operationId = 'things.add'),
      ['POST /things: is called things.add and no longer things.create'],
    ],
    'a response field that is gone': [
      (d) => delete thingOf(d).properties.id,
      ['GET /things: response 200[].id is gone', 'POST /things: response 201.id is gone'],
    ],
    'a response field that may be left out': [
      (d) => (thingOf(d).required = ['parent']),
      ['GET /things: response 200[].id may now be left out', 'POST /things: response 201.id may now be left out'],
    ],
    'a response field that may be null': [
      (d) => (thingOf(d).properties.id = { anyOf: [{ type: 'string' }, { type: 'null' }] }),
      ['GET /things: response 200[].id may now be null', 'POST /things: response 201.id may now be null'],
    ],
    'a response field of another type': [
      (d) => (thingOf(d).properties.count = { type: 'string' }),
      [
        'GET /things: response 200[].count is string and no longer integer',
        'POST /things: response 201.count is string and no longer integer',
      ],
    ],
    'a success status that is gone': [
      (d) => (d.paths['/things'].post.responses = { 202: json(ref('Thing')) }),
      ['POST /things: no longer answers 201'],
    ],
    'a new required body field': [
      (d) => {
        bodyOf(d).properties.owner = { type: 'string' }
        bodyOf(d).required.push('owner')
      },
      ['POST /things: body.owner is new and required'],
    ],
    'a body field that is now required': [
      (d) => bodyOf(d).required.push('size'),
      ['POST /things: body.size is now required'],
    ],
    'a body field that is gone': [(d) => delete bodyOf(d).properties.size, ['POST /things: body.size is gone']],
    'a narrowed enum in a body': [
      (d) => (bodyOf(d).properties.size.enum = ['s', 'm']),
      ['POST /things: body.size no longer takes l'],
    ],
    'a narrowed enum in a query': [
      (d) => (d.paths['/things'].get.parameters[0].schema.enum = ['open']),
      ['GET /things: query parameter state no longer takes closed'],
    ],
    'a body field that may no longer be null': [
      (d) => (bodyOf(d).properties.note = { type: 'string' }),
      ['POST /things: body.note no longer takes null'],
    ],
    'a tighter limit': [
      (d) => (bodyOf(d).properties.name.maxLength = 20),
      ['POST /things: body.name has maxLength 20 and no longer 60'],
    ],
    'a new pattern': [
      (d) => (bodyOf(d).properties.name.pattern = '^a'),
      ['POST /things: body.name has another pattern'],
    ],
    'a parameter that is gone': [
      (d) => (d.paths['/things'].get.parameters = []),
      ['GET /things: query parameter state is gone'],
    ],
    'a new required parameter': [
      (d) =>
        d.paths['/things'].get.parameters.push({ name: 'q', in: 'query', required: true, schema: { type: 'string' } }),
      ['GET /things: query parameter q is new and required'],
    ],
    'a body where there was none': [
      (d) => (d.paths['/things'].get.requestBody = d.paths['/things'].post.requestBody),
      ['GET /things: now requires a body'],
    ],
    'tokens that are no longer taken': [
      (d) => (d.paths['/things'].get.security = [{ session: [] }]),
      ['GET /things: no longer takes token'],
    ],
    'a kind of account that may no longer call it': [
      (d) => (d.paths['/things'].get['x-access'] = { staff: ['things:read'] }),
      ['GET /things: is no longer for customer'],
    ],
  }
  for (const [name, [change, words]] of Object.entries(cases)) test(name, () => expect(brokenBy(change)).toEqual(words))
})

describe('breaks no client', () => {
  const cases: Record<string, (d: Json) => void> = {
    'the same document': () => {},
    'a new operation': (d) => (d.paths['/others'] = d.paths['/things']),
    'a new optional body field': (d) => (bodyOf(d).properties.owner = { type: 'string' }),
    'a new response field': (d) => (thingOf(d).properties.owner = { type: 'string' }),
    'a wider enum in a body': (d) => bodyOf(d).properties.size.enum.push('xl'),
    'a looser limit': (d) => (bodyOf(d).properties.name.maxLength = 90),
    'a new optional parameter': (d) =>
      d.paths['/things'].get.parameters.push({ name: 'q', in: 'query', schema: { type: 'string' } }),
    'a response that is referred to and no longer written out': (d) =>
      (d.paths['/things'].post.responses['201'] = json(ref('Thing'))),
    'a schema of another name': (d) => {
      d.components.schemas.Item = JSON.parse(JSON.stringify(thingOf(d)))
      d.components.responses.made = json(ref('Item'))
    },
  }
  for (const [name, change] of Object.entries(cases)) test(name, () => expect(brokenBy(change)).toEqual([]))
  test('the product, compared with itself', () => expect(breakingChanges(current(), current())).toEqual([]))
})
