// The compiled program, as an administrator uses it on the controller's host.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { Subprocess } from 'bun'
import { type Installation, installation } from '../support/world/processes.ts'
import { berth, berthAs, freePort } from '../support/world/program.ts'

let live: Installation
let controller: Subprocess
beforeAll(async () => void (live = await installation()))
afterAll(() => live.close())
const run = (args: string, stdin = '', env = {}) => berth(args ? args.split(' ') : [], { ...live.env, ...env }, stdin)

describe('help', () => {
  for (const [args, words] of [
    ['--help', 'berth serve'],
    ['help', 'berth backup create'],
    ['serve --help', 'PANEL_PUBLIC_URL'],
    ['admin --help', 'create-staff'],
    ['admin create-staff --help', 'read from standard input'],
    ['admin servers.create --help', 'Order a server'],
    ['admin servers.list -h', 'query.status'],
    ['admin create-token -h', '--expires DAYS'],
    ['serve -h', 'PANEL_PUBLIC_URL'],
    ['backup -h', 'Keep the key file'],
    ['backup create -h', 'Keep the key file'],
    ['backup restore x.db --help', 'Keep the key file'],
    ['secrets rotate -h', 'makes a new key'],
    ['agent -h', 'enroll'],
    ['agent run -h', '--data-dir'],
    ['agent enroll -h', '--token'],
    ['backup --help', 'Keep the key file'],
    ['backup create --help', 'Keep the key file'],
    ['backup-server --help', '--tls-cert'],
    ['backup-server serve -h', '--tls-cert'],
    ['backup-server add --help', 'prints its password once'],
    ['secrets --help', 'makes a new key'],
    ['secrets rotate --help', 'makes a new key'],
    ['agent --help', 'enroll'],
    ['agent enroll --help', '--token'],
    ['agent run --help', '--data-dir'],
    ['agent doctor --help', 'remedy'],
    ['agent version --help', 'version'],
  ] as const)
    test(`berth ${args} is on standard output, and exits 0`, async () => {
      const { code, out, error } = await run(args)
      expect([code, error]).toEqual([0, ''])
      expect(out).toContain(words)
    })
  test('lists every setting there is, and the operations', async () => {
    const { settings } = await import('../../src/app/config.ts')
    const { operations } = await import('../../src/app/features.ts')
    const [serve, list] = [await run('serve --help'), await run('admin list')]
    for (const name of Object.keys(settings)) expect(serve.out).toContain(name)
    for (const op of operations) expect(list.out).toContain(op.id)
  })
  test('of an operation says all that it takes, and how it is called', async () => {
    const { operationHelp } = await import('../../src/app/commands/admin-help.ts')
    const { allOperations, registry } = await import('../../src/app/features.ts')
    const { queryOf } = await import('../../src/kernel/api/operation.ts')
    for (const op of allOperations) {
      const help = operationHelp(op, registry)
      expect(help).toContain(op.summary)
      expect(help).toContain(op.localOnly ? 'on this host only' : `${op.method} /api/v1${op.path}`)
      const named = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
      for (const name of [
        ...named,
        ...Object.keys(op.body?.properties ?? {}),
        ...Object.keys(queryOf(op)).map((q) => `query.${q}`),
      ])
        expect(help).toContain(`\n  ${name} `)
      expect(help).not.toMatch(/any value|undefined|\[object/)
      // A password that is typed after the command stands in the history of the shell, and in the list of processes.
      if (help.includes('secret: ') && op.example) expect(help).toContain(`berth admin ${op.id} - <<`)
    }
  })
})

describe('wrong use exits 2 with words on standard error and nothing on standard output', () => {
  for (const [args, words] of [
    ['', 'berth serve'],
    ['nonsense', 'There is no command "nonsense"'],
    ['serve now', 'takes no arguments'],
    ['backup', 'backup create FILE'],
    ['backup create', 'backup create FILE'],
    ['backup nonsense x', 'backup create FILE'],
    ['backup create a b', 'backup create FILE'],
    ['backup create --force', 'There is no flag --force'],
    ['backup restore -x', 'There is no flag -x'],
    ['restore --at 2026-11-22T14:05:00', 'like 2026-11-22T14:05:00Z'],
    ['restore --at yesterday', 'like 2026-11-22T14:05:00Z'],
    ['admin nonsense --help', 'There is no operation "nonsense"'],
    ['admin nodes.get {"id":5}', '"id" must be text in quotes'],
    ['admin jobs.get {"id":5}', '"jobId" must be text in quotes'],
    [
      'admin create-token --account a@b.test --name A --preset billing --expires never',
      '--expires is a number of days',
    ],
    ['secrets', 'secrets rotate'],
    ['secrets nonsense', 'secrets rotate'],
    ['secrets rotate now', 'secrets rotate'],
    ['admin nonsense', 'There is no operation "nonsense"'],
    ['admin nodes.list {', 'not a JSON object'],
    ['admin nodes.list []', 'not a JSON object'],
    ['admin nodes.list {} {}', 'one JSON object'],
    ['admin nodes.get {}', 'needs "id"'],
    ['admin create-staff --email a@b.test', 'create-staff'],
    ['admin create-staff --email a@b.test --name A --nonsense', 'nonsense'],
    ['admin create-staff --email a@b.test --name A', 'standard input'],
    ['admin create-token --account a@b.test --name A', 'create-token'],
    ['admin create-token --account a@b.test --name A --preset billing --scopes x', 'create-token'],
    ['agent nonsense', 'nonsense'],
    ['agent enroll', '--controller'],
  ] as const)
    test(`berth ${args}`, async () => {
      const { code, out, error } = await run(args)
      expect([code, out]).toEqual([2, ''])
      expect(error).toContain(words)
      expect(error).not.toMatch(/at .*\.ts:\d+/)
    })
})

describe('a setting that cannot be', () => {
  test('refuses the start and names the nearest one', async () => {
    for (const command of ['serve', 'admin nodes.list', 'secrets rotate']) {
      const { code, error } = await run(command, '', { PANEL_PUBLIC_ULR: 'https://x' })
      expect(code).toBe(2)
      expect(error).toContain('There is no setting PANEL_PUBLIC_ULR. Did you mean PANEL_PUBLIC_URL?')
    }
  })
  test('is said in words by backup too', async () => {
    const { code, error } = await run('backup create /tmp/never', '', { PANEL_PUBLIC_ULR: 'https://x' })
    expect([code, error]).toEqual([2, 'There is no setting PANEL_PUBLIC_ULR. Did you mean PANEL_PUBLIC_URL?'])
  })
})

describe('without a running controller', () => {
  test('staff and tokens are made, and the token alone is printed', async () => {
    const staff = await run('admin create-staff --email ada@example.com --name Ada', 'seven green bicycles\n')
    expect([staff.code, staff.error]).toEqual([0, ''])
    expect(JSON.parse(staff.out)).toMatchObject({ email: 'ada@example.com', name: 'Ada' })
    const token = await run(
      'admin create-token --account ADA@example.com --name Billing --preset billing --allow 127.0.0.1 --allow ' +
        '10.0.0.0/8',
    )
    expect([token.code, token.error]).toEqual([0, ''])
    expect(token.out).toMatch(/^pnl_[A-Za-z0-9_-]{49}$/)
  })
  test('a refusal exits 1 with its code, its words and its fields', async () => {
    for (const [args, stdin, expected] of [
      [
        'admin create-staff --email ada@example.com --name Ada',
        'seven green bicycles\n',
        /^email_taken: Another account already has this e-mail address\. Use that account, or another address\.$/,
      ],
      [
        'admin create-staff --email bo@example.com --name Bo',
        'short\n',
        /^validation_failed: password: .*12 characters/,
      ],
      [
        'admin create-staff --email bo@example.com --name Bo --role Nobody',
        'seven green bicycles\n',
        /^validation_failed: role: must be the name of a role\. There are: Owner/,
      ],
      ['admin create-token --account nobody@example.com --name X --preset billing', '', /^validation_failed: account/],
      ['admin create-token --account ada@example.com --name X --scopes servers:fly', '', /^validation_failed: scopes/],
      ['admin create-token --account ada@example.com --name X --preset all', '', /^validation_failed: preset/],
      [
        `admin nodes.get {"id":"nod_${'0'.repeat(26)}"}`,
        '',
        /^node_not_found: There is no such node, or it is not yours\. Check the id\.$/,
      ],
      [
        'admin packages.create {"name":"x"}',
        '',
        /^validation_failed: Some fields are wrong\.\n( {2}\w+: is required\.\n?)+$/,
      ],
    ] as const) {
      const { code, out, error } = await run(args, stdin)
      expect([args, code, out]).toEqual([args, 1, ''])
      expect(error).toMatch(expected)
      expect(error).not.toContain('bicycles')
    }
  })
  test('a password that is typed at a terminal is asked for and not shown', async () => {
    let shown = ''
    const args = ['admin', 'create-staff', '--email', 'typed@example.com', '--name', 'Typed']
    const child = Bun.spawn([...live.program, ...args], {
      env: { PATH: process.env['PATH']!, ...live.env },
      terminal: { cols: 80, rows: 24, data: (_, bytes) => void (shown += Buffer.from(bytes).toString()) },
    })
    await live.until('the question', async () => shown.includes('Password: '))
    await Bun.sleep(300) // until the terminal has stopped to show
    child.terminal!.write('seven green bicyclops')
    child.terminal!.write('\u007f\u007f\u007fes\n')
    expect(await child.exited).toBe(0)
    expect(shown).toContain('typed@example.com')
    expect(shown).not.toContain('bicycl')
  })
  test('a token ends when it was said, and otherwise not', async () => {
    const token = (days: string) =>
      run(`admin create-token --account ada@example.com --name Dated --scopes account:read${days}`).then(({ out }) =>
        out.slice(-4),
      )
    const [dated, endless] = [await token(' --expires 30'), await token('')]
    const db = new Database(`${live.dir}/berth.db`, { readonly: true })
    const endOf = (ending: string) =>
      db
        .query<{ days: number | null }, [string]>(
          'SELECT (expires_at - created_at) / 864e5 AS days FROM tokens WHERE ending = ?',
        )
        .get(ending)?.days
    expect(Math.round(endOf(dated)!)).toBe(30)
    expect(endOf(endless)).toBeNull()
    db.close()
  })
  test('fields may come on standard input, where no list of processes shows them', async () => {
    const { code, out } = await run('admin locations.create -', '{"name":"Berlin"}\n')
    expect([code, JSON.parse(out).name]).toEqual([0, 'Berlin'])
    const refused = await run('admin locations.create -', 'nonsense')
    expect([refused.code, refused.error]).toEqual([2, 'The fields are not a JSON object.'])
  })
  test('operations take path and query from the fields', async () => {
    const made = JSON.parse((await run('admin customers.create {"name":"Cal","email":"cal@example.com"}')).out)
    expect(JSON.parse((await run(`admin customers.get {"id":"${made.id}"}`)).out)).toMatchObject({ name: 'Cal' })
    expect(
      JSON.parse((await run('admin customers.list {"query":{"email":"cal@example.com","limit":"1"}}')).out),
    ).toMatchObject({
      total: 1,
      data: [{ id: made.id }],
    })
    expect((await run('admin customers.list {"query":{"nonsense":"1"}}')).error).toStartWith('invalid_request')
  })
})

test(
  'a backup is made while it runs, is refused over another, is put back only when it stands, and brings back ' +
    'what was there',
  async () => {
    const child = await live.serve()
    const token = (
      await run('admin create-token --account ada@example.com --name Live --scopes customers:read,customers:write')
    ).out
    const emails = async () => (await live.api(token, 'GET', '/admin/customers')).body.data.map((c: any) => c.email)
    expect(statSync(`${live.dir}/secret.key`).mode & 0o777).toBe(0o600)
    expect(statSync(`${live.dir}/admin.sock`).mode & 0o777).toBe(0o600)

    const file = `${live.dir}/copy.db`
    const made = await run(`backup create ${file}`)
    expect([made.code, made.error]).toEqual([0, ''])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const again = await run(`backup create ${file}`)
    expect([again.code, again.error]).toEqual([
      1,
      `backup_failed: ${file} exists already; a backup never overwrites one.`,
    ])
    expect(
      (await live.api(token, 'POST', '/admin/customers', { name: 'Late', email: 'late@example.com' })).status,
    ).toBe(201)
    const refused = await run(`backup restore ${file}`)
    expect([refused.code, refused.error]).toEqual([
      1,
      'backup_failed: The controller is running. Stop it first: what it writes now would be lost.',
    ])
    expect(await emails()).toEqual(['late@example.com', 'cal@example.com'])

    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    writeFileSync(`${live.dir}/broken.db`, 'SQLite format 3\u0000 and nothing more')
    writeFileSync(`${live.dir}/text.db`, 'not a database')
    for (const bad of ['broken.db', 'text.db', 'absent.db']) {
      const { code, error } = await run(`backup restore ${live.dir}/${bad}`)
      expect([bad, code]).toEqual([bad, 1])
      expect(error).toStartWith('backup_failed: ')
      expect(error).not.toMatch(/at .*\.ts:\d+/)
    }
    const kept = () => readdirSync(live.dir).filter((name) => name.startsWith('berth.db.before-restore-')).length
    const older = await run(`backup restore ${file}`)
    expect([older.code, older.error]).toEqual([
      1,
      expect.stringMatching(/^backup_failed: The database that is here is newer: .*Nothing was changed/),
    ])
    expect([kept(), existsSync(`${live.dir}/berth.db.restoring`)]).toEqual([0, false])
    const restored = await run(`backup restore ${file} --discard-newer`)
    expect([restored.code, restored.error, kept()]).toEqual([0, '', 1])
    controller = await live.serve()
    expect(await emails()).toEqual(['cal@example.com'])
    expect(JSON.stringify(await live.admin('overview.get'))).toContain('The database was restored as it was at')
    expect(existsSync(`${live.dir}/berth.db.restoring`)).toBe(false)
  },
)

describe('a directory that is not there, or has no database', () => {
  for (const [args, dir] of [
    ['admin staff.list', 'typo'],
    ['admin create-token --account ada@example.com --name X --preset billing', 'typo'],
    ['secrets rotate', 'typo'],
    ['backup create FILE', 'typo'],
    ['admin staff.list', 'empty'],
    ['backup create FILE', 'empty'],
  ] as const)
    test(`${args} makes no second installation in one that is ${dir === 'typo' ? 'mistyped' : dir}`, async () => {
      if (dir === 'empty') mkdirSync(`${live.dir}/empty`, { recursive: true })
      const { code, out, error } = await run(args.replace('FILE', `${live.dir}/never.db`), '', {
        PANEL_DATA_DIR: `${live.dir}/${dir}`,
      })
      expect(existsSync(`${live.dir}/never.db`)).toBe(false)
      expect([code, out]).toEqual([1, ''])
      expect(error).toStartWith(`no_database: There is no database at ${live.dir}/${dir}/berth.db. Set PANEL_DATA_DIR`)
      if (dir === 'typo') expect(existsSync(`${live.dir}/typo`)).toBe(false)
      else expect(readdirSync(`${live.dir}/empty`)).toEqual([])
    })
})

describe('a start that cannot be', () => {
  const start = (env: Record<string, string>) =>
    run('serve', '', { PANEL_DATA_DIR: `${live.dir}/other`, PANEL_LISTEN: '127.0.0.1:0', ...env })
  const ended = async (start: Promise<{ code: number; out: string; error: string }>) => {
    const { code, out, error } = await start
    expect(out).toBe('')
    expect(error).not.toMatch(/\bat .*[:(]\d+|^\d+ \|/m) // no trace, no source
    return { code, words: error.split('\n').at(-1) }
  }
  const pem = async (name: string) => {
    const args = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      '/CN=panel.test',
    ]
    await Bun.spawn(['openssl', ...args, '-keyout', `${live.dir}/${name}.key`, '-out', `${live.dir}/${name}.crt`], {
      stderr: 'ignore',
    }).exited
  }

  test('beside one that runs on the same data is refused', async () => {
    expect(await ended(start({ PANEL_DATA_DIR: live.dir }))).toEqual({
      code: 1,
      words:
        `already_running: A controller (process ${controller.pid}) is running on ${live.dir} already. Stop it, ` +
        'or set PANEL_DATA_DIR.',
    })
    expect((await fetch(`${live.url}/api/v1/status`)).status).toBe(200)
  })
  test('names the port that is taken, and how to learn by whom', async () => {
    const { code, words } = await ended(start({ PANEL_LISTEN: new URL(live.url).host }))
    expect([code, words]).toEqual([
      1,
      expect.stringContaining(`port_taken: Another program listens on ${new URL(live.url).host} already; ss -ltnp`),
    ])
  })
  test('is a wrong setting where the directory of the agents’ programs does not exist', async () => {
    const { code, words } = await ended(start({ PANEL_AGENT_DIR: '/no/such/directory' }))
    expect([code, words]).toEqual([
      2,
      expect.stringContaining('PANEL_AGENT_DIR: there is no directory /no/such/directory. Make it, or leave'),
    ])
  })
  test('is a wrong setting where the address is not of this machine', async () => {
    const { code, words } = await ended(start({ PANEL_LISTEN: '203.0.113.9:8080' }))
    expect([code, words]).toEqual([
      2,
      expect.stringContaining('PANEL_LISTEN: 203.0.113.9:8080 is not an address of this machine'),
    ])
  })
  test('is a wrong setting where certificate or key are missing, nonsense, or not of each other', async () => {
    await Promise.all([pem('one'), pem('two')])
    writeFileSync(`${live.dir}/nonsense.crt`, 'nonsense')
    for (const [cert, key, expected] of [
      ['absent.crt', 'one.key', `PANEL_TLS_CERT: there is no file ${live.dir}/absent.crt.`],
      ['one.crt', 'absent.key', `PANEL_TLS_KEY: there is no file ${live.dir}/absent.key.`],
      ['nonsense.crt', 'one.key', 'PANEL_TLS_CERT and PANEL_TLS_KEY must be a certificate and its key'],
      [
        'one.crt',
        'two.key',
        `PANEL_TLS_KEY: ${live.dir}/two.key is not the key of the certificate in ${live.dir}/one.crt.`,
      ],
    ] as const) {
      const { code, words } = await ended(
        start({ PANEL_TLS_CERT: `${live.dir}/${cert}`, PANEL_TLS_KEY: `${live.dir}/${key}` }),
      )
      expect([cert, code, words]).toEqual([cert, 2, expect.stringContaining(expected)])
    }
  })
  test(
    'on what is no database, or on a newer one, says so and changes nothing; a backup of a newer one is not put ' +
      'in place',
    async () => {
      const dir = `${live.dir}/kept`
      mkdirSync(dir)
      writeFileSync(`${dir}/berth.db`, 'not a database, and long enough to be looked at as one')
      const damaged = await ended(start({ PANEL_DATA_DIR: dir }))
      expect([damaged.code, damaged.words]).toEqual([1, expect.stringContaining('database_damaged: ')])
      expect(readFileSync(`${dir}/berth.db`, 'utf8')).toStartWith('not a database')

      rmSync(`${dir}/berth.db`)
      expect(
        (await run('admin create-staff --email a@b.test --name A', 'seven green bicycles\n', { PANEL_DATA_DIR: dir }))
          .code,
      ).toBe(0)
      const db = new Database(`${dir}/berth.db`)
      db.run("INSERT INTO migrations VALUES ('9999_future', 'x', 1)")
      db.run('PRAGMA wal_checkpoint(TRUNCATE)')
      db.close()
      copyFileSync(`${dir}/berth.db`, `${live.dir}/newer.db`)
      const newer = await ended(start({ PANEL_DATA_DIR: dir }))
      expect([newer.code, newer.words]).toEqual([
        1,
        expect.stringMatching(
          /^database_not_ours: This database was written by a newer Berth .*berth backup restore FILE\.$/,
        ),
      ])
      const other = `${live.dir}/restored`
      mkdirSync(other)
      const restored = await run(`backup restore ${live.dir}/newer.db`, '', { PANEL_DATA_DIR: other })
      expect([restored.code, restored.error]).toEqual([1, newer.words!])
      expect(readdirSync(other)).toEqual([])
    },
  )
})

test('several that find a new directory at once make one database, and each does what it was told', async () => {
  const dir = `${live.dir}/at-once`
  const make = (n: number) =>
    run(`admin create-staff --email a${n}@example.com --name A${n}`, 'seven green bicycles\n', { PANEL_DATA_DIR: dir })
  const made = await Promise.all([1, 2, 3, 4].map(make))
  expect(made.map(({ code, error }) => [code, error])).toEqual(made.map(() => [0, '']))
  expect(JSON.parse((await run('admin staff.list', '', { PANEL_DATA_DIR: dir })).out).total).toBe(4)
})

// As on an installed controller: the data belongs to a user of its own, and the operator is root, or somebody else.
describe.skipIf(process.getuid?.() !== 0)('where the data directory is another user’s', () => {
  const [own, stranger] = [65_534, 65_533]
  const dir = () => `${live.dir}/theirs`
  const env = () => ({ PANEL_DATA_DIR: dir(), PANEL_LISTEN: `127.0.0.1:${freePort()}` })
  const as = (uid: number, args: string) => berthAs(uid, args.split(' '), env())
  const owners = () => Object.fromEntries(readdirSync(dir()).map((name) => [name, statSync(`${dir()}/${name}`).uid]))

  test(
    'what root does there is theirs, from the first start to a restore, and a link laid there leads root ' + 'nowhere',
    async () => {
      chmodSync(live.dir, 0o711)
      mkdirSync(dir(), { mode: 0o700 })
      chownSync(dir(), own, own)
      expect(
        (await run('admin create-staff --email ada@example.com --name Ada', 'seven green bicycles\n', env())).error,
      ).toBe('')
      expect((await run('secrets rotate', '', env())).error).toBe('')
      mkdirSync(`${live.dir}/backups`, { mode: 0o700 })
      const file = `${live.dir}/backups/copy.db`
      expect((await run(`backup create ${file}`, '', env())).error).toBe('')
      expect([statSync(file).uid, statSync(file).mode & 0o777]).toEqual([0, 0o600])
      writeFileSync(`${live.dir}/victim`, 'of root')
      symlinkSync(`${live.dir}/victim`, `${dir()}/berth.db.restoring`)
      const restored = await run(`backup restore ${file}`, '', env())
      expect([restored.code, restored.error]).toEqual([0, ''])
      expect(readFileSync(`${live.dir}/victim`, 'utf8')).toBe('of root')
      expect(new Set(Object.values(owners()))).toEqual(new Set([own]))
      expect(Object.keys(owners()).filter((name) => name.startsWith('berth.db.before-restore-'))).toHaveLength(1)
      expect(statSync(`${dir()}/berth.db`).mode & 0o777).toBe(0o600)
      // The controller, which runs as them, opens what root put there.
      const listed = await as(own, 'admin staff.list')
      expect([listed.code, JSON.parse(listed.out || '{}').total]).toEqual([0, 1])
    },
  )
  test(
    'a controller that runs as root in it keeps its database, and a restore brings it back to the directory’s ' +
      'owner',
    async () => {
      for (const name of ['berth.db', 'secret.key']) chownSync(`${dir()}/${name}`, 0, 0)
      expect(JSON.parse((await run('admin staff.list', '', env())).out).total).toBe(1)
      expect(owners()['berth.db']).toBe(0)
      expect((await run(`backup restore ${live.dir}/backups/copy.db`, '', env())).error).toBe('')
      expect(owners()['berth.db']).toBe(own)
      chownSync(`${dir()}/secret.key`, own, own)
    },
  )
  test('everybody else is told whose it is, and changes nothing', async () => {
    const before = owners()
    for (const args of [
      'admin staff.list',
      'secrets rotate',
      `backup create ${live.dir}/stranger.db`,
      `backup restore /etc/hostname`,
      'serve',
    ]) {
      const { code, out, error } = await as(stranger, args)
      expect([args, code, out]).toEqual([args, 1, ''])
      expect(error).not.toMatch(/\bat .*[:(]\d+/)
      if (!args.includes('restore')) expect(error).toContain('It belongs to nobody: run this as root (sudo berth …)')
    }
    expect(owners()).toEqual(before)
  })
})
