// S56: one controller per data directory, and never an empty or another database in place of the one that was there.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { type Installation, installation } from '../../../support/world/processes.ts'
import { berth, freePort } from '../../../support/world/program.ts'

let live: Installation
beforeEach(async () => void (live = await installation()))
afterEach(() => live.close())

const start = (more: Record<string, string> = {}) => {
  const child = Bun.spawn([...live.program, 'serve'], {
    env: { PATH: process.env['PATH']!, ...live.env, PANEL_LISTEN: `127.0.0.1:${freePort()}`, ...more },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  return { child, listen: child.pid, said: new Response(child.stderr).text() }
}
const answers = (controller: Subprocess) => controller.exitCode === null && controller.signalCode === null
const customers = async (token: string) =>
  (await live.api(token, 'GET', '/admin/customers')).body.data.map((c: any) => c.name as string)
const make = (token: string, name: string) =>
  live.api(token, 'POST', '/admin/customers', { name, email: `${name}@example.com` })

describe('of eight simultaneous starts on one data directory', () => {
  const race = async () => {
    const all = Array.from({ length: 8 }, () => start())
    await live.until(
      'seven to give up',
      async () => all.filter(({ child }) => child.exitCode !== null).length === 7,
      60,
    )
    const winner = all.find(({ child }) => child.exitCode === null)!
    const losers = await Promise.all(
      all.filter((one) => one !== winner).map(async ({ child, said }) => ({ code: child.exitCode, said: await said })),
    )
    for (const { code, said } of losers) {
      expect(code).toBe(1)
      expect(said.trim().replace(/^<\d>/, '')).toBe(
        `already_running: A controller (process ${winner.child.pid}) is running on ${live.dir} already. ` +
          'Stop it, or set PANEL_DATA_DIR.',
      )
    }
    return winner
  }

  test('one wins, and the others say which one it is; so it is after kill -9, and berth admin finds it', async () => {
    for (let round = 0; round < 2; round++) {
      const { child } = await race()
      expect((await live.admin('staff.list')).data).toEqual([])
      // Nothing of a killed controller keeps the next one out.
      child.kill('SIGKILL')
      await child.exited
    }
    expect(readFileSync(`${live.dir}/controller.pid`, 'utf8')).toMatch(/^\d+\n$/)
  }, 90_000)
})

describe('berth admin beside a start', () => {
  test('is carried out once, before or by the controller, and never refused for it', async () => {
    const first = await live.serve()
    first.kill('SIGTERM')
    await first.exited
    const calls = Array.from({ length: 4 }, (_, i) => live.admin('locations.create', { name: `Place ${i}` }))
    const controller = await live.serve()
    await Promise.all(calls)
    expect(answers(controller)).toBe(true)
    expect((await live.admin('locations.list')).data.map((l: any) => l.name).sort()).toEqual(
      Array.from({ length: 4 }, (_, i) => `Place ${i}`),
    )
  }, 60_000)
  test('a restore is refused while one runs, and nothing is changed', async () => {
    await live.serve()
    const copy = `${live.dir}/copy.db`
    expect((await berth(['backup', 'create', copy], live.env)).code).toBe(0)
    const before = readdirSync(live.dir).sort()
    const { code, error } = await berth(['backup', 'restore', copy], live.env)
    expect([code, error]).toEqual([
      1,
      'backup_failed: The controller is running. Stop it first: what it writes now would be lost.',
    ])
    expect(readdirSync(live.dir).sort()).toEqual(before)
  }, 60_000)
})

describe('a database that is empty or away beside a key file', () => {
  const stopped = async () => {
    const controller = await live.serve()
    await live.admin('locations.create', { name: 'Lab' })
    controller.kill('SIGTERM')
    await controller.exited
  }
  const refused = async (what: string) => {
    const before = readdirSync(live.dir).filter((name) => !/log$|lock$|pid$/.test(name))
    const { child, said } = start()
    expect(await child.exited).toBe(1)
    const words = await said
    expect(words).toContain(`database_missing: ${live.dir}/berth.db is ${what}, and the key file`)
    expect(words).toContain('sudo berth backup restore FILE')
    expect(words).toContain(`mv ${live.dir}/secret.key ${live.dir}/secret.key.old`)
    expect(readdirSync(live.dir).filter((name) => !/log$|lock$|pid$/.test(name))).toEqual(before)
  }
  test('refuses the start with the next step in words, and makes nothing', async () => {
    await stopped()
    renameSync(`${live.dir}/berth.db`, `${live.dir}/away`)
    await refused('not there')
    writeFileSync(`${live.dir}/berth.db`, '')
    await refused('empty')
    rmSync(`${live.dir}/berth.db`)
    new Database(`${live.dir}/berth.db`).run('PRAGMA journal_mode=WAL')
    await refused('empty')
  }, 60_000)
  test('begins anew where the key file was moved away, and goes on where the database is back', async () => {
    await stopped()
    renameSync(`${live.dir}/berth.db`, `${live.dir}/away`)
    renameSync(`${live.dir}/secret.key`, `${live.dir}/secret.key.old`)
    const anew = await live.serve()
    expect((await live.admin('locations.list')).data).toEqual([])
    anew.kill('SIGTERM')
    await anew.exited
    renameSync(`${live.dir}/away`, `${live.dir}/berth.db`)
    renameSync(`${live.dir}/secret.key.old`, `${live.dir}/secret.key`)
    await live.serve()
    expect((await live.admin('locations.list')).data.map((l: any) => l.name)).toEqual(['Lab'])
  }, 60_000)
})

describe('the database under a running controller', () => {
  const ways: Record<string, (path: string) => void> = {
    deleted: (path) => rmSync(path),
    'replaced by a copy': (path) => {
      copyFileSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
    },
    'replaced by an empty file': (path) => {
      writeFileSync(`${path}.new`, '')
      renameSync(`${path}.new`, path)
    },
  }
  for (const [how, harm] of Object.entries(ways))
    test(`${how} is noticed within 10 s: changes are refused, reads go on, and what was acknowledged is ` +
      'saved', async () => {
      const controller = await live.serve()
      const token = await live.staffToken()
      expect((await make(token, 'before')).status).toBe(201)
      harm(`${live.dir}/berth.db`)
      const began = performance.now()
      await live.until('a refused change', async () => (await make(token, `n${performance.now()}`)).status === 503, 15)
      expect(performance.now() - began).toBeLessThan(10_000)
      const names = await customers(token)
      const reply = await make(token, 'after')
      expect([reply.status, reply.body.error.code, reply.headers.get('Retry-After')]).toEqual([503, 'restarting', '60'])
      expect(reply.body.error.message).toContain(
        `${live.dir}/berth.db was ${how.split(' ')[0]} under the running controller`,
      )
      expect(await customers(token)).toEqual(names)
      const { attention } = await live.admin('overview.get')
      expect(attention[0]).toMatchObject({ level: 'bad' })
      expect(attention[0].what).toContain('under the running controller')
      expect(await live.log('controller-0')).toContain('the database cannot be written: changes are refused')
      // All that was acknowledged is in the file that the row names: with it in place everything is there again.
      const [rescued] = readdirSync(live.dir).filter((name) => /^berth\.db\.rescued-\d+$/.test(name))
      expect(attention[0].effect).toContain(rescued!)
      controller.kill('SIGTERM')
      expect(await controller.exited).toBe(0)
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${live.dir}/berth.db${suffix}`, { force: true })
      renameSync(`${live.dir}/${rescued}`, `${live.dir}/berth.db`)
      await live.serve()
      expect(await customers(token)).toEqual(names)
    }, 60_000)
  test('back in its place, changes are made again by themselves', async () => {
    await live.serve()
    const token = await live.staffToken()
    renameSync(`${live.dir}/berth.db`, `${live.dir}/away`)
    await live.until('a refused change', async () => (await make(token, `n${performance.now()}`)).status === 503, 15)
    renameSync(`${live.dir}/away`, `${live.dir}/berth.db`)
    await live.until('a change', async () => (await make(token, 'after')).status === 201, 15)
    expect(await customers(token)).toContain('after')
  }, 60_000)
})

describe('S58: the audit log of a backup', () => {
  test('is signed: lines cut off its end show after the restore, and untouched it ends where it ended', async () => {
    const controller = await live.serve()
    for (const name of ['A', 'B', 'C']) await live.admin('locations.create', { name })
    const whole = `${live.dir}/whole.db`
    expect((await berth(['backup', 'create', whole], live.env)).out).not.toContain('not signed')
    const cut = `${live.dir}/cut.db`
    copyFileSync(whole, cut)
    const db = new Database(cut)
    for (const sql of [
      'DROP TRIGGER audit_is_never_deleted',
      'DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)',
    ])
      db.run(sql)
    db.close()
    await live.admin('locations.create', { name: 'D' })
    controller.kill('SIGTERM')
    await controller.exited
    const lines = async () => (await live.admin('audit.verify')) as { ok: boolean; anchor: { state: string } }
    for (const [file, expected] of [
      [cut, { ok: false, brokenAt: null, anchor: { state: 'differs' } }],
      [whole, { ok: true, brokenAt: null, anchor: { state: 'matches' } }],
    ] as const) {
      expect((await berth(['backup', 'restore', file], live.env)).code).toBe(0)
      expect(await lines()).toMatchObject(expected)
    }
    expect(readdirSync(live.dir).filter((name) => name.startsWith('audit.head.before-restore-'))).toHaveLength(2)
  }, 60_000)
})
