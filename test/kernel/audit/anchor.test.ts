// S58: the head of the audit chain is kept outside the database too, so that lines cut off its end show.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { anchorOf } from '../../../src/kernel/audit/anchor.ts'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { moveAnchorOn } from '../../../src/platform/audit/anchoring.ts'
import { type Panel, panel } from '../../support/world/panel.ts'

const verify = (p: Panel) => p.admin('GET', '/admin/audit/verify')
const add = (p: Panel, name: string) => p.admin('POST', '/admin/packages', { name, vcpus: 1, memoryMb: 64, diskGb: 1 })
const anchor = (p: Panel) => moveAnchorOn(p.db, p.controller.app)
const fileOf = (p: Panel) => anchorOf(p.dir)
const inFile = (p: Panel) => JSON.parse(readFileSync(fileOf(p), 'utf8'))
const attention = async (p: Panel) =>
  (await p.admin('GET', '/admin/overview')).attention.map(({ what }: { what: string }) => what).join('\n')
/** Changes the file of the database; who can write it can drop the triggers, too. */
const behind = (p: Panel, sql: string) => {
  p.db.$client.run('DROP TRIGGER IF EXISTS audit_is_append_only')
  p.db.$client.run('DROP TRIGGER IF EXISTS audit_is_never_deleted')
  p.db.$client.run(sql)
}
async function anchored() {
  const p = await panel()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await add(p, name)
  anchor(p)
  expect(await verify(p)).toEqual({
    lines: 5,
    ok: true,
    brokenAt: null,
    anchor: { line: 5, at: expect.any(String), state: 'matches' },
  })
  return p
}
const broken = { ok: false, anchor: { state: 'differs' } }

describe('S58: the anchor of the audit log', () => {
  test('is none before the first line, and then a whole file for its owner alone', async () => {
    using p = await panel()
    anchor(p)
    expect([existsSync(fileOf(p)), (await verify(p)).anchor]).toEqual([false, null])
    await add(p, 'a')
    anchor(p)
    expect(statSync(fileOf(p)).mode & 0o777).toBe(0o600)
    expect(existsSync(`${fileOf(p)}.new`)).toBe(false)
    expect(inFile(p)).toMatchObject({ line: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })
  test('moves on with the log, also over a restart, and lines after it are no contradiction', async () => {
    using p = await anchored()
    await add(p, 'f')
    expect(await verify(p)).toMatchObject({ lines: 6, ok: true, anchor: { line: 5, state: 'matches' } })
    await p.crash()
    anchor(p)
    expect(await verify(p)).toMatchObject({ ok: true, anchor: { line: 6, state: 'matches' } })
    expect(await attention(p)).not.toContain('audit log')
  })
  for (const [how, sql] of [
    ['the newest line is cut off', 'DELETE FROM audit WHERE seq = 5'],
    ['the newest lines are cut off', 'DELETE FROM audit WHERE seq > 2'],
    ['every line is cut off', 'DELETE FROM audit'],
  ] as const)
    test(`shows that ${how}, which the chain itself does not`, async () => {
      using p = await anchored()
      behind(p, sql)
      expect(await verify(p)).toMatchObject({ ...broken, brokenAt: null })
      expect(await attention(p)).toContain('The newest lines of the audit log are missing or were replaced.')
      // It is the proof: neither time nor a restart nor lines that come later move it on.
      const proof = readFileSync(fileOf(p), 'utf8')
      anchor(p)
      for (const name of ['x1', 'x2', 'x3', 'x4', 'x5', 'x6']) await add(p, name)
      anchor(p)
      await p.crash()
      anchor(p)
      expect(readFileSync(fileOf(p), 'utf8')).toBe(proof)
      expect(await verify(p)).toMatchObject(broken)
    })
  test('shows that the newest lines were replaced by others that follow from those before', async () => {
    using p = await anchored()
    behind(p, 'DELETE FROM audit WHERE seq > 3')
    for (const name of ['other', 'lines', 'instead']) await add(p, name)
    expect(await verify(p)).toMatchObject({ ...broken, lines: 6, brokenAt: null })
  })
  test('does not stand when it was changed, or signed with another key', async () => {
    using p = await anchored()
    const head = inFile(p)
    behind(p, 'DELETE FROM audit WHERE seq > 3')
    const { hash } = p.db.$client.query<{ hash: string }, []>('SELECT hash FROM audit WHERE seq = 3').get()!
    const foreign = secretsWith(Buffer.alloc(32, 8)).mac('audit head', JSON.stringify([3, hash, head.at]))
    for (const forged of [
      JSON.stringify({ ...head, line: 3, hash }),
      JSON.stringify({ ...head, line: 3, hash, signature: foreign }),
      JSON.stringify({ ...head, line: 3, hash, signature: '' }),
      '{}',
      '',
      'null',
    ]) {
      writeFileSync(fileOf(p), forged)
      expect(await verify(p)).toMatchObject({ ok: false, anchor: { state: 'not_signed' } })
      expect(await attention(p)).toContain('The anchor of the audit log is not signed')
      anchor(p)
      expect(readFileSync(fileOf(p), 'utf8')).toBe(forged)
    }
  })
  test('deleted under the running controller is written again, and lines cut off meanwhile still show', async () => {
    using p = await anchored()
    rmSync(fileOf(p))
    anchor(p)
    expect(inFile(p).line).toBe(5)
    rmSync(fileOf(p))
    behind(p, 'DELETE FROM audit WHERE seq > 3')
    anchor(p)
    expect(existsSync(fileOf(p))).toBe(false)
    expect(await verify(p)).toMatchObject(broken)
  })
  test('begins anew once people have moved it away and the controller has started again', async () => {
    using p = await anchored()
    behind(p, 'DELETE FROM audit WHERE seq > 3')
    rmSync(fileOf(p))
    await p.crash()
    anchor(p)
    expect(await verify(p)).toMatchObject({ ok: true, anchor: { line: 3, state: 'matches' } })
  })
  test('outlives the rotation of the key, and no older key is left that signs it', async () => {
    using p = await anchored()
    const before = inFile(p)
    await p.admin('POST', '/admin/settings/secrets/actions/rotate')
    expect(inFile(p)).toEqual({ ...before, signature: expect.any(String) })
    expect(inFile(p).signature).not.toBe(before.signature)
    expect(await verify(p)).toMatchObject({ ok: true, anchor: { line: 5, state: 'matches' } })
  })
  test('is shown on the page, as there, missing, contradicted and not signed', async () => {
    using p = await anchored()
    const { cookie } = p.staff()
    const page = async () =>
      (
        await p.controller.router.fetch(
          new Request('http://localhost/admin/audit/verify', { headers: { Cookie: `__Host-panel=${cookie}` } }),
        )
      ).text()
    expect(await page()).toContain('The end of the log is complete.')
    behind(p, 'DELETE FROM audit WHERE seq > 3')
    expect(await page()).toContain('Lines are missing at the end, or were replaced.')
    writeFileSync(fileOf(p), 'x')
    expect(await page()).toContain('The anchor is not signed with a key of the key file.')
    rmSync(fileOf(p))
    await p.crash()
    expect(await page()).toContain('There is no anchor yet.')
  })
  test('is moved on at an orderly stop', async () => {
    const p = await panel()
    p.controller.start()
    await add(p, 'a')
    await p.controller.stop(async () => {})
    expect(inFile(p).line).toBe(1)
    rmSync(p.dir, { recursive: true })
  })
})
