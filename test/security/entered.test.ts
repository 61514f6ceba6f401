// Values that no node and no mail server could use are refused where they are entered, and not weeks later in a job.
import { expect, test } from 'bun:test'
import { publicAddresses } from '../../agent/drivers/images/public-only.ts'
import { addressesOf, NameServerSilent } from '../../agent/protocol/net/pinned-request.ts'
import { downloadPolicy } from '../../src/fleet/nodes/addresses/platform.ts'
import { addressFor, ForbiddenAddress, NoAnswer, publicOnly } from '../../src/kernel/net/egress.ts'
import { type World, world } from '../support/world/panel.ts'

const digest = `sha256:${'0'.repeat(64)}`

test('the reference of a GPU image is one of a public registry, as registries write names', async () => {
  using p = await world({ localRegistries: 'registry.lan:5000' })
  let n = 0
  const add = (reference: string) =>
    p.call(p.owner, 'POST', '/admin/gpu-images', { name: `Image ${++n}`, reference, mostMb: 100 })
  for (const name of [
    'docker.io/pytorch/pytorch',
    'quay.io/jupyter/pytorch-notebook',
    'registry.example.com:5000/a/b_c/d.e/f--g/h__i',
    'registry.lan:5000/ml/pytorch',
    '93.184.216.34/ml/pytorch',
  ])
    expect([name, (await add(`${name}@${digest}`)).status]).toEqual([name, 201])
  for (const name of [
    'docker.io/../etc/passwd',
    'docker.io/a/../b',
    'docker.io/a/./b',
    'docker.io/-rf',
    'docker.io/a/-rf',
    'docker.io//a',
    'docker.io/a/',
    'docker.io/a..b',
    'docker.io/.a',
    '-docker.io/a',
    'docker..io/a',
    '../a',
    'docker.io/a_-b',
    'docker.io:99999/a',
    'localhost/a',
    'localhost:5000/a',
    'registry/a',
    'registry.lan/a/b@x',
    '127.0.0.1:5000/a',
    '10.0.0.5:5000/a',
    '169.254.169.254/a',
    '0x7f000001/a',
    '2130706433/a',
  ]) {
    const { status, body } = await add(`${name}@${digest}`)
    expect([name, status, body.error?.details?.fields[0].field]).toEqual([name, 422, 'reference'])
  }
})

const managed = '93.184.216.77'
const manage = (p: World) =>
  p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.managementAddress', ?) WHERE id = ?", [
    `${managed}/24`,
    p.node.id,
  ])

test('nothing is downloaded from the management address of a node', async () => {
  let asked = 0
  using p = await world({
    distributions: async () => {
      asked++
      return { status: 200, headers: { 'content-length': '512' }, body: Buffer.alloc(512) }
    },
  })
  manage(p)
  const [url, checksum] = [`https://${managed}/file`, `sha256:${'a'.repeat(64)}`]
  for (const [who, path, given, field] of [
    [p.customer, `/customers/${p.customer.id}/images`, { name: 'Own', url, checksum }, 'url'],
    [p.customer, '/isos', { name: 'Own', url, checksum }, 'url'],
    [p.owner, '/isos', { name: 'Library', url, checksum }, 'url'],
    [p.owner, '/admin/gpu-images', { name: 'GPU', reference: `${managed}/a/b@${digest}`, mostMb: 100 }, 'reference'],
  ] as const) {
    const { status, body } = await p.call(who, 'POST', path, given)
    expect([path, status, body.error?.details?.fields[0].field]).toEqual([path, 422, field])
  }
  expect(asked).toBe(0)
  const other = { name: 'Other', url: 'https://93.184.216.78/file', checksum }
  expect((await p.call(p.owner, 'POST', '/isos', other)).status).toBe(201)
})

test('a name that leads to the panel or to a node is no source of a download either', async () => {
  using p = await world()
  manage(p)
  const names: Record<string, string> = {
    'panel.test': '93.184.216.30',
    'also-panel.example': '93.184.216.30',
    'node.example': managed,
    'mirror.example': '93.184.216.34',
  }
  const lookUp = async (host: string) => [{ address: names[host]! }]
  const policy = await downloadPolicy(p.db, p.config, new URL('https://mirror.example/x'), { lookUp })
  for (const host of ['panel.test', 'also-panel.example', 'node.example'])
    await expect(addressFor(host, policy, lookUp)).rejects.toBeInstanceOf(ForbiddenAddress)
  expect(await addressFor('mirror.example', policy, lookUp)).toBe('93.184.216.34')
  await expect(downloadPolicy(p.db, p.config, new URL('https://93.184.216.30/x'), { lookUp })).rejects.toMatchObject({
    code: 'validation_failed',
  })
})

test('a name server that hangs holds no download for long, and is not asked for an address that is none', async () => {
  using p = await world()
  let asked = 0
  const hanging = () => {
    asked++
    return new Promise<never>(() => {})
  }
  const codeFor = (url: string) =>
    downloadPolicy(p.db, p.config, new URL(url), { lookUp: hanging, limitMs: 20 }).catch(({ code }) => code)
  for (const url of ['http://mirror.example/x', 'https://10.0.0.1/x', 'https://u:p@mirror.example/x'])
    expect([url, await codeFor(url), asked]).toEqual([url, 'validation_failed', 0])
  expect([await codeFor('https://mirror.example/x'), asked]).toEqual(['source_unreachable', 1])
})

test('a name server that does not answer is told apart from a name that leads nowhere', async () => {
  using p = await world()
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))
  expect(await addressesOf('mirror.example', failing('ENOTFOUND'))).toEqual([])
  const url = new URL('https://mirror.example/x')
  for (const code of ['EAI_AGAIN', 'ESERVFAIL', 'ETIMEOUT']) {
    const lookUp = failing(code)
    const silent = 'The name server does not answer for mirror.example.'
    await expect(addressesOf('mirror.example', lookUp)).rejects.toBeInstanceOf(NameServerSilent)
    await expect(addressFor('mirror.example', publicOnly, lookUp)).rejects.toThrow(silent)
    await expect(addressFor('mirror.example', publicOnly, lookUp)).rejects.toBeInstanceOf(NoAnswer)
    // The name may lead to the panel, so nothing is downloaded.
    await expect(downloadPolicy(p.db, p.config, url, { lookUp })).rejects.toMatchObject({ code: 'source_unreachable' })
    const found: Record<string, string> = { 'mirror.example': '93.184.216.34' }
    const half = (host: string) => (found[host] ? Promise.resolve([{ address: found[host] }]) : lookUp())
    const asked = publicAddresses('mirror.example', { controller: 'https://panel.test', lookUp: half })
    await expect(asked).rejects.toMatchObject({ code: 'download_failed' })
  }
  const began = performance.now()
  await expect(addressesOf('mirror.example', () => new Promise(() => {}), 20)).rejects.toBeInstanceOf(NameServerSilent)
  expect(performance.now() - began).toBeLessThan(2000)
})

test('every name is resolved by the one way that has a limit', async () => {
  const found: string[] = []
  for (const path of new Bun.Glob('{src,agent,backup-server,host}/**/*.ts').scanSync('.'))
    if (/node:dns|Bun\.dns/.test(await Bun.file(path).text())) found.push(path)
  // The second asks the name servers for one kind of record, with a time limit of its own.
  expect(found.sort()).toEqual(['agent/protocol/net/pinned-request.ts', 'src/network/reverse-dns/forward.ts'])
})

test('variables, commands and mail logins have no control characters', async () => {
  using p = await world()
  const image = (more: object) =>
    p.call(p.owner, 'POST', '/admin/gpu-images', {
      name: 'Controlled',
      reference: `docker.io/a/b@${digest}`,
      mostMb: 100,
      ...more,
    })
  for (const control of ['\u0000', '\u0007', '\u001b[2J', '\r', '\u007f']) {
    for (const more of [{ environment: [`A=x${control}y`] }, { command: ['sh', `x${control}y`] }])
      expect([more, (await image(more)).status]).toEqual([more, 422])
    for (const field of ['user', 'password']) {
      const server = { host: 'mail.example.com', port: 587, user: 'berth', password: 'x', from: 'a@example.com' }
      const { status } = await p.call(p.owner, 'PUT', '/admin/settings/mail', { ...server, [field]: `x${control}y` })
      expect([control, field, status]).toEqual([control, field, 422])
    }
  }
  expect((await image({ environment: ['KEY=a\nb\tc'], command: ['sh', '-c', 'a\nb'] })).status).toBe(201)
})

test('an address with a line break or a tab is refused, not stored without it', async () => {
  using p = await world()
  for (const url of [
    'https://hooks.example.com/a\r\nb',
    'https://hooks.example.com/\r\n',
    'https://hooks.exa\tmple.com/',
    '\nhttps://hooks.example.com/',
    'https://hooks.example.com/\u0000',
  ]) {
    const made = await p.call(p.customer, 'POST', '/webhooks', { url, events: ['*'] })
    expect([url, made.status, made.body.error?.details?.fields[0].field]).toEqual([url, 422, 'url'])
    const own = { name: 'Own', url, checksum: digest }
    const image = await p.call(p.customer, 'POST', `/customers/${p.customer.id}/images`, own)
    expect([url, image.status, image.body.error?.details?.fields[0].field]).toEqual([url, 422, 'url'])
  }
})

test('a place for backups is neither the node itself nor a folder of its system', async () => {
  const refusedAt = async (localServices: string, kind: string, address: string) => {
    using p = await world({ localServices })
    const login = kind === 'local' ? {} : { login: 'web', secret: 'secret-1' }
    const { status, body } = await p.call(p.owner, 'POST', `/admin/backup-targets/${kind}`, {
      name: 'Place',
      address,
      ...login,
    })
    return status === 201 ? 'taken' : `${status} ${body.error.details.fields[0].field}`
  }
  for (const [kind, address] of [
    ['rest', 'http://127.0.0.1:8000/web/'],
    ['rest', 'http://localhost:8000/web/'],
    ['rest', 'https://[::1]:8000/web/'],
    ['rest', 'https://169.254.169.254/web/'],
    ['rest', 'https://0.0.0.0/web/'],
    ['s3', 'http://127.0.0.1:9000/bucket'],
    ['s3', 'https://168.63.129.16/bucket'],
    ['local', '/etc/backups'],
    ['local', '/var/lib/berth-agent/backups'],
    ['local', '/proc/1'],
    ['local', '/usr'],
    ['local', '/root/backups'],
  ] as const)
    expect([address, await refusedAt('', kind, address)]).toEqual([address, '422 address'])
  for (const [kind, address] of [
    ['rest', 'https://10.0.0.5:8000/web/'],
    ['rest', 'https://backups.example.com/web/'],
    ['s3', 'https://s3.lan/bucket'],
    ['local', '/srv/backups'],
    ['local', '/mnt/etc'],
    ['local', '/var/backups/berth'],
    ['local', '/usrdata'],
  ] as const)
    expect([address, await refusedAt('', kind, address)]).toEqual([address, 'taken'])
  expect(await refusedAt('127.0.0.1/32', 's3', 'http://127.0.0.1:9000/bucket')).toBe('taken')
})
