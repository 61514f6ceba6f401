// Daily backups of the controller's database into targets of the panel.
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { day, hour } from '../../../src/kernel/db/clock.ts'
import { Copy } from '../../../src/kernel/replica/copy.ts'
import { folderStore } from '../../../src/kernel/stores/folder.ts'
import { type World, world } from '../../support/world/panel.ts'

const dir = mkdtempSync('/tmp/berth-own-backups-')
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const path = '/admin/controller-backups'
let folders = 0
async function withTarget(p: World, isPrepared = true) {
  const folder = `${dir}/target${++folders}`
  mkdirSync(folder)
  if (isPrepared) writeFileSync(`${folder}/.berth-backups`, '')
  const { id } = await p.admin('POST', '/admin/backup-targets/local', { name: `Disk ${folders}`, address: folder })
  return { id: id as string, folder, prepare: () => writeFileSync(`${folder}/.berth-backups`, '') }
}
const plan = (p: World, targetIds: string[]) => p.admin('PUT', path, { targetIds, hour: 3, keepDays: 7 })
const makeDue = (p: World) => p.controller.app.controllerBackups.makeDue({ db: p.db, app: p.controller.app } as never)
const shown = (p: World) => p.admin('GET', path)
const attention = async (p: World) => JSON.stringify((await p.admin('GET', '/admin/overview')).attention)

describe('a backup of the controller', () => {
  test('is made at its hour, and again on the next day, and can be restored', async () => {
    using p = await world()
    const target = await withTarget(p)
    await plan(p, [target.id])
    await makeDue(p)
    expect((await shown(p)).targets).toMatchObject([{ id: target.id, lastAt: null, error: null }])
    p.turnClock(day)
    await makeDue(p)
    const [first] = (await shown(p)).targets
    expect(first).toMatchObject({ error: null, lastGoodAt: expect.any(String) })
    expect(first.bytes).toBeGreaterThan(1000)
    await makeDue(p)
    expect((await shown(p)).targets[0].lastAt).toBe(first.lastAt)
    p.turnClock(day)
    await makeDue(p)
    expect((await shown(p)).targets[0].lastAt).not.toBe(first.lastAt)

    const copy = new Copy(
      folderStore(`${target.folder}/berth-controller`),
      secretsWith(Buffer.alloc(32, 7)),
      `${dir}/restored.db`,
    )
    await copy.begin()
    await copy.finish()
    const db = new Database(copy.path)
    expect(db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    expect(db.query('SELECT name FROM backup_targets').get()).toEqual({ name: `Disk ${folders}` })
    db.close(true)
  })
  test('is made at once when somebody asks for it', async () => {
    using p = await world()
    expect((await p.call(p.owner, 'POST', `${path}/actions/make`)).body.error.code).toBe('no_backup_plan')
    const target = await withTarget(p)
    await plan(p, [target.id])
    await p.admin('POST', `${path}/actions/make`)
    await makeDue(p)
    expect((await shown(p)).targets[0].lastGoodAt).toEqual(expect.any(String))
    expect(await p.controller.app.controllerBackups.isRunning).toBe(false)
  })
  test('that nobody set up stands under Needs attention a day after the first server', async () => {
    using p = await world()
    const words = 'The controller has neither backups nor a replica.'
    p.turnClock(2 * day)
    expect(await attention(p)).not.toContain(words)
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    expect(await attention(p)).not.toContain(words)
    p.turnClock(day)
    expect(await attention(p)).toContain(words)
    await plan(p, [(await withTarget(p)).id])
    expect(await attention(p)).not.toContain(words)
  })
  test('that fails stands under Needs attention, and is tried again each hour', async () => {
    using p = await world()
    const target = await withTarget(p, false)
    await plan(p, [target.id])
    await p.admin('POST', `${path}/actions/make`)
    await makeDue(p)
    const [failed] = (await shown(p)).targets
    expect(failed).toMatchObject({ lastGoodAt: null, error: expect.stringContaining('Mount its disk') })
    expect(await attention(p)).toContain('The controller has no backup in one of its targets.')
    target.prepare()
    await makeDue(p)
    expect((await shown(p)).targets[0].lastAt).toBe(failed.lastAt)
    p.turnClock(hour)
    await makeDue(p)
    expect((await shown(p)).targets[0]).toMatchObject({ error: null, lastGoodAt: expect.any(String) })
    expect(await attention(p)).not.toContain('The controller has no backup')
  })
  test('that is too old stands under Needs attention', async () => {
    using p = await world()
    const target = await withTarget(p)
    await plan(p, [target.id])
    await p.admin('POST', `${path}/actions/make`)
    await makeDue(p)
    p.turnClock(27 * hour)
    expect(await attention(p)).toContain('The last good backup of the controller is of')
  })
  test('goes to no REST server, and to no target that there is not', async () => {
    using p = await world()
    const rest = { name: 'R', address: 'https://backups.example.com/x/', login: 'web', secret: 'hidden' }
    const { id } = await p.admin('POST', '/admin/backup-targets/rest', rest)
    for (const targetId of [id, 'bkt_00000000000000000000000000']) {
      const { status } = await p.call(p.owner, 'PUT', path, { targetIds: [targetId], hour: 3, keepDays: 7 })
      expect([404, 422]).toContain(status)
    }
    expect((await shown(p)).targets).toEqual([])
  })
})
