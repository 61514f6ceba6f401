// Backups with Debian's restic. Secrets reach it as files of a folder in memory that is deleted afterwards: arguments
// and environment of a process can be read on the host, and what was on a disk can be found there later.
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { progress } from '../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../failure.ts'
import { endAll, find, type Options, run, unmountBelow } from '../../host/exec.ts'
import {
  type BackupAddress,
  BackupCheckResult,
  type BackupsForgotten,
  type BackupTarget,
  type BackupTest,
  BackupTestResult,
  backupAddress,
  LOCAL_MARKER,
} from '../../protocol/backup.ts'
import { fitted } from '../../protocol/bounds.ts'
import { addressesOf, hostOf, pinnedRequest } from '../../protocol/net/pinned-request.ts'
import type { Disk } from '../storage/storage.ts'
import { type Backups, backupFailure, type Saved, type ServedDisk, type Source, type ToSave } from './backup.ts'
import { nbdUri, servedBytes, whileServed } from './disk-server.ts'
import { detailOf, type Meaning, meaningOf } from './findings.ts'
import { type Piped, piped, type Words } from './pipe.ts'
import { NotMounted, type ShownDisk, whileMounted } from './restic-mount.ts'
import {
  bytesPruned,
  DISK_FILE,
  dataBytesIn,
  fileIn,
  type Snapshot,
  savedIn,
  snapshotsIn,
  summaryIn,
  tagsOf,
  treeIn,
} from './restic-output.ts'

/** restic retries for a quarter of an hour; a test has an answer sooner. */
const STEP_SECONDS = 45
const CONNECT_MS = 8000
const TEST_FILE = 'test'
const HOST = 'berth-test'
/** A pause of the target; restic tries again for a quarter of an hour before it fails. */
const STALL_SECONDS = 1200
const LONG_SECONDS = 7 * 86_400
const LOCK_SECONDS = 60
const LOCK_PAUSE_MS = 2000
/** The list of the parts of a disk with 6 TB of data. */
const MOST_LIST_BYTES = 512 << 20

/** A finding that ends a test. */
class Found extends Error {
  constructor(
    readonly meaning: Meaning,
    detail: string,
  ) {
    super(detail)
  }
}

export class Restic implements Backups {
  #folder: string

  /** `dataDir` names the folder in memory: two agents of one host do not share it. What a crash left goes at start. */
  constructor(
    dataDir: string,
    private limits = { stepSeconds: STEP_SECONDS, stallSeconds: STALL_SECONDS, lockSeconds: LOCK_SECONDS },
  ) {
    const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
    const memory = lstatSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() ? '/dev/shm' : tmpdir()
    this.#folder = join(memory, `berth-backup-${name}`)
    endAll(`${this.#folder}/`)
    unmountBelow(this.#folder)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async test(target: BackupTest): Promise<BackupTestResult> {
    const began = performance.now()
    const seconds = () => Math.round((performance.now() - began) / 100) / 10
    try {
      const appendOnly = await this.#attempt(target)
      return { finding: 'works', detail: '', appendOnly, seconds: seconds() }
    } catch (error) {
      const { meaning, detail } = said(target, error)
      const finding = isOfTest(meaning) ? meaning : 'failed'
      return fitted<BackupTestResult>(BackupTestResult, { finding, detail, appendOnly: 'unknown', seconds: seconds() })
    }
  }

  async #attempt(target: BackupTest): Promise<BackupTestResult['appendOnly']> {
    for (const { snapshot, ...repository } of target.holds ?? [])
      await this.#using({ ...target, ...repository }, (prepared) => this.#mustHold(prepared, snapshot))
    await this.#using(target, async (prepared) => {
      await this.#makeRepository(prepared)
      await this.#storeAndRead(prepared)
    })
    return await canErase(target)
  }

  find = (target: BackupTarget, backup: string) => this.#orFail(target, (prepared) => this.#find(prepared, backup))

  save = (target: BackupTarget, what: ToSave, source: Source, signal: AbortSignal) =>
    this.#orFail(target, async (prepared) => {
      const save = (served: ServedDisk) =>
        this.#save(prepared, what, served, signal).catch(async (error: unknown) => {
          if (!(error instanceof Found && error.meaning === 'missing')) throw error
          await this.#makeRepository(prepared)
          return await this.#save(prepared, what, served, signal)
        })
      const saved = await ('served' in source
        ? save(source.served)
        : whileServed(prepared.folder, source.disk, 'read', save))
      if (saved) return saved
      // A snapshot that is not whole counts as none, also where it cannot be erased.
      await this.forget(target, [], [what.backup]).catch(() => {})
      throw new Found('unreliable', 'what restic saved is not there, or not all of it')
    })

  diskBytes = (target: BackupTarget, snapshot: string) =>
    this.#orFail(target, async (prepared) => (await this.#diskIn(prepared, snapshot)).sizeBytes)

  dataBytes = (target: BackupTarget, snapshot: string) =>
    this.#orFail(target, async (prepared) => {
      const { sizeBytes, tree } = await this.#diskIn(prepared, snapshot)
      const list = await this.#restic(prepared, ['cat', 'blob', tree, '--no-lock'], {
        ...this.#reading,
        outputCapBytes: MOST_LIST_BYTES,
      })
      return dataBytesIn(mustHaveWorked(list), sizeBytes)
    })

  /** Shows the disk of a snapshot as an open file while `work` runs. */
  whileReadable = <T>(target: BackupTarget, snapshot: string, work: (shown: ShownDisk) => Promise<T>): Promise<T> =>
    this.#orFail(target, (prepared) =>
      whileMounted(prepared, snapshot, work).catch((error: unknown) => {
        if (error instanceof NotMounted) throw new Found(meaningOf(error.message), error.message)
        throw error
      }),
    )

  load = (target: BackupTarget, snapshot: string, disk: Disk) =>
    this.#orFail(target, async (prepared) => {
      const args = [...prepared.args, 'dump', snapshot, `/${DISK_FILE}`]
      const load = async (served: ServedDisk) => {
        const allBytes = await servedBytes(served)
        await this.#unlocked(prepared, () =>
          this.#piped(
            prepared,
            { program: 'restic', args, env: prepared.env },
            { program: 'nbdcopy', args: ['--flush', '--destination-is-zero', '--', '-', nbdUri(served)] },
            allBytes,
          ),
        )
      }
      await whileServed(prepared.folder, disk, 'write', load)
    })

  forget = (
    target: BackupTarget,
    snapshots: readonly string[],
    backups: readonly string[],
  ): Promise<BackupsForgotten> =>
    this.#orFail(target, async (prepared) => {
      const there = (await this.#list(prepared))
        .filter(({ id, tags }) => snapshots.includes(id) || tags.some((tag) => backups.includes(tag)))
        .map(({ id }) => id)
      const all = [...new Set([...snapshots, ...there])]
      // restic tries for minutes to erase what a server never lets it erase.
      const mayErase = !there.length || (await canErase(target)) !== 'yes'
      if (there.length && mayErase) await this.#forget(prepared, there)
      const left = new Set(mayErase ? (await this.#list(prepared)).map(({ id }) => id) : there)
      return { gone: all.filter((id) => !left.has(id)), kept: all.filter((id) => left.has(id)) }
    })

  prune = (target: BackupTarget) =>
    this.#orFail(target, async (prepared) => {
      if ((await canErase(target)) === 'yes')
        throw backupFailure('append_only', 'the target lets nobody erase anything')
      const out = await this.#unlocked(prepared, async () =>
        mustHaveWorked(await this.#restic(prepared, ['prune'], { limitSeconds: LONG_SECONDS })),
      )
      return bytesPruned(out)
    })

  async check(target: BackupTarget, part: number, of: number): Promise<BackupCheckResult> {
    try {
      await this.#using(target, (prepared) =>
        this.#unlocked(prepared, async () =>
          mustHaveWorked(
            await this.#restic(prepared, ['check', `--read-data-subset=${part}/${of}`], { limitSeconds: LONG_SECONDS }),
          ),
        ),
      )
      return { finding: 'works', detail: '' }
    } catch (error) {
      const { meaning, detail } = said(target, error)
      const finding = meaning === 'damaged' || isOfTest(meaning) ? meaning : 'failed'
      return fitted<BackupCheckResult>(BackupCheckResult, { finding, detail })
    }
  }

  /** As `#using`; what is wrong becomes a failure with a code of its own. */
  async #orFail<T>(target: BackupTarget, work: (prepared: Prepared) => Promise<T>): Promise<T> {
    try {
      return await this.#using(target, work)
    } catch (error) {
      if (error instanceof Failure && !/^tool_/.test(error.code)) throw error
      const { meaning, detail } = said(target, error)
      throw backupFailure(meaning === 'missing' || meaning === 'there' ? 'failed' : meaning, detail)
    }
  }

  async #using<T>(target: BackupTarget, work: (prepared: Prepared) => Promise<T>): Promise<T> {
    const address = backupAddress(target.kind, target.address)
    if (!address || (target.kind === 'sftp' && !/^[a-z_]/.test(target.login)))
      throw new Found('failed', 'The address or the user is none of this kind.')
    if (!find('restic')) throw new Found('restic_missing', '')
    if (target.kind === 'local') mustBePrepared(address.path)
    else await mustAnswer(address)
    const prepared = this.#prepare(target, address)
    try {
      if (prepared.ssh.length) await this.#mustLogIn(prepared)
      return await work(prepared)
    } finally {
      rmSync(prepared.folder, { recursive: true, force: true })
    }
  }

  async #save(prepared: Prepared, what: ToSave, served: ServedDisk, signal: AbortSignal) {
    const diskBytes = await servedBytes(served)
    const limit = what.limitBytesPerSecond
      ? [`--limit-upload=${Math.max(1, Math.floor(what.limitBytesPerSecond / 1024))}`]
      : []
    const tags = tagsOf({ ...what, diskBytes }).flatMap((tag) => ['--tag', tag])
    const store = ['backup', '--stdin', '--stdin-filename', DISK_FILE, '--host', what.workload, ...tags, '--json']
    const { into } = await this.#unlocked(prepared, () =>
      this.#piped(
        prepared,
        { program: 'nbdcopy', args: ['--', nbdUri(served), '-'] },
        {
          program: 'restic',
          args: [...prepared.args, ...limit, ...store],
          // One line of progress in 100 s: the bytes that go through are counted.
          env: { ...prepared.env, RESTIC_PROGRESS_FPS: '0.01' },
        },
        diskBytes,
        signal,
      ),
    )
    const summary = summaryIn(into.out)
    const saved = await this.#find(prepared, what.backup)
    return saved && { ...saved, addedBytes: summary?.addedBytes ?? 0 }
  }

  /** Runs both, and throws what is wrong with the one that failed. */
  async #piped(prepared: Prepared, from: Words, into: Words, allBytes: number, signal?: AbortSignal): Promise<Piped> {
    const ran = await piped(prepared.folder, from, into, {
      signal: signal ?? new AbortController().signal,
      stallSeconds: this.limits.stallSeconds,
      onBytes: (bytes) => progress((100 * bytes) / allBytes),
    }).catch((error: unknown) => {
      if (error instanceof DOMException) throw backupFailure('interrupted', 'the backup was stopped')
      throw error
    })
    if (!ran.broke) return ran
    const { err, out } = ran[ran.broke]
    const isRestic = (ran.broke === 'from' ? from : into).program === 'restic'
    if (isRestic) throw new Found(meaningOf(err.trim() || out), err.trim() || out)
    throw backupFailure('interrupted', `the disk could not be copied: ${err.trim()}`)
  }

  /** A large repository without a cache has a large index to be read first. */
  get #reading() {
    return { limitSeconds: this.limits.stallSeconds }
  }

  /** The snapshot that is whole and that this backup made: its newest, because none is made after a whole one. */
  async #find(prepared: Prepared, backup: string): Promise<Saved | undefined> {
    const ls = await this.#restic(prepared, ['ls', '--json', '--no-lock', '--tag', backup, 'latest'], this.#reading)
    // A target that lost a part of it is not asked to be right.
    if (ls.meaning === 'missing' || ls.meaning === 'no_snapshot' || ls.meaning === 'damaged') return undefined
    return savedIn(mustHaveWorked(ls))
  }

  async #diskIn(prepared: Prepared, snapshot: string): Promise<{ sizeBytes: number; tree: string }> {
    const ls = await this.#restic(prepared, ['ls', '--json', '--no-lock', snapshot], this.#reading)
    if (ls.meaning === 'missing') throw new Found('no_snapshot', ls.said)
    const [file, tree] = [fileIn(mustHaveWorked(ls)), treeIn(ls.out)]
    if (!file || !tree) throw new Found('no_snapshot', `the snapshot ${snapshot} holds no disk`)
    return { sizeBytes: file.sizeBytes, tree }
  }

  async #list(prepared: Prepared): Promise<Snapshot[]> {
    const list = await this.#restic(prepared, ['snapshots', '--json', '--no-lock'], this.#reading)
    return list.meaning === 'missing' ? [] : snapshotsIn(mustHaveWorked(list))
  }

  #forget = (prepared: Prepared, ids: readonly string[]) =>
    this.#unlocked(prepared, async () => mustHaveWorked(await this.#restic(prepared, ['forget', ...ids])))

  /** A lock that a process of this host left when it was killed goes at once, that of another host after 30 minutes. */
  async #unlocked<T>(prepared: Prepared, work: () => Promise<T>): Promise<T> {
    for (const until = performance.now() + this.limits.lockSeconds * 1000; ; await Bun.sleep(LOCK_PAUSE_MS)) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Found && error.meaning === 'locked') || performance.now() > until) throw error
        await this.#restic(prepared, ['unlock'])
      }
    }
  }

  /** restic loses what ssh says when that ends early. Without input SFTP ends by itself. */
  async #mustLogIn({ ssh }: Prepared) {
    const { code, err } = await run('ssh', ssh, { mayFail: true, limitSeconds: this.limits.stepSeconds, stdin: '' })
    if (code !== 0) throw new Found(meaningOf(err), err)
  }

  async #makeRepository(prepared: Prepared) {
    const config = await this.#restic(prepared, ['cat', 'config', '--no-lock'])
    if (config.meaning !== 'missing') return void mustHaveWorked(config)
    const init = await this.#restic(prepared, ['init'])
    // Another node tests the same target.
    if (init.meaning !== 'there') return mustHaveWorked(init)
    mustHaveWorked(await this.#restic(prepared, ['cat', 'config', '--no-lock']))
  }

  async #mustHold(prepared: Prepared, snapshot: string) {
    // A part of the id is looked for in the list; by a whole one restic reads, and tries that again for a minute.
    const found = await this.#restic(prepared, ['cat', 'snapshot', snapshot.slice(0, 32), '--no-lock'])
    if (found.meaning === 'missing' || found.meaning === 'no_snapshot') throw new Found('backups_missing', found.said)
    mustHaveWorked(found)
  }

  async #storeAndRead(prepared: Prepared) {
    const bytes = crypto.getRandomValues(new Uint8Array(4096)).toHex()
    const store = ['backup', '--stdin', '--stdin-filename', TEST_FILE, '--host', HOST, '--json']
    const stored = mustHaveWorked(await this.#restic(prepared, store, { stdin: bytes }))
    const id = /"snapshot_id":"([0-9a-f]{8,64})"/.exec(stored)?.[1]
    if (!id) throw new Found('failed', 'restic did not name the snapshot that it made')
    const read = mustHaveWorked(await this.#restic(prepared, ['dump', '--no-lock', id, `/${TEST_FILE}`]))
    if (read !== bytes) throw new Found('unreliable', '')
  }

  async #restic({ args, env }: Prepared, more: string[], options: Options = {}) {
    const { stepSeconds: limitSeconds } = this.limits
    const ran = await run('restic', [...args, ...more], { mayFail: true, limitSeconds, env, ...options }).catch(
      (error: unknown) => {
        if (error instanceof Failure && error.code === 'tool_timeout') return { out: '', err: error.message, code: 1 }
        throw error
      },
    )
    const said = ran.err.trim() || ran.out.trim()
    return { out: ran.out, said, meaning: ran.code === 0 ? undefined : meaningOf(said) }
  }

  /** Writes the files of one use. */
  #prepare(target: BackupTarget, address: BackupAddress): Prepared {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const folder = mkdtempSync(join(this.#folder, 'use-'))
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 })
      return join(folder, name)
    }
    return { folder, ...resticWith(target, address, file) }
  }
}

/** `ssh`: the arguments that open SFTP, where it is used. */
type Prepared = { folder: string; args: string[]; ssh: string[]; env: Record<string, string> }
type WriteFile = (name: string, text: string) => string

/** The arguments before restic's command. `file` stores a text and answers its path. */
export function resticWith(target: BackupTarget, address: BackupAddress, file: WriteFile): Omit<Prepared, 'folder'> {
  const { kind, login, secret, trust, repository, password } = target
  const place = repositoryOf(target, address)
  const args = [
    ...['--repository-file', file('repository', `${place}/${repository}`)],
    ...['--password-file', file('password', password), '--no-cache'],
  ]
  if ((kind === 'rest' || kind === 's3') && trust) args.push('--cacert', file('authority.pem', `${trust.trim()}\n`))
  const ssh = kind === 'sftp' ? sshArguments(target, address, file) : []
  if (kind === 'sftp') args.push('-o', `sftp.command=ssh ${ssh.join(' ')}`)
  if (kind !== 's3') return { args, ssh, env: {} }
  const credentials = file('credentials', `[default]\naws_access_key_id=${login}\naws_secret_access_key=${secret}\n`)
  return { args, ssh, env: { AWS_SHARED_CREDENTIALS_FILE: credentials } }
}

function sshArguments({ secret, trust, login }: BackupTarget, { host, port }: BackupAddress, file: WriteFile) {
  const name = port === 22 ? host : `[${host}]:${port}`
  const hosts = trust
    .trim()
    .split('\n')
    .map((key) => `${name} ${key.trim()}\n`)
    .join('')
  return [
    ...['-F', 'none', '-p', String(port), '-i', file('key', `${secret.trim()}\n`)],
    ...['-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=yes'],
    ...['-o', `UserKnownHostsFile=${file('known_hosts', hosts)}`, '-o', 'GlobalKnownHostsFile=none'],
    ...['-o', `ConnectTimeout=${CONNECT_MS / 1000}`, '-l', login, host, '-s', 'sftp'],
  ]
}

function repositoryOf({ kind, login, secret }: BackupTarget, { scheme, host, port, path }: BackupAddress): string {
  if (kind === 'local') return path
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (kind === 's3') return `s3:${scheme}://${at}${path}`
  // The second slash makes the path absolute.
  if (kind === 'sftp') return `sftp://${login}@${at}/${path}`
  const account = login ? `${encodeURIComponent(login)}:${encodeURIComponent(secret)}@` : ''
  return `rest:${scheme}://${account}${at}${path}`
}

const isOfTest = (meaning: Meaning) =>
  meaning !== 'missing' && meaning !== 'there' && meaning !== 'no_snapshot' && meaning !== 'damaged'

function said(target: BackupTarget, error: unknown): { meaning: Meaning; detail: string } {
  const meaning = error instanceof Found ? error.meaning : meaningOf(wordsOf(error))
  return { meaning, detail: detailOf(wordsOf(error), secretsOf(target)) }
}

/** Also as they stand in a URL. */
const secretsOf = ({ secret, password }: BackupTarget) => [
  password,
  secret.trim(),
  encodeURIComponent(secret.trim()),
  ...secret.split('\n').filter((text) => text.length > 20),
]

function mustHaveWorked({ out, said, meaning }: { out: string; said: string; meaning: Meaning | undefined }): string {
  if (meaning) throw new Found(meaning, said)
  return out
}

/** A disk that is not mounted leaves an empty folder, which backups would fill until the host has no space. */
function mustBePrepared(path: string) {
  const marker = lstatSync(join(path, LOCAL_MARKER), { throwIfNoEntry: false })
  const isOurs = marker?.isFile() && marker.uid === process.getuid?.()
  if (!isOurs) throw new Found('not_prepared', `There is no file ${LOCAL_MARKER} of root’s in ${path}.`)
}

/** Before restic, which says too little about a host that does not answer, and tries for long. */
async function mustAnswer({ host, port }: BackupAddress) {
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port })
    const end = (error?: Error) => {
      clearTimeout(timer)
      socket.destroy()
      if (error) reject(new Found('unreachable', `${host}, port ${port}: ${error.message}`))
      else resolve()
    }
    const timer = setTimeout(() => end(new Error(`no answer within ${CONNECT_MS / 1000} s`)), CONNECT_MS)
    socket.once('connect', () => end())
    socket.once('error', end)
  })
}

/**
 * A REST server that is append-only refuses before it looks whether there is such a file. Folders and SFTP let their
 * owner delete. Whether S3 keeps what is deleted is a setting of the bucket that this login need not be able to read.
 */
async function canErase(target: BackupTarget): Promise<BackupTestResult['appendOnly']> {
  if (target.kind === 's3') return 'unknown'
  if (target.kind !== 'rest') return 'no'
  const url = new URL(`${target.address.replace(/\/$/, '')}/${target.repository}/snapshots/${'0'.repeat(64)}`)
  const status = await statusOfDelete(url, target).catch(() => undefined)
  if (status === undefined) return 'unknown'
  return status === 403 || status === 405 ? 'yes' : status === 404 || status < 300 ? 'no' : 'unknown'
}

async function statusOfDelete(url: URL, { login, secret, trust }: BackupTarget): Promise<number> {
  let failure: unknown = new Error(`no address of ${url.host}`)
  for (const address of await addressesOf(hostOf(url)))
    try {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      pinnedRequest(url, address, {
        method: 'DELETE',
        ca: trust ?? undefined,
        signal: AbortSignal.timeout(CONNECT_MS),
        headers: login ? { Authorization: `Basic ${btoa(`${login}:${secret}`)}` } : {},
      })
        .on('response', (message) => {
          message.resume()
          resolve(message.statusCode!)
        })
        .on('error', reject)
        .end()
      return await promise
    } catch (error) {
      failure = error
    }
  throw failure
}

/** The version of a restic that Berth can use, or why there is none. */
export async function resticVersion(): Promise<string> {
  const { out } = await run('restic', ['version'], { quietly: true, limitSeconds: 10 })
  const version = /restic ([0-9][0-9.]*)/.exec(out)?.[1]
  if (!version) throw new Failure('tool_failed', 'restic does not name its version')
  return version
}
