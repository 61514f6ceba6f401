// Query parameters of every call that has them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { queryOf } from '../../src/kernel/api/operation.ts'
import { type Who, type World, world } from '../support/world/panel.ts'
import { added, operations } from './toy-feature/every-feature.ts'

let p: World
let nobody: Who
beforeAll(async () => {
  p = await world({ features: added })
  nobody = p.staff([])
})
afterAll(() => p.close())

const refusal = async (who: Who, path: string, name: string, value: string) => {
  const { status, body } = await p.call(
    who,
    'GET',
    `${path.replace(/\{\w+\}/g, 'srv_1')}?${name}=${encodeURIComponent(value)}`,
  )
  return [name, value, status, body.error?.code, String(body.error?.message).includes(name)]
}

for (const op of operations.filter((op) => op.method === 'GET'))
  describe(op.id, () => {
    for (const [name, schema] of Object.entries(queryOf(op))) {
      const {
        enum: words,
        pattern,
        description,
      } = schema as { enum?: string[]; pattern?: string; description?: string }
      test(`says what ${name} does`, () => expect(description).toMatch(/^\S.*\.$/))
      const bad = [
        ...(op.id === 'search.find' ? [] : ['']),
        ...(words || pattern ? ['nonsense', `${words?.[0] ?? ''}x`, 'constructor'] : []),
      ]
      for (const value of bad)
        test(`refuses "${value}" as ${name} by its name, before it asks who may see the list`, async () => {
          for (const who of [p.owner, nobody])
            expect(await refusal(who, op.path, name, value)).toEqual([name, value, 400, 'invalid_request', true])
        })
    }
  })

test('an empty filter of a page asks for everything; its form sends what was left empty', async () => {
  const page = async (path: string) =>
    p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${p.owner.cookie}` } }),
    )
  for (const path of [
    '/admin/customers?q=&externalId=&locked=',
    '/admin/servers?q=&status=&locationId=',
    '/admin/jobs?state=&kind=',
    '/admin/audit?who=&since=',
  ])
    expect([path, (await page(path)).status]).toEqual([path, 200])
})

test('every list answers by pages: data, nextCursor and total', () => {
  // The best dozen of many kinds of things is no list.
  const others = operations
    .filter((op) => op.response.properties?.data?.type === 'array' && !op.pages)
    .map((op) => op.id)
  expect(others).toEqual(['choices.find', 'search.find'])
})
