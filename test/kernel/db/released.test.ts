// This program brings the database of every release up to date, with all its data.
//
// A release is kept by `RELEASE=1.0.0 .tools/bun test test/kernel`: it writes the names and checksums of the migrations
// there are into migrations/released.json, and a database with something of everything into
// test/kernel/db/released/1.0.0.sql. From then on a migration that it names cannot be edited without failing here.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { migrations } from '../../../migrations/index.ts'
import list from '../../../migrations/released.json'
import { configFrom } from '../../../src/app/config.ts'
import { createController } from '../../../src/app/controller.ts'
import { operations } from '../../../src/app/features.ts'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { checksumOf, migrate } from '../../../src/kernel/db/migrate.ts'
import { openDb } from '../../../src/kernel/db/open.ts'
import { countsIn, dump, restore, schemaOf } from '../../support/dump.ts'
import { everything } from '../../support/world/everything.ts'

type Release = { release: string; migrations: Record<string, string> }
const releases: Release[] = list
const dumpOf = (release: string) => `${import.meta.dir}/released/${release}.sql`
const own = Object.fromEntries(migrations.map(({ name, sql }) => [name, checksumOf(sql)]))

const stateOfToday = async () => {
  using p = await everything({ features: [] })
  return dump(p.db.$client)
}

const fresh = () => {
  const file = new Database(':memory:', { strict: true })
  migrate(file)
  return file
}

test.skipIf(!process.env['RELEASE'])('the release of today is kept', async () => {
  const release = process.env['RELEASE']!
  mkdirSync(`${import.meta.dir}/released`, { recursive: true })
  await Bun.write(dumpOf(release), await stateOfToday())
  const kept = [...releases.filter((other) => other.release !== release), { release, migrations: own }]
  await Bun.write(`${import.meta.dir}/../../../migrations/released.json`, JSON.stringify(kept, null, 2) + '\n')
})

describe('migrations that are in a release', () => {
  for (const { release, migrations: then } of releases)
    test(`${release} are what they were, and stand before all others`, () => {
      const names = Object.keys(then)
      expect(Object.fromEntries(names.map((name) => [name, own[name]]))).toEqual(then)
      expect(migrations.slice(0, names.length).map(({ name }) => name)).toEqual(names)
      expect(existsSync(dumpOf(release))).toBe(true)
    })
  test('each hold what the one before held', () => {
    for (const [i, { migrations: then }] of releases.entries())
      if (i) expect(Object.keys(then)).toEqual(expect.arrayContaining(Object.keys(releases[i - 1]!.migrations)))
  })
})

// R15. The state of today goes the same way, so that the way is known to be good before there is a release.
describe('R15: a database', () => {
  const states: [string, () => Promise<string>][] = [
    ['of today', stateOfToday],
    ...releases.map(({ release }): [string, () => Promise<string>] => [
      `of ${release}`,
      () => Bun.file(dumpOf(release)).text(),
    ]),
  ]
  for (const [name, textOf] of states)
    test(`${name} has today’s schema and all its rows afterwards, and everything in it can be read`, async () => {
      const dir = mkdtempSync(`${tmpdir()}/berth-released-`)
      try {
        restore(`${dir}/berth.db`, await textOf())
        const before = new Database(`${dir}/berth.db`)
        const counts = countsIn(before)
        before.close()
        expect(Object.values(counts).filter((n) => n > 0).length).toBeGreaterThan(15)

        const db = openDb(`${dir}/berth.db`)
        expect(schemaOf(db.$client)).toEqual(schemaOf(fresh()))
        expect(countsIn(db.$client)).toMatchObject({ ...counts, migrations: migrations.length })
        expect(db.$client.query('PRAGMA foreign_key_check').all()).toEqual([])
        expect(db.$client.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })

        const config = configFrom({ PANEL_DATA_DIR: dir })
        const controller = await createController({ config, db, secrets: secretsWith(Buffer.alloc(32, 7)) })
        let pages = 0
        for (const op of operations.filter(({ method, path }) => method === 'GET' && !path.includes('{'))) {
          const answer = await controller.fetchLocal(new Request(`http://localhost/api/v1${op.path}`))
          expect([op.id, answer.status < 500]).toEqual([op.id, true])
          await answer.text()
          if (op.pages && answer.ok) pages++
        }
        expect(pages).toBeGreaterThan(10)
        db.$client.close()
      } finally {
        rmSync(dir, { recursive: true, force: true })
      }
    })
})
