// Places for backups: the fake, and Debian's restic with a folder, Berth's append-only server, and OpenSSH.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import fc from 'fast-check'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import { FakeBackups } from '../../../agent/drivers/backup/fake.ts'
import { detailOf, meaningOf } from '../../../agent/drivers/backup/findings.ts'
import { Restic, resticWith } from '../../../agent/drivers/backup/restic.ts'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import type { Disk } from '../../../agent/drivers/storage/storage.ts'
import { run } from '../../../agent/host/exec.ts'
import { type BackupTarget, backupAddress, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import { addLogin } from '../../../backup-server/logins.ts'
import { clearIncoming } from '../../../backup-server/repository.ts'
import { backupServer } from '../../../backup-server/server.ts'
import { selfSigned } from '../../support/services/certificate.ts'
import { S3_ACCESS, S3_SECRET, s3Server } from '../../support/services/s3.ts'
import { freePort } from '../../support/world/program.ts'
import { backupContract, DISK_BYTES } from './contract.ts'

setDefaultTimeout(120_000)
/** Each call of restic takes half a second for its key alone. */
const long = test.skipIf(!process.env['BERTH_LONG'])

const dir = mkdtempSync('/tmp/berth-targets-')
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let places = 0
/** A folder of its own, with the marker. */
function folder(name = `place${++places}`) {
  mkdirSync(`${dir}/${name}`, { recursive: true })
  writeFileSync(`${dir}/${name}/${LOCAL_MARKER}`, '')
  return `${dir}/${name}`
}
const target = (more: Partial<BackupTarget>): BackupTarget => ({
  kind: 'local',
  address: '/nowhere',
  login: '',
  secret: '',
  trust: '',
  repository: 'bkt_test',
  password: 'password-of-the-repository',
  ...more,
})
const unmounted = () => {
  mkdirSync(`${dir}/unmounted`, { recursive: true })
  return target({ address: `${dir}/unmounted` })
}

describe('the fake', () =>
  backupContract(async () => {
    const db = new Database(':memory:')
    db.run('create table volumes (path text, sizeBytes integer)')
    const layers = new FakeLayers(db)
    return {
      backups: new FakeBackups(db),
      local: target({ address: '/srv/backups' }),
      rest: target({ kind: 'rest', address: 'https://backups.example:8000/web/', login: 'web', secret: 'right' }),
      nowhere: target({ kind: 'rest', address: 'https://nowhere.example/web/' }),
      unmounted: unmounted(),
      async disk(text) {
        const path = `/fake/local/${++places}.raw`
        if (text !== undefined) layers.write(path, text)
        return { kind: 'file', path, format: 'raw' }
      },
      read: async ({ path }) => layers.read(path) ?? '',
    }
  }))

/** Real disks, each second one of the other format. */
const disks = {
  async disk(text?: string): Promise<Disk> {
    const path = `${dir}/disk${++places}`
    const [raw, format] = [`${path}.raw`, places % 2 ? ('raw' as const) : ('qcow2' as const)]
    const content = Buffer.alloc(DISK_BYTES)
    if (text !== undefined) {
      for (let at = 0; at < DISK_BYTES / 2; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))
      content.write(`${text}\0`)
    }
    writeFileSync(raw, content)
    if (format === 'raw') return { kind: 'file', path: raw, format }
    await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', '--', raw, `${path}.qcow2`])
    return { kind: 'file', path: `${path}.qcow2`, format }
  },
  async read({ path, format }: Disk): Promise<string> {
    const raw = `${dir}/read${++places}`
    await run('qemu-img', ['convert', '-f', format, '-O', 'raw', '--', path, raw])
    const text = readFileSync(raw).subarray(0, 100).toString('latin1')
    return text.slice(0, text.indexOf('\0'))
  },
}

describe('restic', () => {
  const work = `${dir}/agent`
  const restic = () => new Restic(work)
  /** The folder for secrets of this agent. */
  const inMemory = `/dev/shm/berth-backup-${new Bun.CryptoHasher('sha256').update(work).digest('hex').slice(0, 16)}`
  let plain: ReturnType<typeof backupServer>
  let secure: ReturnType<typeof backupServer>
  let secret = ''
  let certificate: Awaited<ReturnType<typeof selfSigned>>
  beforeAll(async () => {
    const root = folder('server')
    certificate = await selfSigned(dir)
    await clearIncoming(root)
    secret = addLogin(root, 'web')!
    plain = backupServer({ root, hostname: '127.0.0.1', port: 0 })
    secure = backupServer({ root, hostname: '127.0.0.1', port: 0, tls: certificate })
  })
  afterAll(async () => {
    await plain.stop(true)
    await secure.stop(true)
    rmSync(inMemory, { recursive: true, force: true })
  })
  const onServer = (more: Partial<BackupTarget> = {}) =>
    target({ kind: 'rest', address: `http://127.0.0.1:${plain.port}/web/`, login: 'web', secret, ...more })
  const overTls = (trust: string, host = 'localhost') =>
    onServer({ address: `https://${host}:${secure.port}/web`, trust })

  backupContract(async () => ({
    backups: restic(),
    local: target({ address: folder() }),
    rest: onServer(),
    nowhere: onServer({ address: `http://127.0.0.1:${freePort()}/web/` }),
    unmounted: unmounted(),
    ...disks,
  }))
  test('takes the certificate of an authority of its own, and no other', async () => {
    expect(await restic().test(overTls(certificate.pem))).toMatchObject({ finding: 'works', appendOnly: 'yes' })
    expect(await restic().test(overTls(''))).toMatchObject({
      finding: 'certificate',
      detail: expect.stringContaining('certificate'),
    })
  })
  test('says that a disk is full', async () => {
    const place = folder('full')
    expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=16k', 'berth-test', place]).exitCode).toBe(0)
    try {
      writeFileSync(`${place}/${LOCAL_MARKER}`, '')
      expect(await restic().test(target({ address: place }))).toMatchObject({ finding: 'full' })
    } finally {
      Bun.spawnSync(['umount', '-l', place])
    }
  })
  const toSave = (n: number) => ({
    ...{ backup: `bkp_${String(n).padStart(26, '0')}`, workload: `srv_${'1'.repeat(26)}` },
    ...{ sizeBytes: DISK_BYTES, consistent: true },
  })
  const save = async (to: BackupTarget, driver = restic()) =>
    driver.save(to, toSave(1), { disk: await disks.disk('x') }, new AbortController().signal)
  long('a disk that becomes full has no backup, and goes on when there is space', async () => {
    const place = folder('filling')
    const mount = (...more: string[]) =>
      Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', ...more, 'berth-test', place]).exitCode
    expect(mount('size=1m')).toBe(0)
    try {
      writeFileSync(`${place}/${LOCAL_MARKER}`, '')
      await expect(save(target({ address: place }))).rejects.toMatchObject({ code: 'backup_full' })
      expect(mount('remount,size=8m')).toBe(0)
      expect(await save(target({ address: place }))).toMatchObject({ diskBytes: DISK_BYTES })
    } finally {
      Bun.spawnSync(['umount', '-l', place])
    }
  })
  test('a disk takes no more space after its restore than its data, whatever its format', async () => {
    const to = target({ address: folder() })
    const { snapshot } = await save(to)
    const made = [await disks.disk(), await disks.disk()]
    expect(made.map(({ format }) => format).toSorted()).toEqual(['qcow2', 'raw'])
    for (const disk of made) {
      if (disk.format === 'raw') await run('qemu-img', ['create', '-q', '-f', 'raw', '--', disk.path, `${DISK_BYTES}`])
      await restic().load(to, snapshot, disk)
      expect(await disks.read(disk)).toBe('x')
      expect(statSync(disk.path).blocks * 512).toBeLessThan(DISK_BYTES * 0.75)
    }
  })
  test('a disk that has moved to a node and a format of its own adds next to nothing to its backups', async () => {
    const to = target({ address: folder() })
    const left = await disks.disk('moved')
    const format = left.format === 'raw' ? 'qcow2' : 'raw'
    const arrived = { ...left, format, path: `${left.path}.moved` } as const
    await run('qemu-img', ['convert', '-f', left.format, '-O', format, '--', left.path, arrived.path])
    const added: number[] = []
    for (const [n, disk] of [left, arrived].entries()) {
      const node = new Restic(folder('node'))
      added.push((await node.save(to, toSave(n + 1), { disk }, new AbortController().signal)).addedBytes!)
    }
    expect(added[0]).toBeGreaterThan(DISK_BYTES / 4)
    expect(added[1]).toBeLessThan(added[0]! / 100)
  })
  long('a damaged pack is found by a check, and its disk does not come back as another one', async () => {
    const to = target({ address: folder() })
    const { snapshot } = await save(to)
    const packs = readdirSync(`${to.address}/bkt_test/data`, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => `${parentPath}/${name}`)
      .toSorted((a, b) => statSync(b).size - statSync(a).size)
    const bytes = readFileSync(packs[0]!)
    for (let at = 1000; at < bytes.length - 10_000; at += 5000) bytes[at]! ^= 1
    chmodSync(packs[0]!, 0o600)
    writeFileSync(packs[0]!, bytes)
    expect(await restic().check(to, 1, 1)).toMatchObject({ finding: 'damaged' })
    await expect(restic().load(to, snapshot, await disks.disk())).rejects.toMatchObject({ code: 'backup_damaged' })
  })
  /** A server in front of the plain one, which answers some requests itself. */
  const inFront = async (answer: (method: string, path: string) => Response | Promise<Response> | undefined) => {
    const proxy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        const own = answer(request.method, pathname)
        if (own) return own
        const body = request.method === 'POST' ? await request.arrayBuffer() : undefined
        const { method, headers } = request
        return fetch(`http://127.0.0.1:${plain.port}${pathname}${search}`, { method, headers, body })
      },
    })
    return {
      proxy,
      to: onServer({ address: `http://127.0.0.1:${proxy.port}/web/`, repository: `in_front_${++places}` }),
    }
  }
  long('a server that loses what it was given is found out, and one that says nothing is given up', async () => {
    const impatient = new Restic(work, { stepSeconds: 45, stallSeconds: 5, lockSeconds: 1 })
    const lying = await inFront((method, path) =>
      method === 'POST' && path.includes('/data/') ? new Response() : undefined,
    )
    try {
      await expect(save(lying.to, impatient)).rejects.toMatchObject({ code: 'backup_unreliable' })
    } finally {
      lying.proxy.stop(true)
    }
    const silent = await inFront((method, path) =>
      method === 'POST' && path.includes('/data/') ? new Promise<Response>(() => {}) : undefined,
    )
    try {
      await expect(save(silent.to, impatient)).rejects.toMatchObject({ code: 'backup_slow' })
      expect(await restic().find(silent.to, toSave(1).backup)).toBeUndefined()
    } finally {
      silent.proxy.stop(true)
    }
  })
  long('a lock of a process that was killed does not last', async () => {
    const to = target({ address: folder() })
    const { snapshot } = await save(to)
    const prepared = resticWith(to, backupAddress('local', to.address)!, (name, text) => {
      writeFileSync(`${dir}/${name}`, text)
      return `${dir}/${name}`
    })
    const killed = Bun.spawn(['restic', ...prepared.args, 'prune', '--repack-uncompressed', '--dry-run'], {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    while (!readdirSync(`${to.address}/bkt_test/locks`).length && killed.exitCode === null) await Bun.sleep(1)
    killed.kill('SIGKILL')
    await killed.exited
    expect(await restic().forget(to, [snapshot], [])).toEqual({ gone: [snapshot], kept: [] })
  })
  test('S33: leaves no secret in the job’s log, in a result, or in memory', async () => {
    const said: string[] = []
    const log = { line: (_: unknown, text: string) => void said.push(text), progress() {} }
    const secrets = ['a-secret-of-the-server-to-be-found', 'a-password-to-be-found']
    const result = await loggingTo(log, () => restic().test(onServer({ secret: secrets[0]!, password: secrets[1]! })))
    expect(said.join('\n')).toContain('restic')
    for (const one of secrets) expect(said.join('\n') + JSON.stringify(result)).not.toContain(one)
    expect(readdirSync(inMemory)).toEqual([])
  })
  test('what a crash left in memory goes at the next start', () => {
    mkdirSync(`${inMemory}/use-x`, { recursive: true })
    writeFileSync(`${inMemory}/use-x/password`, 'secret')
    restic()
    expect(existsSync(inMemory)).toBe(false)
  })

  describe('over SFTP', () => {
    const port = freePort()
    let sshd: ReturnType<typeof Bun.spawn>
    const key = (name: string) => readFileSync(`${dir}/ssh/${name}`, 'utf8')
    beforeAll(async () => {
      mkdirSync(`${dir}/ssh`)
      mkdirSync('/run/sshd', { recursive: true })
      for (const name of ['host', 'client', 'stranger'])
        Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', `${dir}/ssh/${name}`])
      writeFileSync(`${dir}/ssh/authorized`, key('client.pub'))
      const settings = [
        `Port ${port}`,
        'ListenAddress 127.0.0.1',
        `HostKey ${dir}/ssh/host`,
        `AuthorizedKeysFile ${dir}/ssh/authorized`,
        'StrictModes no',
        'UsePAM no',
        'PasswordAuthentication no',
        'PermitRootLogin yes',
        `PidFile ${dir}/ssh/pid`,
        'Subsystem sftp internal-sftp',
      ]
      writeFileSync(`${dir}/ssh/config`, `${settings.join('\n')}\n`)
      sshd = Bun.spawn(['/usr/sbin/sshd', '-D', '-f', `${dir}/ssh/config`], { stderr: 'ignore' })
      const answers = () => Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).then((s) => s.end())
      while (
        !(await answers().then(
          () => true,
          () => false,
        ))
      )
        await Bun.sleep(20)
    })
    afterAll(async () => {
      sshd.kill()
      await sshd.exited
    })
    const trusted = () => key('host.pub').split(' ').slice(0, 2).join(' ')
    const overSftp = (more: Partial<BackupTarget> = {}) =>
      target({
        kind: 'sftp',
        address: `sftp://127.0.0.1:${port}${dir}/over-sftp`,
        login: 'root',
        secret: key('client'),
        trust: trusted(),
        ...more,
      })
    test('a target works, and a node can erase what is there', async () => {
      mkdirSync(`${dir}/over-sftp`, { recursive: true })
      expect(await restic().test(overSftp())).toMatchObject({ finding: 'works', detail: '', appendOnly: 'no' })
      expect(statSync(`${dir}/over-sftp/bkt_test/config`).isFile()).toBe(true)
    })
    long('a disk comes back', async () => {
      mkdirSync(`${dir}/over-sftp`, { recursive: true })
      const { snapshot } = await save(overSftp())
      const made = await disks.disk()
      await restic().load(overSftp(), snapshot, made)
      expect(await disks.read(made)).toBe('x')
    })
    test('another host key, and another key of ours, are refused', async () => {
      const other = key('stranger.pub').split(' ').slice(0, 2).join(' ')
      expect(await restic().test(overSftp({ trust: other }))).toMatchObject({ finding: 'host_key' })
      expect(await restic().test(overSftp({ secret: key('stranger') }))).toMatchObject({ finding: 'login_refused' })
    })
  })
})

describe('restic with S3', () => {
  const inS3 = (url: string, more: Partial<BackupTarget> = {}) =>
    target({ kind: 's3', address: `${url}/bucket/berth`, login: S3_ACCESS, secret: S3_SECRET, ...more })
  test('a disk comes back; another secret is refused, and a bucket that is gone is found out', async () => {
    const s3 = s3Server({ atOnce: 100 })
    try {
      const restic = new Restic(`${dir}/agent-s3`)
      const given = await disks.disk('in the bucket')
      const { signal } = new AbortController()
      const what = { backup: `bkp_${'1'.repeat(26)}`, workload: `srv_${'1'.repeat(26)}` }
      const saved = await restic.save(
        inS3(s3.url),
        { ...what, sizeBytes: DISK_BYTES, consistent: true },
        { disk: given },
        signal,
      )
      expect(saved.diskBytes).toBe(DISK_BYTES)
      expect([...s3.objects.keys()].some((key) => key.startsWith('berth/bkt_test/data/'))).toBe(true)
      const made = await disks.disk()
      await restic.load(inS3(s3.url), saved.snapshot, made)
      expect(await disks.read(made)).toBe('in the bucket')
      await expect(restic.find(inS3(s3.url, { secret: 'wrong' }), what.backup)).rejects.toMatchObject({
        code: 'backup_login_refused',
      })
      expect(await restic.forget(inS3(s3.url), [saved.snapshot], [])).toEqual({ gone: [saved.snapshot], kept: [] })
      s3.removeBucket()
      await expect(restic.load(inS3(s3.url), saved.snapshot, await disks.disk())).rejects.toMatchObject({
        code: expect.stringMatching(/^backup_/),
      })
    } finally {
      await s3.stop()
    }
  })
})

describe('restic’s words', () => {
  test.each([
    ['Fatal: wrong password or no key found', 'wrong_password'],
    [
      'Fatal: failed to find snapshot: failed to load snapshot 1a: open /b/1a: no such file or directory',
      'no_snapshot',
    ],
    ['Fatal: failed to find snapshot: Load(<snapshot/1a>) returned error: connection refused', 'unreachable'],
    ['Fatal: unable to open config file: Stat: The specified key does not exist.\nIs there a repository?', 'missing'],
    ['unable to open config file: stat /srv/x/config: no such file or directory\nIs there a repository', 'missing'],
    ['Fatal: unable to open config file: <config/> does not exist\nIs there a repository at', 'missing'],
    ['unexpected HTTP response (404): 404 Not Found\nIs there a repository', 'missing'],
    ['unable to open config file: unexpected HTTP response (401): 401 Unauthorized\nIs there', 'login_refused'],
    ['client.BucketExists: Access Denied.', 'login_refused'],
    ['The request signature we calculated does not match the signature you provided.', 'login_refused'],
    ['root@127.0.0.1: Permission denied (publickey).\nunable to start the sftp session', 'login_refused'],
    ['Host key verification failed.\nFatal: unable to open repository', 'host_key'],
    ['Get "https://x/config": x509: certificate signed by unknown authority\nIs there a repository', 'certificate'],
    ['dial tcp: lookup nowhere.example: no such host', 'unreachable'],
    ['Save(<data/1>) returned error: unexpected HTTP response (507): 507 Insufficient Storage', 'full'],
    ['write /srv/x: no space left on device', 'full'],
    ['mkdir /srv/x: permission denied', 'not_writable'],
    ['unable to create lock in backend: repository is already locked by PID 1', 'locked'],
    ['create repository at x failed: Fatal: config file already exists', 'there'],
    ['restic init did not end within 45 s and was stopped; it last said: i/o timeout', 'unreachable'],
    ['restic init did not end within 45 s and was stopped', 'slow'],
    ['something new', 'failed'],
  ] as const)('%s', (words, meaning) => expect(meaningOf(words)).toBe(meaning))
  test('are told by the line that says most, without secrets', () => {
    const said =
      'repository opened\nFatal: Get https://web:se%2Fcret@x/: refused\nIs there a repository at\nrest:https://web:x'
    expect(detailOf(said, ['se/cret', 'se%2Fcret'])).toBe('Fatal: Get https://web:***@x/: refused')
  })
})

describe('an address', () => {
  test('has the form of its kind', () => {
    expect(backupAddress('local', '/srv/backups')).toMatchObject({ path: '/srv/backups' })
    expect(backupAddress('sftp', 'sftp://b.example/home/b')).toMatchObject({
      host: 'b.example',
      port: 22,
      path: '/home/b',
    })
    expect(backupAddress('s3', 'https://s3.example/bucket/a')).toMatchObject({ port: 443, path: '/bucket/a' })
    expect(backupAddress('rest', 'https://[2001:db8::1]:8000/')).toMatchObject({
      host: '2001:db8::1',
      port: 8000,
      path: '',
    })
    expect(backupAddress('rest', 'http://127.0.0.1:8000/web/')).toMatchObject({ scheme: 'http', path: '/web' })
  })
  test.each([
    ['rest', 'http://b.example/web/'],
    ['s3', 'http://10.0.0.1/bucket'],
    ['s3', 'https://s3.example/'],
    ['sftp', 'sftp://user@b.example/x'],
    ['sftp', 'sftp://-oProxyCommand=x/x'],
    ['sftp', 'sftp://b.example:70000/x'],
    ['sftp', 'sftp://b.example/x/../y'],
    ['local', '/srv//x'],
    ['local', '/srv/.ssh'],
    ['local', '/'],
    ['rest', 'https://b.example/web/?x=1'],
    ['rest', 'https://b.example:0/web/'],
  ] as const)('is none of %s: %s', (kind, text) => expect(backupAddress(kind, text)).toBeUndefined())
  test('S4: brings no word of its own into the command of SSH, whatever it is', () => {
    const words = (address: string, login: string) => {
      const at = backupAddress('sftp', address)
      const given = target({ kind: 'sftp', address, login, secret: 'k', trust: 'ssh-ed25519 AAAA' })
      return (
        at &&
        resticWith(given, at, (name) => `/m/${name}`)
          .args.at(-1)!
          .split(/\s/).length
      )
    }
    const usual = words('sftp://b.example/x', 'backup')!
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(70_000), (host, path, port) => {
        expect([undefined, usual]).toContain(words(`sftp://${host}:${port}/${path}`, 'backup'))
      }),
      { numRuns: 500 },
    )
  })
  test('S33: brings secrets into no argument', () => {
    for (const kind of ['sftp', 's3', 'rest', 'local'] as const) {
      const address = { local: '/x', sftp: 'sftp://h/x', s3: 'https://h/x', rest: 'https://h/x' }[kind]
      const given = target({ kind, address, login: 'web', secret: 'CANARY-1', password: 'CANARY-2', trust: 'CANARY-3' })
      const used = resticWith(given, backupAddress(kind, address)!, (name) => `/m/${name}`)
      expect(JSON.stringify(used)).not.toContain('CANARY')
    }
  })
})
