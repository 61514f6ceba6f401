// The logins of a backup server: a file each, named after the login, with the SHA-256 of its password. A password is
// 256 random bits that the server made, so nobody finds it from the hash, and a request costs no slow hash.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { flushed, writeFlushed } from './files.ts'
import { isRepositoryName } from './paths.ts'

const folderOf = (root: string) => `${root}/.logins`
const fileOf = (root: string, name: string) => `${folderOf(root)}/${name}`

const sha256 = (text: string) => createHash('sha256').update(text).digest()
/** Stands for a login that does not exist, so that one takes as long as a wrong password. */
const noLogin = randomBytes(32)

/** Answers the password, which nothing holds afterwards; undefined when the login exists already. */
export function addLogin(root: string, name: string): string | undefined {
  const password = randomBytes(32).toString('base64url')
  mkdirSync(folderOf(root), { recursive: true, mode: 0o700 })
  const part = `${folderOf(root)}/.${name}.${process.pid}`
  writeFlushed(part, `${sha256(password).toString('hex')}\n`)
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

export function logins(root: string): { name: string; createdAt: Date }[] {
  if (!existsSync(folderOf(root))) return []
  const names = readdirSync(folderOf(root)).filter(isRepositoryName).toSorted()
  return names.map((name) => ({ name, createdAt: statSync(fileOf(root, name)).mtime }))
}

/** The login of an `Authorization: Basic` header. The file is read each time: a removed login ends with its file. */
export function loginFrom(root: string, header: string | null): string | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]{1,400})$/i.exec(header ?? '')?.[1]
  if (!encoded) return undefined
  const [, name = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  const isRight = timingSafeEqual(sha256(password), storedHash(root, name) ?? noLogin)
  return isRight ? name : undefined
}

function storedHash(root: string, name: string): Buffer | undefined {
  if (!isRepositoryName(name)) return undefined
  try {
    const text = readFileSync(fileOf(root, name), 'utf8').trim()
    return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}
