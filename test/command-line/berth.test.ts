// The compiled program, as an administrator uses it on the controller's host.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { berth, type Installation, installation } from '../support/processes.ts'

let it: Installation
beforeAll(async () => void (it = await installation()))
afterAll(() => it.close())
const run = (args: string, stdin = '', env = {}) => berth(args ? args.split(' ') : [], { ...it.env, ...env }, stdin)

describe('help', () => {
  for (const [args, words] of [
    ['--help', 'berth serve'],
    ['help', 'berth backup create'],
    ['serve --help', 'PANEL_PUBLIC_URL'],
    ['admin --help', 'create-staff'],
    ['admin create-staff --help', 'read from standard input'],
    ['admin servers.create --help', 'any API operation'],
    ['backup --help', 'Keep the key file'],
    ['backup create --help', 'Keep the key file'],
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
    const { settings } = await import('../../src/config.ts')
    const { operations } = await import('../../src/operations.ts')
    const [serve, list] = [await run('serve --help'), await run('admin list')]
    for (const name of Object.keys(settings)) expect(serve.out).toContain(name)
    for (const op of operations) expect(list.out).toContain(op.id)
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
    for (const verb of ['serve', 'admin nodes.list', 'secrets rotate']) {
      const { code, error } = await run(verb, '', { PANEL_PUBLIC_ULR: 'https://x' })
      expect(code).toBe(2)
      expect(error).toContain('There is no setting PANEL_PUBLIC_ULR. Did you mean PANEL_PUBLIC_URL?')
    }
  })
  test('is said in words by backup too', async () => {
    // FINDING 16: backup() reads the settings outside of its try, so a stack trace is printed.
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
      'admin create-token --account ADA@example.com --name Billing --preset billing --allow 127.0.0.1 --allow 10.0.0.0/8',
    )
    expect([token.code, token.error]).toEqual([0, ''])
    expect(token.out).toMatch(/^pnl_[A-Za-z0-9_-]{49}$/)
  })
  test('a refusal exits 1 with its code, its words and its fields', async () => {
    for (const [args, stdin, expected] of [
      [
        'admin create-staff --email ada@example.com --name Ada',
        'seven green bicycles\n',
        /^email_taken: An account with this e-mail address exists already\.$/,
      ],
      ['admin create-staff --email bo@example.com --name Bo', 'short\n', /^validation_failed: password: .*12 characters/],
      ['admin create-staff --email bo@example.com --name Bo --role Nobody', 'seven green bicycles\n', /^validation_failed: role/],
      ['admin create-token --account nobody@example.com --name X --preset billing', '', /^validation_failed: account/],
      ['admin create-token --account ada@example.com --name X --scopes servers:fly', '', /^validation_failed: scopes/],
      ['admin create-token --account ada@example.com --name X --preset all', '', /^validation_failed: preset/],
      [`admin nodes.get {"id":"nod_${'0'.repeat(26)}"}`, '', /^node_not_found: There is no such node\.$/],
      ['admin packages.create {"name":"x"}', '', /^validation_failed: Some fields are not right\.\n( {2}\w+: is required\.\n?)+$/],
    ] as const) {
      const { code, out, error } = await run(args, stdin)
      expect([args, code, out]).toEqual([args, 1, ''])
      expect(error).toMatch(expected)
      expect(error).not.toContain('bicycles')
    }
  })
  test('operations take path and query from the fields', async () => {
    const made = JSON.parse((await run('admin customers.create {"name":"Cal","email":"cal@example.com"}')).out)
    expect(JSON.parse((await run(`admin customers.get {"id":"${made.id}"}`)).out)).toMatchObject({ name: 'Cal' })
    expect(JSON.parse((await run('admin customers.list {"query":{"email":"cal@example.com","limit":"1"}}')).out)).toMatchObject({
      total: 1,
      data: [{ id: made.id }],
    })
    expect((await run('admin customers.list {"query":{"nonsense":"1"}}')).error).toStartWith('invalid_request')
  })
})

test('a backup is made while it runs, is refused over another, is put back only when it stands, and brings back what was there', async () => {
  const child = await it.serve()
  const token = (await run('admin create-token --account ada@example.com --name Live --scopes customers:read,customers:write')).out
  const emails = async () => (await it.api(token, 'GET', '/admin/customers')).body.data.map((c: any) => c.email)
  expect(statSync(`${it.dir}/secret.key`).mode & 0o777).toBe(0o600)
  expect(statSync(`${it.dir}/admin.sock`).mode & 0o777).toBe(0o600)

  const file = `${it.dir}/copy.db`
  const made = await run(`backup create ${file}`)
  expect([made.code, made.error]).toEqual([0, ''])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const again = await run(`backup create ${file}`)
  expect([again.code, again.error]).toEqual([1, `backup_failed: ${file} exists already; a backup never overwrites one.`])
  expect((await it.api(token, 'POST', '/admin/customers', { name: 'Late', email: 'late@example.com' })).status).toBe(201)
  const refused = await run(`backup restore ${file}`)
  expect([refused.code, refused.error]).toEqual([
    1,
    'backup_failed: The controller is running. Stop it first: what it writes now would be lost.',
  ])
  expect(await emails()).toEqual(['late@example.com', 'cal@example.com'])

  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  writeFileSync(`${it.dir}/broken.db`, 'SQLite format 3\u0000 and nothing more')
  writeFileSync(`${it.dir}/text.db`, 'not a database')
  for (const bad of ['broken.db', 'text.db', 'absent.db']) {
    const { code, error } = await run(`backup restore ${it.dir}/${bad}`)
    expect([bad, code]).toEqual([bad, 1])
    expect(error).toStartWith('backup_failed: ')
    expect(error).not.toMatch(/at .*\.ts:\d+/)
  }
  const restored = await run(`backup restore ${file}`)
  expect([restored.code, restored.error]).toEqual([0, ''])
  expect(readdirSync(it.dir).filter((name) => name.startsWith('berth.db.before-restore-')).length).toBe(1)
  await it.serve()
  expect(await emails()).toEqual(['cal@example.com'])
  expect(existsSync(`${it.dir}/berth.db.restoring`)).toBe(false)
})
