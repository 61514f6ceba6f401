import { expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { SolusPanel } from '../simulators/solusvm2.ts'
import { turn } from '../world.ts'
import { importOf, scratch } from './served.ts'

test(
  'Cancel import deletes its stored credentials and what was read: neither is in the file of the database, nor in a ' +
    'backup that is made afterwards',
  async () => {
    const panel = new SolusPanel({ servers: 30 })
    using p = await importOf(panel, 'solusvm2')
    const { $client } = p.db
    const { text } = $client.query('SELECT encrypted_credentials AS text FROM imports').get() as { text: string }
    const secrets = [text, text.slice(text.length / 3, text.length / 2), 'server-17.example.com', 'locked@example.com']
    let backups = 0
    /** The secrets that the database on the disk has, or a backup of it. */
    const found = () => {
      const backup = `${scratch}/berth-erased-${process.pid}-${backups++}.db`
      $client.run('PRAGMA wal_checkpoint(TRUNCATE)')
      $client.prepare('VACUUM INTO ?').run(backup)
      const files = [`${p.dir}/berth.db`, `${p.dir}/berth.db-wal`, backup].map((file) => readFileSync(file, 'latin1'))
      rmSync(backup)
      return secrets.filter((secret) => files.some((content) => content.includes(secret)))
    }
    expect(found()).toEqual(secrets)
    await p.admin('POST', `/admin/migrations/${p.id}/actions/cancel`)
    await turn(p)
    expect(found()).toEqual([])
  },
)

test('other credentials take the place of the old ones, which are in the file of the database no more', async () => {
  using p = await importOf(new SolusPanel(), 'solusvm2')
  const stored = () => (p.db.$client.query('SELECT encrypted_credentials AS text FROM imports').get() as any).text
  const old: string = stored()
  await p.admin('POST', `/admin/migrations/${p.id}/actions/set-credentials`, { credentials: { token: 'another' } })
  expect(stored()).not.toBe(old)
  p.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(readFileSync(`${p.dir}/berth.db`, 'latin1').includes(old)).toBe(false)
  expect(readFileSync(`${p.dir}/berth.db`, 'latin1').includes(stored())).toBe(true)
})
