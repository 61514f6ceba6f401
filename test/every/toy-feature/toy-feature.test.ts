// A feature is its folder and one line: the toy feature is mounted here and nowhere else, and has all that a feature of
// the product has. The loops beside this file run over it too (every-feature.ts).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operationHelp } from '../../../src/app/commands/admin-help.ts'
import { registry as product } from '../../../src/app/features.ts'
import { openapi } from '../../../src/kernel/openapi/openapi.ts'
import { assemble } from '../../../src/kernel/registry.ts'
import { crashMatrix } from '../../support/crash-matrix/crash-matrix.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { lampsFeature } from './feature.ts'

/** The one line. */
const features = [lampsFeature]
const registry = assemble([...product.features, ...features])

let p: World
let mallory: { id: string } & Who
beforeAll(async () => {
  p = await world({ features })
  mallory = p.account('customer', 'Mallory')
})
afterAll(() => p.close())

const answer = async (who: Who | undefined, method: string, path: string, body?: unknown) => {
  const reply = await p.call(who, method, path, body)
  return { ...reply, code: reply.body.error?.code as string | undefined }
}
const buy = async (name: string) => (await p.call(p.customer, 'POST', '/lamps', { name })).body as { id: string }
const page = async (who: Who, path: string) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
  ).text()

describe('a feature from its folder and one line', () => {
  test('has routes and ids with its prefix', async () => {
    const { status, body } = await answer(p.customer, 'POST', '/lamps', { name: 'Hall' })
    expect([status, body.name, body.state]).toEqual([201, 'Hall', 'off'])
    expect(body.id).toMatch(/^lmp_[0-9a-z]{26}$/)
    const { data } = (await answer(p.customer, 'GET', '/lamps')).body
    expect(data.map(({ id }: { id: string }) => id)).toContain(body.id)
  })
  test('does not exist where the line is missing', async () => {
    using without = await world()
    expect((await without.call(without.customer, 'GET', '/lamps')).status).toBe(404)
    expect(product.operation('lamps.create')).toBeUndefined()
  })
  test('refuses who may not: 401 without credentials, 403 by kind, role and scope', async () => {
    expect((await answer(undefined, 'GET', '/lamps')).code).toBe('not_authenticated')
    expect((await answer(p.account('reseller', 'Rex'), 'GET', '/lamps')).code).toBe('forbidden')
    expect((await answer(p.staff([]), 'GET', '/lamps')).code).toBe('forbidden')
    expect((await answer(p.staff(['lamps.write']), 'GET', '/lamps')).status).toBe(200)
    const token = await answer(p.token(p.customer.id, ['lamps:read']), 'POST', '/lamps', { name: 'x' })
    expect([token.code, token.body.error.details]).toEqual(['missing_scope', { scopes: ['lamps:write'] }])
  })
  test('hides what belongs to others: 404 in the bytes of an id that never was', async () => {
    const { id } = await buy('Hidden')
    const foreign = await answer(mallory, 'GET', `/lamps/${id}`)
    const unreal = await answer(mallory, 'GET', `/lamps/lmp_${'0'.repeat(26)}`)
    expect([foreign.status, foreign.code]).toEqual([404, 'lamp_not_found'])
    expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(unreal.body))
  })
  test('has error codes with their status', async () => {
    const { id } = await buy('Twice')
    expect((await answer(p.customer, 'POST', `/lamps/${id}/actions/light`)).status).toBe(202)
    await p.settle()
    const again = await answer(p.customer, 'POST', `/lamps/${id}/actions/light`)
    expect([again.status, again.code]).toEqual([409, 'lamp_burning'])
  })
  test('writes an audit line for each change, with what was sent', async () => {
    const before = p.auditLines().length
    const { id } = await buy('Noted')
    expect(p.auditLines().slice(before)).toMatchObject([
      { operation: 'lamps.create', target: id, actorId: p.customer.id, result: 'done', details: { name: 'Noted' } },
    ])
  })
  test('runs jobs, and emits events', async () => {
    const { id } = await buy('Lit')
    const { jobId } = (await answer(p.customer, 'POST', `/lamps/${id}/actions/light`)).body
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ kind: 'light-lamp', state: 'succeeded' })
    expect((await answer(p.customer, 'GET', `/lamps/${id}`)).body.state).toBe('on')
    expect(p.events()).toContain('lamp.lit')
    expect(registry.events['lamp.lit']?.audience).toBe('resellers and customers')
  })
  test('stands in the OpenAPI document: operations, schema, codes, scopes, and examples of ids and values', () => {
    const document: any = JSON.parse(JSON.stringify(openapi(registry, { version: '0', root: '/' })))
    expect(document.paths['/lamps/{id}'].get.operationId).toBe('lamps.get')
    expect(document.components.schemas).toHaveProperty('Lamp')
    expect(JSON.stringify(document)).toContain('lamp_burning')
    expect(JSON.stringify(document.components.securitySchemes)).toContain('lamps:write')
    expect(JSON.stringify(document)).toMatch(/"id":"lmp_[0-9a-z]{26}","name":"Desk"/)
    expect(JSON.stringify(document)).toContain('"watts":60')
    expect(JSON.stringify(openapi(product, { version: '0', root: '/' }))).not.toContain('lamp')
  })
  test(
    'stands in the filters and fields that are about all features: codes of the audit log, permissions of ' + 'roles',
    async () => {
      expect((await answer(p.owner, 'GET', '/admin/audit?result=lamp_burning')).status).toBe(200)
      expect((await answer(p.owner, 'GET', '/admin/audit?result=no_such_code')).code).toBe('invalid_request')
      const role = { name: 'Lamps', permissions: ['lamps.write'] }
      expect((await answer(p.owner, 'POST', '/admin/roles', role)).status).toBe(201)
      const unknown = { name: 'None', permissions: ['lamps.smash'] }
      expect((await answer(p.owner, 'POST', '/admin/roles', unknown)).code).toBe('validation_failed')
    },
  )
  test('has a page, a navigation entry and an action, for those who may', async () => {
    await buy('Seen')
    expect(await page(p.customer, '/lamps')).toContain('Seen: off')
    const found = async (who: Who, q: string) =>
      (await answer(who, 'GET', `/search?q=${q}`)).body.data.map((f: any) => `${f.type} ${f.title} ${f.href}`)
    expect(await found(p.customer, 'lamp')).toEqual(['page Lamps /lamps', 'action Buy lamp /lamps#lamps-create'])
    expect(await found(p.account('reseller', 'Rio'), 'lamp')).toEqual([])
    expect(await page(p.customer, '/servers')).toContain('href="/lamps"')
    expect(await page(p.staff([]), '/admin')).not.toContain('href="/lamps"')
  })
  test('is found by the search, and named in the audit log, the checklist and under needs attention', async () => {
    const { id } = await buy('Lighthouse')
    const { data } = (await answer(p.customer, 'GET', '/search?q=lightho')).body
    const lamp = { type: 'lamp', id, title: 'Lighthouse', detail: 'off', href: `/lamps#${id}` }
    expect(data).toEqual([{ ...lamp, exact: false, terminated: false, actions: [] }])
    expect((await answer(mallory, 'GET', '/search?q=lightho')).body.data).toEqual([])
    const log = (await answer(p.owner, 'GET', `/admin/audit?target=${id}`)).body.data
    expect(log.map((l: any) => [l.operation, l.targetName])).toEqual([['lamps.create', 'Lighthouse']])
    p.db.$client.run("UPDATE lamps SET state = 'warming' WHERE id = ?", [id])
    const own = (await answer(p.customer, 'GET', '/overview')).body
    expect(own.attention.map((a: any) => a.what)).toContain('Lighthouse is warming up.')
    const step = ({ body }: any) => body.checklist.find((s: any) => s.title === 'First lamp')?.done
    expect(step(await answer(p.customer, 'GET', '/overview'))).toBe(true)
    expect(step(await answer(mallory, 'GET', '/overview'))).toBe(false)
  })
  test('has a `berth admin` command: System lists lamps, and the help knows the fields', async () => {
    const { total } = await p.admin('GET', '/lamps')
    expect(total).toBeGreaterThan(0)
    const help = operationHelp(registry.operation('lamps.create')!, registry)
    expect(help).toContain('berth admin lamps.create')
    expect(help).toContain('name')
  })
})

crashMatrix({
  sagas: registry.jobs,
  scenarios: [
    {
      name: 'lighting a lamp',
      kind: 'light-lamp',
      before: async (p) => (await p.call(p.customer, 'POST', '/lamps', { name: 'Matrix' })).body.id,
      async start(p, id) {
        const { jobId } = (await p.call(p.customer, 'POST', `/lamps/${id}/actions/light`)).body
        return { jobId, serverId: id }
      },
      succeeds: { state: 'on', lamps: 1, events: ['lamp.lit'], openJobs: 0 },
      fails: { state: 'off', lamps: 1, events: [], openJobs: 0 },
    },
  ],
  open: () => world({ features }),
  async measure(p, id) {
    const number = (sql: string) => p.db.$client.query<{ n: number }, []>(sql).get()!.n
    const { state } = p.db.$client.query<{ state: string }, [string]>('SELECT state FROM lamps WHERE id = ?').get(id)!
    return {
      state,
      lamps: number('SELECT count(*) AS n FROM lamps'),
      events: p.events(),
      openJobs: number("SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing')"),
    }
  },
})

describe('two features cannot declare the same', () => {
  test('id prefix, code, scope, permission, event or sample', () => {
    for (const field of ['ids', 'errors', 'scopes', 'permissions', 'events', 'samples'] as const) {
      const rival = { name: 'rival', [field]: lampsFeature[field] }
      expect(() => assemble([lampsFeature, rival])).toThrow('two features declare')
    }
  })
  test('nor a permission that opens a scope nobody declares', () =>
    expect(() => assemble([{ name: 'loose', permissions: { 'a.b': { words: 'A', opens: ['no:such'] } } }])).toThrow(
      'opens no:such',
    ))
})
