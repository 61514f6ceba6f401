// Finishing an import: what it deletes, here and on source hypervisors.
import { expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { scratch } from '../../support/world/fresh-db.ts'
import { KVM_1 } from '../dry-run/world.ts'
import { refused, turn } from '../world.ts'
import { cleanTurn, type Moved, moved } from './world.ts'

const finish = (p: Moved) => p.admin('POST', `/admin/migrations/${p.id}/actions/finish`, { confirm: true })
const cleanUps = (p: Moved) => p.admin('GET', `/admin/migrations/${p.id}/clean-up`)

test('Finish deletes the stored API credential.', async () => {
  using p = await moved()
  const { $client } = p.db
  const row = $client.query('SELECT encrypted_credentials AS text FROM imports').get() as { text: string }
  const { text: kept } = $client.query('SELECT definition AS text FROM import_moves').get() as {
    text: string
  }
  const secrets = [row.text, row.text.slice(10, 60), kept]
  let backups = 0
  /** The secrets that the database on the disk has, or a backup of it. */
  const found = () => {
    const backup = `${scratch}/berth-finished-${process.pid}-${backups++}.db`
    $client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    $client.prepare('VACUUM INTO ?').run(backup)
    const files = [`${p.dir}/berth.db`, `${p.dir}/berth.db-wal`, backup].map((file) => readFileSync(file, 'latin1'))
    rmSync(backup)
    return secrets.filter((secret) => files.some((content) => content.includes(secret)))
  }
  expect(found()).toEqual(secrets)
  expect(await p.admin('GET', `/admin/migrations/${p.id}`)).toMatchObject({ hasCredentials: true })
  expect(await finish(p)).toMatchObject({ status: 'finished', hasCredentials: false })
  expect(found()).toEqual([])
  // Also of a backup that is made later, and once nodes have removed what was left.
  await cleanTurn(p)
  expect(found()).toEqual([])
})

test('what finishing ends is said first, and nothing is changed by asking', async () => {
  using p = await moved()
  const before = p.fingerprint()
  expect(await p.admin('GET', `/admin/migrations/${p.id}/finish`)).toEqual({
    ...{ title: 'panel.source.test:443', isPossible: true, reason: null, hasCredentials: true },
    ...{ canGoBack: 1, openChecks: 0, definitions: 1, keys: { nodes: 1, hypervisors: 1 } },
    stays: { refused: 0, leftOut: 0, failed: 0, waiting: 1 },
  })
  expect(p.fingerprint()).toBe(before)
})

test('an import that moves servers still is not finished, and neither is one at which jobs work', async () => {
  using p = await moved()
  const path = `/admin/migrations/${p.id}/actions/finish`
  p.db.$client.run("UPDATE imports SET status = 'migrating'")
  expect(await refused(p, 'POST', path, { confirm: true })).toEqual([409, 'import_not_moved'])
  p.db.$client.run("UPDATE imports SET status = 'verifying'")
  p.db.$client.run("UPDATE import_moves SET state = 'rolling_back'")
  expect(await refused(p, 'POST', path, { confirm: true })).toEqual([409, 'import_busy'])
  expect(await refused(p, 'POST', path, {})).toEqual([422, 'validation_failed'])
  p.db.$client.run("UPDATE import_moves SET state = 'moved'")
  await finish(p)
  expect(await refused(p, 'POST', path, { confirm: true })).toEqual([409, 'import_ended'])
})

test('nodes remove the kept definitions and their keys on each hypervisor, and nothing else there', async () => {
  using p = await moved()
  const keys = { hypervisorId: '1', password: 'canary' }
  await p.admin('POST', `/admin/migrations/${p.id}/actions/add-keys`, keys)
  await p.settle()
  const { nodeId } = p.db.$client.query('SELECT node_id AS nodeId FROM import_moves').get() as { nodeId: string }
  expect(p.sources.moving.keptAt(KVM_1, 'v1')).toContain('<name>v1</name>')
  expect(p.sources.linesAt(KVM_1).filter((line) => line.includes(nodeId))).toHaveLength(1)
  await finish(p)
  expect(await cleanUps(p)).toMatchObject({
    isDone: false,
    hypervisors: [{ name: 'kvm-1', state: 'waiting', definitionsLeft: 1, keysOf: ['fra-01'], address: KVM_1 }],
  })
  await cleanTurn(p)
  expect(p.sources.moving.keptAt(KVM_1, 'v1')).toBeUndefined()
  expect(p.sources.linesAt(KVM_1).filter((line) => line.includes(nodeId))).toEqual([])
  expect(await cleanUps(p)).toMatchObject({
    isDone: true,
    hypervisors: [{ state: 'done', definitionsLeft: 0, definitionsRemoved: 1, commands: [], words: null }],
  })
  // The server that did not move, and its own definition, are as they were.
  expect(p.sources.moving.eventsAt(KVM_1)).toEqual(['stop v1'])
})

test('what could not be reached is listed with the command for it, tried on, and can be asked for again', async () => {
  using p = await moved()
  await finish(p)
  p.sources.describe(KVM_1, { fails: 'source_unreachable' })
  await cleanTurn(p)
  const { hypervisors, isDone } = await cleanUps(p)
  const { nodeId } = p.db.$client.query('SELECT node_id AS nodeId FROM import_moves').get() as { nodeId: string }
  expect(isDone).toBe(false)
  expect(hypervisors[0]).toMatchObject({ state: 'waiting', words: expect.stringContaining('could not be reached') })
  expect(hypervisors[0].commands).toEqual([
    'rm -f /root/berth-import/v1.xml /root/berth-import/v1.autostart; rmdir /root/berth-import 2>/dev/null || true',
    `sed -i -e '/ berth-import:${nodeId}$/d' /root/.ssh/authorized_keys`,
  ])
  // A week of tries, then a person does it.
  for (let n = 0; n < 200; n++) {
    p.turnClock(3_600_000)
    await cleanTurn(p)
  }
  expect((await cleanUps(p)).hypervisors[0]).toMatchObject({ state: 'given_up', nextTryAt: null })
  p.sources.describe(KVM_1, { lets: 'everyone' })
  await p.admin('POST', `/admin/migrations/${p.id}/actions/clean-up`)
  await cleanTurn(p)
  expect(await cleanUps(p)).toMatchObject({ isDone: true })
  const again = p.admin('POST', `/admin/migrations/${p.id}/actions/clean-up`)
  expect(again).rejects.toThrow('already_done')
  await again.catch(() => {})
})

test('keys that another import still needs stay, and go with that one', async () => {
  using p = await moved()
  p.db.$client.run(
    `INSERT INTO imports (id, kind, name, address, status, billing, started_by, created_at)
     SELECT 'imp_other', kind, 'Other', address, 'mapping', billing, started_by, created_at FROM imports`,
  )
  p.db.$client.run(
    `INSERT INTO import_hosts SELECT 'imp_other', hypervisor_id, address, host_key, facts, at FROM import_hosts`,
  )
  await finish(p)
  expect((await cleanUps(p)).hypervisors[0]).toMatchObject({
    keysOf: [],
    words: 'The keys stay there: the import Other still needs them.',
  })
  await cleanTurn(p)
  expect((await cleanUps(p)).hypervisors[0]).toMatchObject({ state: 'done', keysRemoved: 0, definitionsRemoved: 1 })
})

test('a cancelled import removes its keys too, and says in Needs attention what it could not reach', async () => {
  using p = await moved({ sourceIds: [] })
  p.db.$client.run("UPDATE imports SET status = 'ready'")
  await p.admin('POST', `/admin/migrations/${p.id}/actions/cancel`)
  await turn(p)
  expect(p.db.$client.query('SELECT count(*) AS n FROM imports').get()).toEqual({ n: 0 })
  const rows = () => p.db.$client.query('SELECT state, has_keys, keys_removed, words FROM import_clean_ups').all()
  expect(rows()).toMatchObject([{ state: 'waiting', has_keys: 1 }])
  await cleanTurn(p)
  expect(rows()).toMatchObject([{ state: 'done', words: null }])
})

test('an import whose nodes have signed in nowhere leaves nothing to remove', async () => {
  using p = await moved({ sourceIds: [] })
  p.db.$client.run('DELETE FROM import_logins')
  p.db.$client.run("UPDATE imports SET status = 'ready'")
  await p.admin('POST', `/admin/migrations/${p.id}/actions/cancel`)
  expect(p.db.$client.query('SELECT count(*) AS n FROM import_clean_ups').get()).toEqual({ n: 0 })
})

test('an orderly crash between two hypervisors loses nothing: the rest is removed after the restart', async () => {
  using p = await moved()
  await finish(p)
  await p.crash()
  await cleanTurn(p)
  expect(await cleanUps(p)).toMatchObject({ isDone: true })
})
