// The controller of a machine without systemd is upgraded with signed releases, and goes back by itself from one that
// does not work: its program, its database, and what the operator reads.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { SIGNATURE_FILE, unverified } from '../../../agent/protocol/release/archive.ts'
import { signed } from '../../../agent/protocol/release/signature.ts'
import { addSignature, makeRelease } from '../../../src/app/release/make.ts'
import { temporary } from '../../agent/temporary.ts'
import { issued } from '../../support/services/certificate.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { freePort } from '../../support/world/program.ts'
import { altered, built, newTestKey, testKey } from './builds.ts'
import { Lab, possible } from './lab.ts'

setDefaultTimeout(180_000)
/** Every kind of broken version, and each step, takes half a minute: the usual run has those that differ most. */
const isLong = process.env['BERTH_LONG'] === '1'

const REAL = '/usr/local/share/berth-builds'
const files = temporary('releases')

/** A program that is the build of `version`, after `first`: small, so that releases are made in a moment. */
const script = (version: string, first = '') => `#!/bin/sh
${first}
exec ${REAL}/${version} "$@"
`

describe.skipIf(!possible)('an upgrade of the controller', () => {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  let lab: Lab
  let headers: Record<string, string> = {}
  let schema = ''

  beforeAll(async () => {
    const [first, second, broken] = await Promise.all([
      built('1.0.0'),
      built('1.1.0'),
      built('1.2.0', [
        { name: '9998_made', sql: 'CREATE TABLE made_by_the_new (a INTEGER) STRICT' },
        { name: '9999_fails', sql: 'INSERT INTO no_such_table VALUES (1)' },
      ]),
    ])
    lab = await Lab.make(first)
    mkdirSync(lab.at(REAL), { recursive: true })
    for (const [version, build] of Object.entries({ '1.0.0': first, '1.1.0': second, '1.2.0': broken }))
      linkSync(build, lab.at(`${REAL}/${version}`))
    schema = JSON.parse((await lab.run(`${REAL}/1.0.0 version --json`)).out).schema
    lab.write('/etc/berth/services', 'berth\n')
    const settings = { PANEL_LISTEN: `127.0.0.1:${port}`, PANEL_DATA_DIR: '/var/lib/berth', PANEL_PUBLIC_URL: url }
    lab.write(
      '/etc/berth/controller.env',
      Object.entries(settings)
        .map(([name, value]) => `${name}="${value}"\n`)
        .join(''),
    )
    expect(await lab.services('start')).toMatchObject({ code: 0, err: '' })
    await eventually(async () => (await status()) === 200)
    await lab.run("echo 'correct horse battery staple' | berth admin create-staff --email ada@example.com --name Ada")
    const made = await lab.run(
      "berth admin create-token --account ada@example.com --name t --scopes 'customers:read,customers:write'",
    )
    expect(made).toMatchObject({ code: 0 })
    headers = { Authorization: `Bearer ${made.out}` }
  })
  afterAll(() => lab?.remove())

  const status = () =>
    fetch(`${url}/api/v1/status`, { keepalive: false }).then(
      (response) => response.status,
      () => 0,
    )
  const versionHere = async () => (await (await fetch(`${url}/api/v1/status`)).json()).version
  const customers = async () =>
    (await (await fetch(`${url}/api/v1/admin/customers?limit=100`, { headers })).json()).data.map(
      ({ email }: { email: string }) => email,
    )
  let added = 0
  /** Answers the status of a change, or the code of its refusal. */
  async function add(): Promise<number | string> {
    const email = `c${++added}@example.com`
    const response = await fetch(`${url}/api/v1/admin/customers`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: email, email }),
      keepalive: false,
    })
    return response.ok ? response.status : (await response.json()).error.code
  }

  let made = 0
  type Kind = { program?: string; platform?: string; by?: typeof testKey; schema?: string; minimumVersion?: string }
  /** A signed release of this version, which `program` is. */
  function release(version: string, { program = script(version), platform, by = testKey, ...other }: Kind = {}) {
    const [path, file] = [join(files, `${++made}.sh`), join(files, `${made}.release`)]
    writeFileSync(path, program)
    const says = { version, protocol: 1, schema: other.schema ?? schema, platform: platform ?? `linux-${process.arch}` }
    makeRelease(file, {
      programs: [{ path, says }],
      bill: '{}\n',
      ...{
        minimumVersion: other.minimumVersion ?? '1.0.0',
        date: '2026-11-27',
        notes: 'Servers move.',
        keyId: by.key.id,
      },
    })
    addSignature(file, signed(unverified(file).text, by.secret), [by.key])
    return file
  }
  /** The file of a release, where the operator of the lab has it. */
  function brought(file: string) {
    writeFileSync(lab.at('/var/tmp/release'), readFileSync(file))
    return '/var/tmp/release'
  }
  const upgrade = (file: string, flags = '--trial 2', env: Record<string, string> = {}) =>
    lab.run(`berth upgrade ${brought(file)} ${flags}`, env)
  const journal = () => lab.journal('berth')

  /** The controller is 1.0.0 again, with an empty history. */
  async function begin(env: Record<string, string> = {}) {
    await lab.services('stop')
    await lab.run('rm -rf /usr/local/lib/berth/upgrade /var/lib/berth/upgrade')
    lab.place(lab.at(`${REAL}/1.0.0`))
    expect(await lab.services('start', env)).toMatchObject({ code: 0, err: '' })
    await eventually(async () => (await status()) === 200)
  }

  test('is checked before, and a check changes nothing', async () => {
    const found = await upgrade(release('1.1.0'), '--check')
    expect(found).toMatchObject({ code: 0, err: '' })
    expect(found.out).toContain('Berth 1.0.0 can be upgraded to 1.1.0. Changes would be refused for about 24 s')
    expect(journal()).toBeUndefined()
    expect((await lab.run('ls /usr/local/lib/berth/upgrade/berth')).out).toBe('')
    expect(await versionHere()).toBe('1.0.0')
  })

  test('is fetched from an address whose certificate this machine trusts, once, and from no other', async () => {
    const { ca, cert, key } = issued(join(files, 'tls'), 'localhost')
    const authorities = '/etc/ssl/certs/ca-certificates.crt'
    const content = readFileSync(release('1.1.0'))
    const answered: number[] = []
    using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { cert, key },
      fetch({ url, headers }) {
        const isOther = new URL(url).pathname !== '/release'
        if (isOther) return new Response(null, { status: 302, headers: { Location: `${new URL(url).origin}/release` } })
        const isThere = headers.get('if-none-match') === '"one"'
        answered.push(isThere ? 304 : 200)
        return isThere
          ? new Response(null, { status: 304 })
          : new Response(content as BodyInit, { headers: { ETag: '"one"' } })
      },
    })
    const check = (path: string) => lab.run(`berth upgrade https://localhost:${server.port}${path} --check`)
    expect(await check('/release')).toMatchObject({ code: 1, err: expect.stringMatching(/^download_failed: /) })
    lab.write(authorities, `${lab.read(authorities)}\n${ca}`)
    expect(await check('/other')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^download_refused: .*leads to/),
    })
    for (const _ of [1, 2])
      expect(await check('/release')).toMatchObject({
        code: 0,
        out: expect.stringContaining('can be upgraded to 1.1.0'),
      })
    expect(answered).toEqual([200, 304])
    expect([journal(), await versionHere()]).toEqual([undefined, '1.0.0'])
  })

  /** Customers when changes were refused. */
  let before = 0
  test('answers reads all the time, refuses changes until the new version is accepted, and loses none', async () => {
    await begin()
    const done: (number | string)[] = []
    const reads: number[] = []
    let isOver = false
    const clients = [
      (async () => {
        for (; !isOver; await Bun.sleep(300)) done.push(await add())
      })(),
      (async () => {
        for (; !isOver; await Bun.sleep(200)) reads.push(await status())
      })(),
    ]
    const ended = await upgrade(release('1.1.0'), '--trial 3')
    isOver = true
    await Promise.all(clients)
    before = done.indexOf('restarting')
    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(ended.out).toMatch(/The controller is Berth 1\.1\.0\. Changes were refused for \d+\.\d s\./)
    expect(await versionHere()).toBe('1.1.0')
    expect(reads.filter((code) => code !== 200)).toEqual([])
    expect(new Set(done)).toEqual(new Set([201, 'restarting']))
    await eventually(async () => (await add()) === 201)
    expect(await customers()).toHaveLength(done.filter((code) => code === 201).length + 1)
    for (const name of ['/usr/local/bin/berth', '/usr/local/lib/berth/berth-host'])
      expect(lab.read(name)).toBe(script('1.1.0'))
    expect(lab.history('berth')).toMatchObject([
      { result: 'done', from: '1.0.0', to: '1.1.0', by: 'command line', stoppedMs: expect.any(Number) },
    ])
    expect(lab.history('berth')[0]!.stoppedMs).toBeLessThan(30_000)
  })

  test('that went well is gone back from by hand, with the database of before', async () => {
    expect(await lab.run('berth upgrade --go-back')).toMatchObject({ code: 2 })
    expect(await lab.run('berth upgrade --go-back --discard-newer')).toMatchObject({
      code: 1,
      err: expect.stringContaining('The controller is Berth 1.0.0, with its database of before.'),
    })
    expect(await versionHere()).toBe('1.0.0')
    expect(await customers()).toHaveLength(before)
    expect(lab.history('berth')[0]).toMatchObject({ result: 'went_back', reason: { code: 'taken_back' } })
    const again = await lab.run('berth upgrade --go-back --discard-newer')
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('nothing_to_go_back_to') })
  })

  describe('goes back within two minutes, with its database, and says why', () => {
    const after = (seconds: number, command: string) => `case $1 in serve) (sleep ${seconds}; ${command}) & ;; esac`
    const broken = [
      {
        is: 'does not start',
        first: 'case $1 in serve) echo no luck >&2; exit 1 ;; esac',
        code: 'does_not_start',
        words: 'no luck',
      },
      {
        is: 'has settings that cannot work',
        first: 'case $1 in serve) exit 2 ;; esac',
        code: 'does_not_start',
        words: '',
      },
      {
        is: 'starts and never answers',
        first: 'case $1 in serve) exec sleep 600 ;; esac',
        flags: '--answer-within 5',
        code: 'does_not_answer',
        words: 'not answer',
      },
      {
        is: 'answers and then hangs',
        first: after(4, 'kill -STOP $$'),
        flags: '--trial 30',
        code: 'stopped_answering',
        words: 'not answer',
      },
    ]
    const usual = broken.filter(({ code }) => isLong || code === 'does_not_answer')
    test.each(usual)('a version that $is', async ({ first, flags, code, words }) => {
      await begin()
      expect(await add()).toBe(201)
      const before = await customers()
      const began = performance.now()
      const ended = await upgrade(release('1.1.0', { program: script('1.1.0', first) }), flags)
      expect(performance.now() - began).toBeLessThan(120_000)
      expect(ended.code).toBe(1)
      expect(ended.err).toContain(`${code}: `)
      expect(ended.err).toContain(words)
      await eventually(async () => (await status()) === 200, 30)
      expect(await versionHere()).toBe('1.0.0')
      expect(await customers()).toEqual(before)
      expect(await add()).toBe(201)
      expect(lab.history('berth')).toMatchObject([
        { result: 'went_back', from: '1.0.0', to: '1.1.0', reason: { code } },
      ])
      expect((await lab.run('ls /var/lib/berth/upgrade /usr/local/lib/berth/upgrade/berth')).out).not.toMatch(
        /^(before|new|trial.json)$/m,
      )
    })

    test('a version whose migrations fail half-way', async () => {
      await begin()
      const before = await customers()
      const ended = await upgrade(release('1.2.0', { schema: '9999_fails' }))
      expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('no such table: no_such_table') })
      await eventually(async () => (await status()) === 200, 30)
      expect(await versionHere()).toBe('1.0.0')
      expect(await customers()).toEqual(before)
      const tables = new Database(lab.at('/var/lib/berth/berth.db'), { readonly: true })
      expect(tables.query("SELECT name FROM sqlite_master WHERE name = 'made_by_the_new'").all()).toEqual([])
      expect(tables.query("SELECT name FROM migrations WHERE name LIKE '999%'").all()).toEqual([])
      tables.close()
    })
  })

  describe('is refused, and nothing changes, with', () => {
    const program = script('1.1.0')
    const changed = (file: string, change: (content: Buffer) => Buffer) => {
      const to = `${file}.changed`
      writeFileSync(to, change(readFileSync(file)))
      return to
    }
    const cases: [string, () => string, string][] = [
      ['a package that a stranger signed', () => release('1.1.0', { by: newTestKey() }), 'release_key_not_trusted'],
      [
        'one whose manifest was altered',
        () =>
          changed(release('1.1.0'), (content) =>
            Buffer.from(content.toString('latin1').replace('"version": "1.1.0"', '"version": "1.9.0"'), 'latin1'),
          ),
        'release_signature_wrong',
      ],
      [
        'one whose program was altered',
        () =>
          altered(release('1.1.0'), (members) =>
            members.set(`berth-linux-${process.arch}.gz`, gzipSync(`${program}\n# more`)),
          ),
        'release_checksum_differs',
      ],
      [
        'one that was cut short',
        () => changed(release('1.1.0'), (content) => content.subarray(0, content.length - 2000)),
        'release_invalid',
      ],
      [
        'one without a signature',
        () => altered(release('1.1.0'), (members) => members.delete(SIGNATURE_FILE)),
        'release_not_signed',
      ],
      ['the version that runs here', () => release('1.0.0'), 'release_too_old'],
      ['an older one', () => release('0.9.0'), 'release_too_old'],
      ['one for another processor', () => release('1.1.0', { platform: 'linux-riscv64' }), 'release_wrong_platform'],
      ['one whose program is another version', () => release('1.3.0', { program }), 'program_differs'],
      ['one whose program does not run here', () => release('1.1.0', { program: 'no program' }), 'program_silent'],
      ['one whose database is older', () => release('1.1.0', { schema: '0001_spine' }), 'schema_older'],
    ]
    beforeAll(() => begin())
    test.each(cases)('%s', async (_, make, code) => {
      const before = await stateOf()
      for (const flags of isLong ? ['--check', '--trial 2'] : ['--trial 2']) {
        const ended = await upgrade(make(), flags)
        expect([ended.code, ended.err.split(':')[0]]).toEqual([1, code])
      }
      expect(await stateOf()).toEqual(before)
    })
    test('an older one whose database is older, also where a downgrade is allowed', async () => {
      const file = release('0.9.0', { schema: '0001_spine', minimumVersion: '0.1.0' })
      expect((await upgrade(file, '--allow-downgrade')).err).toStartWith('schema_older: ')
      expect(
        (await upgrade(release('0.9.0', { program, minimumVersion: '0.1.0' }), '--check --allow-downgrade')).err,
      ).toStartWith('program_differs: ')
      expect(journal()).toBeUndefined()
    })
    test('a data directory in which somebody has put a link', async () => {
      await lab.run(
        `cd /var/lib/berth; rm -rf upgrade; install -d -o berth -g berth real; ln -s real upgrade
        ls -la /etc >/var/tmp/etc`,
      )
      const ended = await upgrade(release('1.1.0'))
      expect([ended.code, ended.err.split(':')[0]]).toEqual([1, 'copy_failed'])
      await eventually(async () => (await status()) === 200)
      expect(await versionHere()).toBe('1.0.0')
      // The controller itself looks for releases there, as its own user.
      expect((await lab.run('ls /var/lib/berth/real; ls -la /etc | diff - /var/tmp/etc')).out).toBe('incoming')
      await lab.run('rm -r /var/lib/berth/upgrade /var/lib/berth/real')
    })
    /** Everything that an upgrade changes. */
    async function stateOf() {
      const { out } = await lab.run(
        `cd /usr/local; sha256sum bin/berth lib/berth/berth-*; cat /run/berth/berth.pid
        find lib/berth/upgrade -type f ! -name '*lock'`,
      )
      return [out, await versionHere(), lab.history('berth')]
    }
  })

  describe('that the page wants', () => {
    const want = async (file: string, request: object | string = {}) => {
      await lab.run('install -d -o berth -g berth -m 750 /var/lib/berth/upgrade /var/lib/berth/upgrade/incoming')
      writeFileSync(lab.at('/var/lib/berth/upgrade/incoming/next.release'), readFileSync(file))
      await lab.run('chown berth:berth /var/lib/berth/upgrade/incoming/*')
      const text =
        typeof request === 'string'
          ? request
          : JSON.stringify({ format: 1, file: 'next.release', by: 'Ada', at: '2026', ...request })
      lab.write('/var/lib/berth/upgrade/request.part', text)
      await lab.run('cd /var/lib/berth/upgrade && chown berth request.part && mv request.part request.json')
    }
    const past = async (count: number) => {
      await eventually(() => lab.history('berth').length === count, 60)
      return lab.history('berth')[0]
    }
    test('is refused for an older version, a file elsewhere, a link, and what is no request', async () => {
      await begin()
      await want(release('0.9.0', { minimumVersion: '0.1.0' }))
      expect(await past(1)).toMatchObject({
        result: 'refused',
        by: 'Ada',
        from: '1.0.0',
        reason: { code: 'release_too_old' },
      })
      for (const file of ['../request.json', '/etc/passwd', '']) {
        await want(release('1.1.0'), { file })
        await eventually(async () => (await lab.run('ls /var/lib/berth/upgrade/request.json')).code !== 0)
      }
      expect(await past(4)).toMatchObject({ result: 'refused', by: '', reason: { code: 'request_invalid' } })
      await want(release('1.1.0'), 'no json')
      expect(await past(5)).toMatchObject({ reason: { code: 'request_invalid' } })
      await lab.run('ln -sf /etc/shadow /var/lib/berth/upgrade/incoming/link')
      await want(release('1.1.0'), { file: 'link' })
      expect(await past(6)).toMatchObject({ reason: { words: expect.stringContaining('no file of its own') } })
      await want(release('1.1.0', { by: newTestKey() }))
      expect(await past(7)).toMatchObject({ reason: { code: 'release_key_not_trusted' } })
      expect(journal()).toBeUndefined()
      expect(await versionHere()).toBe('1.0.0')
    })
    test('is made, by the name of who wanted it', async () => {
      await begin()
      await want(release('1.1.0'))
      expect(await past(1)).toMatchObject({ result: 'done', from: '1.0.0', to: '1.1.0', by: 'Ada' })
      expect(await versionHere()).toBe('1.1.0')
      expect((await lab.run('ls /var/lib/berth/upgrade')).out).not.toContain('request.json')
    })
  })

  describe('killed', () => {
    // The other steps, which touch no data, are those of the agent's test.
    const dataSteps = ['copied', 'trying', 'switched', 'database restored'] as const
    test.each(dataSteps.filter((step) => isLong || step === 'trying' || step === 'database restored'))(
      'with kill -9 after "%s": one whole version runs afterwards, on its own database',
      async (step) => {
        const mark = '/var/tmp/killed'
        await lab.run(`rm -f ${mark}`)
        const env = { BERTH_CRASH_AT_UPGRADE: `${step}@${mark}` }
        await begin(env)
        expect(await add()).toBe(201)
        const before = await customers()
        const kind =
          step === 'database restored' ? { program: script('1.1.0', 'case $1 in serve) exit 1 ;; esac') } : {}
        await upgrade(release('1.1.0', kind), '--trial 2', env)
        expect(lab.read(mark)).toBe(step)
        // The machine goes on as it does after a loss of power: nobody watches, and the services start.
        await lab.run(`pkill -9 -f 'host upgrade-watch'`)
        await lab.services('stop')
        expect(await lab.services('start')).toMatchObject({ code: 0 })
        await eventually(async () => (await status()) === 200 && (await add()) === 201, 60)
        const version = await versionHere()
        expect(['1.0.0', '1.1.0']).toContain(version)
        const whole = version === '1.0.0' ? readFileSync(lab.at(`${REAL}/1.0.0`)) : Buffer.from(script('1.1.0'))
        expect(readFileSync(lab.at('/usr/local/bin/berth')).equals(whole)).toBe(true)
        const host = readFileSync(lab.at('/usr/local/lib/berth/berth-host'))
        expect(host.equals(whole) || version === '1.1.0').toBe(true)
        expect((await customers()).slice(-before.length)).toEqual(before)
        expect(journal()!.state).toBe(version === '1.0.0' ? 'went_back' : 'done')
        expect(lab.history('berth')).toMatchObject([{ result: version === '1.0.0' ? 'went_back' : 'done' }])
        expect((await lab.run('berth upgrade --status')).out).toContain('1.0.0 → 1.1.0')
      },
    )
  })
})
