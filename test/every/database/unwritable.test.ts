// S57: while the database cannot be written, every change of the API is refused with the reason before it does
// anything, and every read that needs no id answers as before.
import { expect, test } from 'bun:test'
import { API_ROOT } from '../../../src/kernel/api/http.ts'
import { world } from '../../support/world/panel.ts'
import { added, allOperations } from '../toy-feature/every-feature.ts'

const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
const anyId = (path: string) => path.replace(/\{\w+\}/g, `srv_${'0'.repeat(26)}`)

test('every change is refused with 503, reason and Retry-After; nothing is prepared and nothing happens', async () => {
  using p = await world({ features: added })
  const changes = allOperations.filter(({ method }) => method !== 'GET')
  expect(changes.length).toBeGreaterThan(50)
  const before = p.fingerprint()
  p.db.$client.health.met(full)
  for (const op of changes) {
    const request = new Request(`http://localhost${API_ROOT}${anyId(op.path)}`, {
      method: op.method,
      ...(op.example ? { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(op.example) } : {}),
    })
    const response = await p.controller.fetchLocal(request)
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect([op.id, response.status, error.code, response.headers.get('Retry-After')]).toEqual([
      op.id,
      503,
      'restarting',
      '60',
    ])
    expect(error.message).toStartWith('The disk of the database is full.')
  }
  expect(p.fingerprint()).toBe(before)
})

test('every read that needs no id answers as it does otherwise', async () => {
  using p = await world({ features: added })
  const { owner } = p
  const callers = [owner, p.token(owner.id)]
  const reads = allOperations.filter(
    ({ method, path, localOnly }) => method === 'GET' && !/\{/.test(path) && !localOnly,
  )
  expect(reads.length).toBeGreaterThan(20)
  const statuses = async () => {
    const found: string[] = []
    for (const who of callers)
      for (const { id, path } of reads) found.push(`${id} ${(await p.call(who, 'GET', path)).status}`)
    return found
  }
  const before = await statuses()
  expect(before.filter((line) => line.endsWith(' 200')).length).toBeGreaterThan(reads.length)
  p.db.$client.health.met(full)
  p.turnClock(600_000)
  expect(await statuses()).toEqual(before)
})
