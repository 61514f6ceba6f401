// The chain of the audit log: what the product writes holds together, and what anything else does to it shows.
import { describe, expect, test } from 'bun:test'
import { system } from '../../../src/kernel/api/actor.ts'
import { auditLine } from '../../../src/kernel/audit/audit.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { type Panel, panel, world } from '../../support/world/panel.ts'

/** The verdict of the chain itself; anchor.test.ts has the rest. */
const verify = async (p: Panel) => {
  const { anchor, ...chain } = await p.admin('GET', '/admin/audit/verify')
  expect(anchor).toBeNull()
  return chain
}
const add = (p: Panel, name: string) => p.admin('POST', '/admin/packages', { name, vcpus: 1, memoryMb: 64, diskGb: 1 })
const stored = (p: Panel) =>
  p.db.$client
    .query<{ id: string; seq: number; hash: string }, []>('SELECT id, seq, hash FROM audit ORDER BY seq')
    .all()
const places = (p: Panel) => stored(p).map((l) => l.seq)
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
const line = (p: Panel, details: unknown, name = 'System') =>
  write(p.db, (tx) =>
    auditLine(tx, p.controller.app, {
      actor: { ...system, name },
      operation: 'test',
      target: null,
      from: '',
      requestId: '',
      result: 'done',
      details,
    }),
  )
/** Changes the file directly. A writer of the file can drop the triggers, too. */
const behind = (p: Panel, sql: string, ...values: (string | number)[]) => {
  p.db.$client.run('DROP TRIGGER IF EXISTS audit_is_append_only')
  p.db.$client.run('DROP TRIGGER IF EXISTS audit_is_never_deleted')
  p.db.$client.run(sql, values)
}
async function five() {
  const p = await panel()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await add(p, name)
  expect(await verify(p)).toEqual({ lines: 5, ok: true, brokenAt: null })
  return p
}

describe('S34: the chain of the audit log', () => {
  test('holds when nothing is in it', async () => {
    using p = await panel()
    expect(await verify(p)).toEqual({ lines: 0, ok: true, brokenAt: null })
  })
  test('holds over many operations, refused sign-ins, jobs, parallel calls and a restart', async () => {
    using p = await world()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    await Promise.all([
      ...Array.from({ length: 40 }, (_, i) =>
        p.call(p.owner, 'POST', '/admin/customers', { name: `C ${i}`, email: `c${i % 30}@customer.test` }),
      ),
      ...Array.from({ length: 5 }, () =>
        p.call(undefined, 'POST', '/sessions', { email: 'no@body.test', password: 'x' }),
      ),
      ...Array.from({ length: 10 }, (_, i) =>
        p.call(p.token(p.owner.id), 'PATCH', `/admin/packages/${p.pack}`, { trafficGb: i + 1 }),
      ),
    ])
    await p.crash()
    await add(p, 'after')
    const n = p.auditLines().length
    expect(n).toBeGreaterThan(45)
    expect(places(p)).toEqual(upTo(n))
    expect(new Set(stored(p).map((l) => l.hash)).size).toBe(n)
    for (const { hash } of stored(p)) expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(await verify(p)).toEqual({ lines: n, ok: true, brokenAt: null })
  })
  test('holds whatever the line says', async () => {
    using p = await panel()
    for (const text of ['', 'ä 密 🚢', 'half \ud83d a ship', 'nul \0 in it', '"quoted"\n', '\u2028'])
      line(p, { text, deep: [null, 1.5, { text }] }, text)
    for (const details of [null, undefined, 0, false, '', []]) line(p, details)
    expect(await verify(p)).toEqual({ lines: 12, ok: true, brokenAt: null })
  })
  test('has no gap where a transaction was taken back', async () => {
    using p = await five()
    const before = p.fingerprint()
    expect(() =>
      write(p.db, (tx) => {
        auditLine(tx, p.controller.app, {
          actor: system,
          operation: 'test',
          target: null,
          from: '',
          requestId: '',
          result: 'done',
          details: null,
        })
        throw new Error('no')
      }),
    ).toThrow('no')
    await expect(add(p, 'a')).rejects.toThrow('name_taken')
    expect(p.fingerprint()).toBe(before)
    await add(p, 'f')
    expect(places(p)).toEqual(upTo(6))
    expect(await verify(p)).toEqual({ lines: 6, ok: true, brokenAt: null })
  })
  for (const [column, value] of [
    ['at', 1],
    ['actor_id', 'usr_x'],
    ['actor_name', 'Mallory'],
    ['via', 'page'],
    ['operation', 'x'],
    ['target', 'x'],
    ['from_address', '192.0.2.1'],
    ['request_id', 'x'],
    ['result', 'x'],
    ['details', '{}'],
    ['changes', '[]'],
    ['job_id', 'job_x'],
    ['seq', 99],
    ['hash', 'x'],
  ] as const)
    test(`is broken at a line whose ${column} was changed behind its back`, async () => {
      using p = await five()
      const third = stored(p)[2]!
      behind(p, `UPDATE audit SET ${column} = ? WHERE id = ?`, value, third.id)
      // A line that was moved away shows at the one that follows the hole.
      const expected = column === 'seq' ? stored(p)[2]!.id : third.id
      expect(await verify(p)).toEqual({ lines: 5, ok: false, brokenAt: expected })
    })
  test('is broken after a line that was removed, also the first', async () => {
    for (const n of [0, 2]) {
      using p = await five()
      const [gone, next] = stored(p).slice(n)
      behind(p, 'DELETE FROM audit WHERE id = ?', gone!.id)
      expect(await verify(p)).toEqual({ lines: 4, ok: false, brokenAt: next!.id })
    }
  })
  for (const seq of [null, 6])
    test(`is broken by a line put in beside the product with ${seq ?? 'no'} place`, async () => {
      using p = await five()
      p.db.$client.run(
        "INSERT INTO audit VALUES ('aud_forged', 1, 'x', 'x', 'page', 'x', NULL, '', '', 'done', NULL, ?, NULL, " +
          'NULL, NULL)',
        [seq],
      )
      expect(await verify(p)).toEqual({ lines: 6, ok: false, brokenAt: 'aud_forged' })
    })
  test('is read by who may read the log, on a page too', async () => {
    using p = await five()
    const owner = p.staff()
    const page = async () =>
      (
        await p.controller.router.fetch(
          new Request('http://localhost/admin/audit/verify', { headers: { Cookie: `__Host-panel=${owner.cookie}` } }),
        )
      ).text()
    expect(await page()).toContain('<strong>The chain is intact.</strong> 5 lines checked')
    const { id } = stored(p)[1]!
    behind(p, "UPDATE audit SET result = 'x' WHERE id = ?", id)
    expect(await page()).toContain(`<strong>The chain is broken at <code>${id}</code>.</strong>`)
    expect((await p.call(p.staff(['nodes.read']), 'GET', '/admin/audit/verify')).body.error.code).toBe('forbidden')
  })
})
