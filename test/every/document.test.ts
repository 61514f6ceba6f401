// docs/api.md is written by people, its tables by the lists that they are of. GOLDEN=write writes them.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { operations, registry } from '../../src/app/features.ts'
import { stateTableOf } from '../../src/fleet/workloads/states/rows.ts'
import { statuses } from '../../src/fleet/workloads/status.ts'
import { accountKinds } from '../../src/identity/account-records/kinds.ts'
import { presets } from '../../src/identity/tokens/presets.ts'
import type { Scope } from '../../src/kernel/api/access.ts'
import { checksOf } from '../../src/kernel/api/http.ts'
import { jobFailures } from '../../src/kernel/jobs/failures.ts'
import { openapi } from '../../src/kernel/openapi/openapi.ts'
import { clientTypes } from '../integrations/client-types.ts'
import { typeOf } from '../kernel/openapi/shape.ts'
import { golden } from '../support/golden.ts'
import { permissions, scopes, scopesOf } from '../support/world/rights.ts'

const { errors } = registry
const row = (...cells: string[]) => `| ${cells.join(' | ')} |`
const table = (heads: string[], rows: string[][]) =>
  [row(...heads), row(...heads.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n')

const staffRights = (scope: Scope) =>
  Object.values(permissions).some(({ opens }) => (opens as readonly Scope[]).includes(scope))
const tables: Record<string, string> = {
  scopes: table(
    ['scope', 'lets a token', 'of', 'in preset'],
    Object.entries(scopes).map(([name, { words }]) => [
      `\`${name}\``,
      words[0]!.toLowerCase() + words.slice(1),
      accountKinds
        .filter((kind) =>
          kind === 'staff'
            ? staffRights(name as Scope) || scopesOf('staff').has(name as Scope)
            : scopesOf(kind).has(name as Scope),
        )
        .join(', '),
      Object.entries(presets)
        .flatMap(([preset, list]) => ((list as readonly string[]).includes(name) ? [`\`${preset}\``] : []))
        .join(', '),
    ]),
  ),
  codes: table(
    ['status', 'code', 'when', 'what to do'],
    Object.entries(errors)
      .toSorted(([, a], [, b]) => a.status - b.status)
      .map(([code, { status, when, remedy }]) => [`${status}`, `\`${code}\``, when, remedy]),
  ),
  order: checksOf(errors)
    .map((list, i) => {
      const many = list.length > 6
      const words = list[0]!.endsWith('_not_found') ? '`…_not_found`' : 'whatever its state refuses'
      return (
        `${i + 1}. ${errors[list[0]!].status} ` +
        `${many && errors[list[0]!].status !== 403 ? words : list.map((code) => `\`${code}\``).join(', ')}`
      )
    })
    .join('\n'),
  lists: table(
    ['list', 'rows when nothing is said', 'at most'],
    operations.flatMap((op) => (op.pages ? [[`\`GET ${op.path}\``, `${op.pages.usual}`, `${op.pages.most}`]] : [])),
  ),
  states: table(
    ['action', ...statuses.map((status) => `\`${status}\``)],
    Object.entries(stateTableOf(registry.features, 'server')).map(([action, { cells }]) => [
      action,
      ...statuses.map((status) => (cells[status] === 'allowed' ? 'allowed' : `\`${cells[status]}\``)),
    ]),
  ),
  keys:
    'Calls that take one: ' +
    `${operations.flatMap((op) => (op.idempotent ? [`\`${op.method} ${op.path}\``] : [])).join(', ')}.`,
}

/** The lists that docs/webhooks.md is made of: every type with the fields of its data, and the records in them. */
const document = JSON.parse(JSON.stringify(openapi(registry, { version: '0', root: '' })))
const dataOf = (type: string) =>
  document.webhooks[type].post.requestBody.content['application/json'].schema.properties.data
const fieldsOf = ({ properties, required = [] }: any): string =>
  Object.entries<any>(properties)
    .map(([name, schema]) => {
      const [type, words] = [typeOf(schema), schema.description]
      return `\`${name}${required.includes(name) ? '' : '?'}: ${type}\`${words ? ` (${words.replace(/\.$/, '')})` : ''}`
    })
    .join(', ')
    .replaceAll('|', '\\|')
const records = Object.entries<any>(document.components.schemas).filter(([name]) =>
  /^(?:Event[A-Z]|LocationReference$)/.test(name),
)
const webhookTables = {
  events: table(
    ['type', 'goes to staff and to', 'when', 'fields of `data`'],
    Object.entries(registry.events).map(([type, { audience, words }]) => [
      `\`${type}\``,
      audience === 'staff only' ? 'nobody else' : audience,
      words,
      fieldsOf(dataOf(type)),
    ]),
  ),
  records: table(
    ['record', 'fields'],
    records
      .filter(([name]) => name !== 'EventType' && name !== 'EventPage')
      .map(([name, schema]) => [`\`${name}\``, fieldsOf(schema)]),
  ),
}

const rightsTables = {
  permissions: table(
    ['permission', 'in words', 'opens the scopes'],
    Object.entries(permissions).map(([name, { words, opens }]) => [
      `\`${name}\``,
      words,
      opens.map((scope) => `\`${scope}\``).join(', ') || 'none',
    ]),
  ),
}

/** The text of the file with its tables made anew. */
const filled = (path: string, tables: Record<string, string>) =>
  Object.entries(tables).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`),
        (_, start, end) => `${start}${table}\n${end}`,
      ),
    readFileSync(new URL(`../../${path}`, import.meta.url).pathname, 'utf8'),
  )

describe('docs/webhooks.md', () => {
  test('has every type of event with the fields that its declaration makes', () => {
    const written = filled('docs/webhooks.md', webhookTables)
    golden('docs/webhooks.md', written)
    for (const table of Object.values(webhookTables)) expect(written).toContain(table)
  })
})

describe('docs/staff-rights.md', () => {
  test('has every permission with the scopes that it opens', () => {
    const written = filled('docs/staff-rights.md', rightsTables)
    golden('docs/staff-rights.md', written)
    for (const table of Object.values(rightsTables)) expect(written).toContain(table)
  })
})

describe('docs/api.md', () => {
  test(
    'has the tables that its lists make: run GOLDEN=write bun test test/every/document.test.ts after a change ' +
      'of a list',
    () => {
      const written = filled('docs/api.md', tables)
      golden('docs/api.md', written)
      for (const table of Object.values(tables)) expect(written).toContain(table)
    },
  )
  test('names no code, scope, path or preset that there is not', () => {
    const text = readFileSync(new URL('../../docs/api.md', import.meta.url).pathname, 'utf8').replace(
      /<!-- (\w+) -->[\s\S]*?<!-- \/\1 -->/g,
      '',
    )
    const prose = text.replace(/```[\s\S]*?```/g, '')
    const known = new Set([
      ...Object.keys(errors),
      ...Object.keys(jobFailures),
      'queued',
      'running',
      'succeeded',
      'failed',
      'deprecated',
      'billing',
      ...statuses,
    ])
    for (const [, word] of prose.matchAll(/`([a-z]+(?:_[a-z]+)*)`/g))
      if (word!.includes('_')) expect([...known]).toContain(word!)
    const paths = operations.map((op) => new RegExp(`^${op.path.replace(/\{\w+\}/g, '[^/]+')}$`))
    for (const [, , path] of text.matchAll(/(GET|POST|DELETE|PUT|PATCH) "?(\/[^\s`"?)]+)/g))
      expect([path, paths.some((p) => p.test(path!.replace(/\{\w+\}|\$\w+/g, 'x')))]).toEqual([path, true])
  })
})

test('the TypeScript client has every operation as the document describes it', () => {
  golden('integrations/client-ts/api.ts', clientTypes(document))
})
