// Every kind of store keeps the same promises: a folder, a real SFTP server, and a server of S3.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { FOLDER_MARKER } from '../../../src/kernel/stores/folder.ts'
import { openStore, type StoreAddress, setOnHost } from '../../../src/kernel/stores/open.ts'
import { signed } from '../../../src/kernel/stores/s3.ts'
import { type ObjectStore, StoreError } from '../../../src/kernel/stores/store.ts'
import { s3Server } from '../../support/services/s3.ts'
import { freePort } from '../../support/world/program.ts'

const dir = mkdtempSync(`${tmpdir()}/berth-stores-`)
const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(dir, { recursive: true, force: true })
})
const open = (address: StoreAddress) => {
  const store = openStore(address, setOnHost, Date.now)
  ends.push(() => store.close())
  return store
}
const isRoot = process.getuid?.() === 0
const hasSshd = isRoot && existsSync('/usr/sbin/sshd')

function folder() {
  mkdirSync(`${dir}/folder`, { recursive: true })
  writeFileSync(`${dir}/folder/${FOLDER_MARKER}`, '')
  return open({ kind: 'folder', path: `${dir}/folder` })
}

async function sftp(): Promise<StoreAddress & { kind: 'sftp' }> {
  const port = freePort()
  for (const name of ['host', 'user', 'host.pub', 'user.pub']) rmSync(`${dir}/${name}`, { force: true })
  for (const name of ['host', 'user']) {
    const made = Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', `${dir}/${name}`])
    if (made.exitCode !== 0) throw new Error('ssh-keygen failed')
  }
  writeFileSync(`${dir}/authorized`, readFileSync(`${dir}/user.pub`))
  mkdirSync('/run/sshd', { recursive: true })
  writeFileSync(
    `${dir}/sshd.conf`,
    [
      ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${dir}/host`, `AuthorizedKeysFile ${dir}/authorized`],
      ...['StrictModes no', 'UsePAM no', `PidFile ${dir}/sshd.pid`, 'PermitRootLogin prohibit-password'],
      'Subsystem sftp internal-sftp',
    ].join('\n'),
  )
  chmodSync(`${dir}/host`, 0o600)
  const server = Bun.spawn(['/usr/sbin/sshd', '-D', '-e', '-f', `${dir}/sshd.conf`], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  ends.push(async () => {
    server.kill()
    await server.exited
  })
  for (let i = 0; i < 200; i++) {
    const probe = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).catch(() => undefined)
    probe?.end()
    if (probe) break
    await Bun.sleep(20)
  }
  const trust = readFileSync(`${dir}/host.pub`, 'utf8').split(' ').slice(0, 2).join(' ')
  const secret = readFileSync(`${dir}/user`, 'utf8')
  return { kind: 'sftp', host: '127.0.0.1', port, path: `${dir}/over-sftp`, login: 'root', secret, trust }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
function s3() {
  const server = s3Server()
  ends.push(server.stop)
  return server.url
}

const kinds: [string, () => Promise<ObjectStore> | ObjectStore][] = [
  ['a folder', folder],
  ['S3', () => open({ kind: 's3', url: `${s3()}/bucket/a/b`, login: 'access', secret: 'secret', trust: '' })],
  ...(hasSshd ? [['SFTP', async () => open(await sftp())] as [string, () => Promise<ObjectStore>]] : []),
]

describe.each(kinds)('%s', (_, make) => {
  let store: ObjectStore
  beforeAll(async () => void (store = await make()))

  test('gives back what was put, replaces it, lists it in order, and removes it', async () => {
    expect(await store.get('claims/000001-a')).toBeUndefined()
    expect(await store.list('claims')).toEqual([])
    const long = Buffer.alloc(600_000, 'long')
    for (const name of ['segments/b/2', 'segments/a/1', 'segments/b/10', 'other/x']) await store.put(name, long)
    await store.put('segments/b/2', Buffer.from('again'))
    await store.put('segments/empty', new Uint8Array())
    expect(await store.list('segments')).toEqual(['segments/a/1', 'segments/b/10', 'segments/b/2', 'segments/empty'])
    expect(await store.list('segments/b')).toEqual(['segments/b/10', 'segments/b/2'])
    expect((await store.get('segments/b/2'))!.toString()).toBe('again')
    expect(sha256((await store.get('segments/a/1'))!)).toBe(sha256(long))
    expect((await store.get('segments/empty'))!).toHaveLength(0)
    await store.remove('segments/b/2')
    await store.remove('segments/b/2')
    expect(await store.get('segments/b/2')).toBeUndefined()
  })
  test('takes many at once', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `many/${i + 10}`)
    await Promise.all(names.map((name) => store.put(name, Buffer.from(name))))
    const found = await Promise.all(names.map((name) => store.get(name)))
    expect(found.map(String)).toEqual(names)
    expect(await store.list('many')).toEqual(names)
  })
  test('takes no name that leads out of it', async () => {
    for (const name of ['../x', 'a/../../x', '/x', 'a//b', '.hidden', 'a b', ''])
      await expect(store.put(name, Buffer.from('x'))).rejects.toThrow('is no name of an object')
  })
})

test('a folder whose disk is not mounted is refused', async () => {
  mkdirSync(`${dir}/unmounted`)
  const store = open({ kind: 'folder', path: `${dir}/unmounted` })
  await expect(store.put('a', Buffer.from('x'))).rejects.toThrow('is not prepared. Mount its disk')
  expect(existsSync(`${dir}/unmounted/a`)).toBe(false)
})
test('S3 with a wrong secret says what to look at', async () => {
  const url = `${s3()}/bucket`
  const store = open({ kind: 's3', url, login: 'access', secret: 'wrong', trust: '' })
  await expect(store.put('a', Buffer.from('x'))).rejects.toThrow(
    'answers 403 SignatureDoesNotMatch. Look at the access key',
  )
  const gone = open({ kind: 's3', url: 'http://127.0.0.1:1/bucket', login: 'access', secret: 'x', trust: '' })
  await expect(gone.get('a')).rejects.toBeInstanceOf(StoreError)
})
test('a request to S3 is signed as Amazon documents it', () => {
  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, "Get Bucket (List Objects)".
  const request = {
    ...{ method: 'GET', path: '/', search: 'max-keys=2&prefix=J', host: 'examplebucket.s3.amazonaws.com' },
    ...{ at: '20130524T000000Z', digest: sha256(Buffer.alloc(0)), region: 'us-east-1' },
  }
  const header = signed(request, 'AKIAIOSFODNN7EXAMPLE', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY')
  expect(header).toContain('Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7')
})
if (hasSshd)
  test('SFTP to another host, or with a key that it does not know, is refused', async () => {
    const address = await sftp()
    const other = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
    const wrongHost = open({ ...address, trust: other })
    await expect(wrongHost.get('a')).rejects.toThrow('The SSH host key of 127.0.0.1 is not the one that was entered.')
    Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', `${dir}/stranger`])
    const stranger = open({ ...address, secret: readFileSync(`${dir}/stranger`, 'utf8') })
    await expect(stranger.get('a')).rejects.toThrow('it refuses the user or the key.')
  })
