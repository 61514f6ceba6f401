// Ids in the bodies of every call: an empty one is a mistake, never "none" and never "every".
import { expect, test } from 'bun:test'
import type { TSchema } from 'typebox'
import { fits } from '../../src/kernel/api/validate.ts'
import { added, operations } from './toy-feature/every-feature.ts'

/** Texts that people choose, or that another system calls by a name like an id. */
const noIdsOfOurs = new Set(['clientId', 'externalId', 'ownerExternalId', 'billingProductId', 'billingServiceId'])

type Schema = TSchema & { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] }
/** Every schema of an id inside a schema, by the path of its field. */
function idsIn(schema: Schema, at = ''): [string, Schema][] {
  const name = at.split('.').at(-1)!
  if (/(?:^i|I)ds?$/.test(name) && !noIdsOfOurs.has(name)) return [[at, schema.items ?? schema]]
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([field, each]) => idsIn(each, at ? `${at}.${field}` : field)),
    ...(schema.anyOf ?? []).flatMap((each) => idsIn(each, at)),
    ...(schema.items ? idsIn(schema.items, at) : []),
  ]
}

const found = operations.flatMap((op) =>
  op.body ? idsIn(op.body as Schema).map(([at, id]) => [op.id, at, id] as const) : [],
)

test('there are such fields, also of features that are added', () => {
  expect(found.length).toBeGreaterThan(20)
  expect(found.map(([id, at]) => `${id} ${at}`)).toContain('servers.create nodeId')
  expect(added.length).toBeGreaterThan(0)
})

for (const [id, at, schema] of found) test(`${id} refuses an empty ${at}`, () => expect(fits(schema, '')).toBe(false))
