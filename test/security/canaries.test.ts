// Secrets planted in every field for one are looked for wherever something is kept or said.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { quieten } from '../../src/kernel/log.ts'
import { operations } from '../../src/operations.ts'
import { world } from '../support/panel.ts'

/** The fields of bodies that are secret, as `operation field`. */
const secretFields = (schema: any, path = ''): string[] =>
  schema.writeOnly || schema.anyOf?.some((one: any) => one.writeOnly)
    ? [path]
    : Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => secretFields(inner, path ? `${path}.${name}` : name))

test('S33: nothing secret that is sent or answered stands in the database, the journal, the audit log, job logs, queues or on disk', async () => {
  const lines: string[] = []
  const write = process.stderr.write
  using p = await world()
  process.stderr.write = ((text: string) => lines.push(String(text)) > 0) as any
  quieten(false)
  const canaries = new Map<string, string>()
  const plant = (what: string) => {
    const text = `Canary ${what} ${Bun.randomUUIDv7()}`
    canaries.set(what, text)
    return text
  }
  try {
    // Each secret field of each operation, through the whole gate; what the rest of the body lacks is refused, and that is a path too.
    for (const op of operations) {
      if (!op.body) continue
      for (const field of secretFields(op.body)) {
        const body = structuredClone(op.example ?? {}) as any
        const path = field.split('.')
        let at = body
        for (const part of path.slice(0, -1)) at = at[part] ??= {}
        at[path.at(-1)!] = plant(`${op.id} ${field}`)
        const who = op.access === 'anyone' ? undefined : p.staff()
        await p.call(who, op.method, op.path.replace(/\{\w+\}/, p.customer.id), body, { 'Idempotency-Key': `k-${op.id}-${field}` })
        await p.call(who, op.method, op.path.replace(/\{\w+\}/, p.customer.id), { ...body, surprise: 1 })
      }
    }
    await p.call(undefined, 'POST', '/sessions', { email: 'nobody@x.test', password: plant('a wrong password') })
    const headers = { Authorization: `Bearer pnl_${plant('a wrong token').replace(/[^\w-]/g, '')}` }
    await p.call(undefined, 'GET', '/jobs', undefined, headers)
    canaries.set('a wrong token', headers.Authorization.slice(11))

    // What is answered once.
    const order = await p.call(p.owner, 'POST', '/admin/servers', p.order, { 'Idempotency-Key': 'once' })
    canaries.set('rootPassword', order.body.rootPassword)
    const token = await p.call(p.owner, 'POST', '/account/tokens', { name: 'T', scopes: ['servers:read'] })
    canaries.set('token', token.body.token)
    canaries.set('enrollment', (await p.call(p.owner, 'POST', '/admin/node-enrollments', { locationId: p.location })).body.token)
    canaries.set('session', p.owner.cookie!)
    await p.settle()

    // Something breaks while a secret is in hand.
    p.db.$client.run('ALTER TABLE roles RENAME TO gone')
    await p.call(undefined, 'POST', '/sessions', { email: 'ada@x.test', password: plant('while it breaks') })
    p.db.$client.run('ALTER TABLE gone RENAME TO roles')
    p.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    quieten(true)
    process.stderr.write = write
  }

  expect(canaries.size).toBeGreaterThan(8)
  for (const value of canaries.values()) expect(value.length).toBeGreaterThan(15)
  const kept = new Map<string, string>([['the journal', lines.join('')]])
  const walk = (dir: string) => {
    for (const it of readdirSync(dir, { withFileTypes: true })) {
      if (it.isDirectory()) walk(`${dir}/${it.name}`)
      else if (it.isFile()) kept.set(`${dir}/${it.name}`, readFileSync(`${dir}/${it.name}`, 'latin1'))
    }
  }
  walk(p.dir)
  expect([...kept.keys()].some((name) => name.endsWith('berth.db'))).toBe(true)
  expect(JSON.stringify(p.auditLines())).toContain('***')
  const found = [...kept].flatMap(([where, text]) =>
    [...canaries].filter(([, value]) => text.includes(value)).map(([what]) => `${what} in ${where.replace(p.dir, '')}`),
  )
  expect(found).toEqual([])
})
