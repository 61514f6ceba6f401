// Objects as files over SFTP, in pure JavaScript: nothing has to be installed on this host.
import { once } from 'node:events'
import { dirname } from 'node:path'
import ssh2, { type Client, type SFTPWrapper } from 'ssh2'
import { second } from '../db/clock.ts'
import { addressFor, type Policy } from '../net/egress.ts'
import { INCOMING, mustBeName, type ObjectStore, StoreError } from './store.ts'

export type SftpAddress = {
  host: string
  port: number
  /** Absolute. */
  path: string
  user: string
  privateKey: string
  /** Like `ssh-ed25519 AAAA…`, one a line. */
  hostKeys: string
}

const CONNECT_MS = 10 * second
/** A call that is not answered for so long has failed. */
const CALL_MS = 60 * second
const NO_SUCH_FILE = 2

type Opened = { client: Client; sftp: SFTPWrapper }

export function sftpStore(address: SftpAddress, policy: Policy): ObjectStore {
  const { host, port, path: root, user } = address
  const title = `sftp://${user}@${host}:${port}${root}`
  const made = new Set<string>()
  let opened: Promise<Opened> | undefined
  let writes = 0

  function forget() {
    const before = opened
    opened = undefined
    made.clear()
    before?.then(({ client }) => client.end()).catch(() => {})
  }
  /** With one connection for all calls; a call that fails for another reason than a missing file opens a new one. */
  async function attempt<T>(work: (sftp: SFTPWrapper) => Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new StoreError(`${title} did not answer within ${CALL_MS / second} s.`)), CALL_MS)
    })
    try {
      opened ??= connect(address, policy, forget)
      return await Promise.race([opened.then(({ sftp }) => work(sftp)), late])
    } catch (error) {
      forget()
      if (error instanceof StoreError) throw error
      throw new StoreError(`${title}: ${wordsOf(error)}`, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
  async function makeFolder(sftp: SFTPWrapper, path: string): Promise<void> {
    if (made.has(path) || path === '/') return
    const isThere = await call<unknown>((done) => sftp.stat(path, done)).then(
      () => true,
      () => false,
    )
    if (!isThere) {
      await makeFolder(sftp, dirname(path))
      await call<void>((done) => sftp.mkdir(path, { mode: 0o700 }, done)).catch(async (error) => {
        // Somebody else made it meanwhile.
        await call((done) => sftp.stat(path, done)).catch(() => {
          throw error
        })
      })
    }
    made.add(path)
  }
  async function below(sftp: SFTPWrapper, folder: string): Promise<string[]> {
    const entries = await call<{ filename: string; attrs: { isDirectory(): boolean } }[]>((done) =>
      sftp.readdir(`${root}/${folder}`, done as never),
    ).catch(unlessAbsent([]))
    const found: string[] = []
    for (const { filename, attrs } of entries) {
      if (filename.startsWith('.')) continue
      const name = `${folder}/${filename}`
      if (attrs.isDirectory()) found.push(...(await below(sftp, name)))
      else found.push(name)
    }
    return found
  }

  return {
    title,
    put: (name, bytes) =>
      attempt(async (sftp) => {
        const path = `${root}/${mustBeName(name)}`
        await makeFolder(sftp, dirname(path))
        const part = `${root}/${INCOMING}${process.pid}-${++writes}`
        await write(sftp, part, bytes)
        await call<void>((done) => sftp.ext_openssh_rename(part, path, done)).catch(async () => {
          // A server without OpenSSH's extension renames only to a name that is free.
          await call<void>((done) => sftp.unlink(path, done)).catch(() => {})
          await call<void>((done) => sftp.rename(part, path, done))
        })
      }),
    get: (name) =>
      attempt((sftp) =>
        call<Buffer>((done) => sftp.readFile(`${root}/${mustBeName(name)}`, done)).catch(unlessAbsent(undefined)),
      ),
    list: (folder) => attempt(async (sftp) => (await below(sftp, mustBeName(folder))).toSorted()),
    remove: (name) =>
      attempt((sftp) =>
        call<void>((done) => sftp.unlink(`${root}/${mustBeName(name)}`, done)).catch(unlessAbsent(undefined)),
      ),
    close: forget,
  }
}

/** On disk before it is closed, where the server has OpenSSH's extension for that. */
async function write(sftp: SFTPWrapper, path: string, bytes: Uint8Array) {
  const handle = await call<Buffer>((done) => sftp.open(path, 'w', { mode: 0o600 }, done))
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (buffer.length) await call<void>((done) => sftp.write(handle, buffer, 0, buffer.length, 0, done))
    await call<void>((done) => sftp.ext_openssh_fsync(handle, done)).catch(() => {})
  } finally {
    await call<void>((done) => sftp.close(handle, done))
  }
}

type Done<T> = (error: Error | null | undefined, result: T) => void
const call = <T>(work: (done: Done<T>) => unknown): Promise<T> =>
  new Promise((resolve, reject) => {
    try {
      work((error, result) => (error ? reject(error) : resolve(result)))
    } catch (error) {
      // The library throws what the server cannot do.
      reject(error)
    }
  })

const unlessAbsent =
  <T>(otherwise: T) =>
  (error: unknown): T => {
    if ((error as { code?: unknown }).code === NO_SUCH_FILE) return otherwise
    throw error
  }

async function connect(address: SftpAddress, policy: Policy, gone: () => void): Promise<Opened> {
  const { host, port, user, privateKey, hostKeys } = address
  const known = hostKeys
    .split('\n')
    .map((line) => line.trim().split(' ')[1])
    .filter(Boolean)
  const at = await addressFor(host, policy)
  const client = new ssh2.Client()
  let isKnown = false
  client.connect({
    host: at,
    port,
    username: user,
    privateKey: `${privateKey.trim()}\n`,
    readyTimeout: CONNECT_MS,
    keepaliveInterval: CONNECT_MS,
    hostVerifier: (key: Buffer) => (isKnown = known.includes(key.toString('base64'))),
    algorithms: { serverHostKey: algorithmsOf(hostKeys) },
  })
  try {
    await once(client, 'ready')
  } catch (error) {
    client.destroy()
    if (!isKnown && /host denied|verif|handshake/i.test(String(error)))
      throw new StoreError(`The SSH host key of ${host} is not the one that was entered.`)
    throw error
  }
  client.on('error', gone)
  client.on('close', gone)
  const sftp = await call<SFTPWrapper>((done) => client.sftp(done))
  return { client, sftp }
}

/** Only kinds of keys that were entered are asked for: another of the host's keys would be no sign of an attack. */
function algorithmsOf(hostKeys: string) {
  const kinds = hostKeys.split('\n').map((line) => line.trim().split(' ')[0]!)
  return [
    ...new Set(kinds.flatMap((kind) => (kind === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : kind)).filter(Boolean)),
  ] as never
}

function wordsOf(error: unknown): string {
  const { message = '', level } = error as { message?: string; level?: string }
  if (level === 'client-authentication') return 'it refuses the user or the key.'
  if (/permission denied/i.test(message)) return 'the user may not write there.'
  return message || 'it could not be used.'
}
