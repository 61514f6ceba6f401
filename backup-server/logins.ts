// The logins of a backup server: a file each, named after the login, with the SHA-256 of its password, and in a second
// line the login whose folder it shares. A password is 256 random bits that the server made, so nobody finds it from
// the hash, and a request costs no slow hash.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { flushed, writeFlushed } from './files.ts'
import { isRepositoryName } from './paths.ts'

const folderOf = (root: string) => `${root}/.logins`
const fileOf = (root: string, name: string) => `${folderOf(root)}/${name}`

const sha256 = (text: string) => createHash('sha256').update(text).digest()
/** Stands for a login that does not exist, so that one takes as long as a wrong password. */
const noLogin = randomBytes(32)

/**
 * Answers the password, which nothing holds afterwards; undefined when the login exists already. `folder`: the login
 * whose folder it shares; without it, its own.
 */
export function addLogin(root: string, name: string, folder = name): string | undefined {
  const password = randomBytes(32).toString('base64url')
  mkdirSync(folderOf(root), { recursive: true, mode: 0o700 })
  const part = `${folderOf(root)}/.${name}.${process.pid}`
  writeFlushed(part, `${sha256(password).toString('hex')}\n${folder === name ? '' : `in ${folder}\n`}`)
  try {
    linkSync(part, fileOf(root, name))
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return undefined
    throw error
  } finally {
    rmSync(part, { force: true })
  }
  flushed(folderOf(root))
  return password
}

/** Its repositories stay. Answers whether there was one. */
export function removeLogin(root: string, name: string): boolean {
  if (!existsSync(fileOf(root, name))) return false
  rmSync(fileOf(root, name), { force: true })
  flushed(folderOf(root))
  return true
}

const namesIn = (root: string): string[] =>
  existsSync(folderOf(root)) ? readdirSync(folderOf(root)).filter(isRepositoryName).toSorted() : []

/** `folder`: its own name, or the login whose folder it shares. */
export const logins = (root: string): { name: string; folder: string; createdAt: Date }[] =>
  namesIn(root).map((name) => ({
    name,
    folder: entryIn(root, name)?.folder ?? name,
    createdAt: statSync(fileOf(root, name)).mtime,
  }))

/**
 * The logins that may come in, in memory: a name that exists takes no longer than one that does not. They are read
 * again when the folder has changed, so that a removed login ends with its file.
 */
export class Logins {
  #entries: ReadonlyMap<string, Entry>
  #readAt: bigint | undefined

  /** Throws where they cannot be read. */
  constructor(readonly root: string) {
    this.#readAt = changeOf(root)
    this.#entries = entriesIn(root)
  }

  /** The folder of the login of an `Authorization: Basic` header: its own, or the one that it shares. */
  from(header: string | null): string | undefined {
    const encoded = /^Basic ([A-Za-z0-9+/=]{1,400})$/i.exec(header ?? '')?.[1]
    if (!encoded) return undefined
    const [, name = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
    const entry = this.#current().get(name)
    const isRight = timingSafeEqual(sha256(password), entry?.hash ?? noLogin)
    return isRight ? entry?.folder : undefined
  }

  #current(): ReadonlyMap<string, Entry> {
    const changedAt = changeOf(this.root)
    if (changedAt !== this.#readAt || isRecent(changedAt)) {
      this.#entries = entriesIn(this.root)
      this.#readAt = changedAt
    }
    return this.#entries
  }
}

/** Two changes within one tick of the file system's clock have the same time. */
const SETTLED_MS = 1000
const isRecent = (changedAt: bigint | undefined) =>
  changedAt !== undefined && Date.now() - Number(changedAt / 1_000_000n) < SETTLED_MS

/** When a login was added or removed last, in nanoseconds; undefined before the first. */
const changeOf = (root: string): bigint | undefined =>
  statSync(folderOf(root), { bigint: true, throwIfNoEntry: false })?.ctimeNs

type Entry = { hash: Buffer; folder: string }
/** Undefined for a file that is none of ours, or was removed meanwhile. */
function entryIn(root: string, name: string): Entry | undefined {
  const [, hash, folder = name] = /^([0-9a-f]{64})\n?(?:in (\S+)\n)?$/.exec(textOf(fileOf(root, name)) ?? '') ?? []
  return hash && isRepositoryName(folder) ? { hash: Buffer.from(hash, 'hex'), folder } : undefined
}

function entriesIn(root: string): Map<string, Entry> {
  const entries = namesIn(root).map((name) => [name, entryIn(root, name)] as const)
  return new Map(entries.flatMap(([name, entry]) => (entry ? [[name, entry]] : [])))
}

/** Undefined where it was removed meanwhile. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}
