// A location has one form in every response and every event: `location: { id, name }`.
import { expect, test } from 'bun:test'
import type { TSchema } from 'typebox'
import { locationReferred } from '../../../src/fleet/locations/reference.ts'
import { operations, registry } from '../toy-feature/every-feature.ts'

type Schema = TSchema & {
  title?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  patternProperties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
}
/** Fields that say a location, inside a schema, by their path. */
function locationsIn(schema: Schema, at: string): [string, Schema][] {
  const { properties = {}, items, anyOf = [], patternProperties = {}, additionalProperties: more } = schema
  return [
    ...Object.entries(properties).flatMap(([field, each]): [string, Schema][] =>
      /^(location|nodeGroup)(Id|Name)?$/.test(field) ? [[`${at}.${field}`, each]] : locationsIn(each, `${at}.${field}`),
    ),
    ...[...anyOf, ...Object.values(patternProperties)].flatMap((each) => locationsIn(each, at)),
    ...[items, typeof more === 'object' ? more : undefined].flatMap((each) => (each ? locationsIn(each, at) : [])),
  ]
}

const { complete, events } = registry
const found = [
  ...operations.flatMap((op) => locationsIn(complete(op.response) as Schema, op.id)),
  ...Object.entries(events).flatMap(([type, { data }]) => locationsIn(complete(data) as Schema, type)),
]

test('there are such fields, in records and in events', () => {
  const paths = found.map(([path]) => path)
  expect(paths).toContain('servers.get.location')
  expect(paths).toContain('server.created.server.location')
  expect(paths).toContain('gpu-instances.get.location')
  expect(paths.length).toBeGreaterThan(40)
})

test('each is `location`, with the id and the name', () => {
  const form = ({ title, properties }: Schema) => [title, Object.keys(properties ?? {})]
  const others = found.filter(
    ([path, schema]) => !(path.endsWith('.location') && Bun.deepEquals(form(schema), form(locationReferred as Schema))),
  )
  expect(others.map(([path]) => path)).toEqual([])
})
