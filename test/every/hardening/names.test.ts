// No text that people read is blank, and no name that reaches a node's command line looks like an option or a path.
import { describe, expect, test } from 'bun:test'
import { bridgeName } from '../../../agent/protocol/bounds.ts'
import type { ApiError } from '../../../src/kernel/api/errors.ts'
import { check, fits, REASON, SEEN_LINE } from '../../../src/kernel/api/validate.ts'
import { world } from '../../support/world/panel.ts'
import { allOperations, registry } from '../toy-feature/every-feature.ts'

const blanks = [
  '   ',
  '\u200b\u200b',
  '\u00a0',
  '\u2003\u3000',
  '\u3164',
  '\u115f\u1160',
  '\u00ad',
  '\u2800',
  '\u0301',
  '\t',
]
/** Words by which fields are called that people read. */
const NAME_LIKE = /(?:^|[a-z])(?:name|label|title|organization|reason|text|description|note)$/i

type Schema = {
  type?: string
  title?: string
  writeOnly?: boolean
  anyOf?: Schema[]
  properties?: Record<string, Schema>
}
type Found = { op: (typeof allOperations)[number]; field: string; schema: Schema }

/** Each field of each body that holds a text, with its schema. */
const texts = allOperations.flatMap((op): Found[] => {
  const fields = Object.entries((registry.complete(op.body) as Schema | undefined)?.properties ?? {})
  return fields.flatMap(([field, schema]) =>
    [schema, ...(schema.anyOf ?? [])]
      .filter((one) => one.type === 'string' && !one.writeOnly && !('enum' in one))
      .map((one) => ({ op, field, schema: one })),
  )
})
const forPeople = texts.filter(
  ({ field, schema }) => schema.title === SEEN_LINE || schema.title === REASON || NAME_LIKE.test(field),
)

function refusedFields(op: Found['op'], body: object): string[] {
  try {
    check(registry.complete(op.body), body)
  } catch (error) {
    return ((error as ApiError).details['fields'] as { field: string }[]).map(({ field }) => field)
  }
  return []
}

describe('a text that people read is refused when nothing of it can be seen:', () => {
  test('they are found', () => {
    expect(forPeople.length).toBeGreaterThan(40)
    expect(forPeople.filter(({ field }) => field === 'name').length).toBeGreaterThan(20)
  })
  for (const { op, field, schema } of forPeople)
    test(`${op.id} ${field}`, () => {
      for (const blank of blanks)
        expect([blank, refusedFields(op, { ...(op.example as object), [field]: blank })]).toEqual([
          blank,
          expect.arrayContaining([field]),
        ])
      // A reason needs a letter or a digit.
      const signs = schema.title === REASON ? [] : ['🚢', '!']
      // Names in the DNS and logins are no words of people.
      if (field !== 'hostname' && field !== 'registryUsername' && !op.id.startsWith('reverse-dns.'))
        for (const seen of ['Cal', ' a ', '東京', '7', 'e\u0301', ...signs])
          expect([seen, fits(schema as never, seen)]).toEqual([seen, true])
    })
})
describe('a name that a node gets as an argument', () => {
  const bad = ['--help', '-x', '..', '.', '.hidden', 'a/b', '../etc', 'a b', 'a;b', '$(id)', 'a\n', 'x'.repeat(16)]
  // A class of storage is compared with that of pools, and sent to no node.
  const isArgument = (field: string) =>
    /bridge|interface|pool$|storage|device/i.test(field) && !/(Id|Class)$/.test(field)
  const fields = texts.filter(({ field }) => isArgument(field))
  test('is found', () => expect(fields.map(({ op, field }) => `${op.id} ${field}`)).toContain('nodes.update bridge'))
  for (const { op, field, schema } of fields)
    test(`${op.id} ${field} is no option and no path`, () => {
      for (const name of bad) expect([name, fits(schema as never, name)]).toEqual([name, false])
      for (const name of ['br0', 'vmbr0', 'br-lan', 'br0.100', 'ovs_1']) expect(fits(schema as never, name)).toBe(true)
    })
  test('is the same on the wire', () => {
    for (const name of bad) expect([name, fits(bridgeName, name)]).toEqual([name, false])
  })
})

test('such a call changes nothing', async () => {
  using p = await world()
  const before = p.fingerprint()
  const calls = [
    ['POST', '/admin/customers', { name: '   ', email: 'c@customer.test' }],
    ['POST', '/admin/customers', { name: '\u200b\u200b', email: 'c@customer.test' }],
    ['POST', '/admin/node-groups', { name: '\u3164' }],
    ['PATCH', `/admin/packages/${p.pack}`, { name: ' ' }],
    ['PATCH', `/admin/nodes/${p.node.id}`, { bridge: '--help' }],
    ['PATCH', `/admin/nodes/${p.node.id}`, { bridge: '..' }],
  ] as const
  for (const [method, path, body] of calls) {
    const { status, body: answer } = await p.call(p.owner, method, path, body)
    expect([path, status, answer.error?.code]).toEqual([path, 422, 'validation_failed'])
  }
  expect((await p.call(p.owner, 'POST', '/admin/node-groups', { name: ' ' })).body.error.details.fields).toEqual([
    { field: 'name', message: 'must be one line of visible text.' },
  ])
  expect(p.fingerprint()).toBe(before)
})
