// The key file, and beside it the file of former keys. Both have mode 0600 and the owner of the key file.
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type FormerKey, fingerprint, isKeyId, type Key, KeyFileError, newKey, OLD_ID } from './key-ring.ts'

/** `the key k1` · `the keys a and b` */
export const named = (ids: readonly string[]) => `the key${ids.length === 1 ? '' : 's'} ${ids.join(' and ')}`

/** The keys of the file, the newest first. Throws KeyFileError. */
export function readKeys(path: string): readonly Key[] {
  const text = attempt(path, 'read', () => readFileSync(path, 'utf8')).trim()
  if (/^[0-9a-f]{64}$/.test(text)) return [{ id: OLD_ID, bytes: Buffer.from(text, 'hex') }]
  const keys = text.split('\n').map((line) => {
    const [, id, hex] = /^(\S+) ([0-9a-f]{64})$/.exec(line) ?? []
    if (!id || !hex || !isKeyId(id)) throw noKeyFile(path)
    const bytes = Buffer.from(hex, 'hex')
    if (id !== OLD_ID && !id.endsWith(fingerprint(bytes)))
      throw new KeyFileError(
        `${path}: the line of the key ${id} holds another key, or was changed. Restore it from your copy of the keys.`,
      )
    return { id, bytes }
  })
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new KeyFileError(`${path} names a key twice. Leave the right line in it.`)
  return keys
}
const noKeyFile = (path: string) =>
  new KeyFileError(
    `${path} is not a key file (lines of an id and 64 hexadecimal digits). Restore it from your copy of the keys.`,
  )

/**
 * Of several that start at once the first one's, and nobody reads it before it is whole: a link to a finished file is
 * made only where there is none.
 */
export function makeKeyFile(path: string) {
  const part = `${path}.${process.pid}`
  put(openSync(part, 'w', 0o600), keyLines([newKey(Date.now())]))
  try {
    linkSync(part, path)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(part)
  }
}

/** The whole file or the one before it, whatever happens meanwhile; of the owner that it had. Throws KeyFileError. */
export const writeKeys = (path: string, keys: readonly Key[]) => replace(path, path, keyLines(keys))

const keyLines = (keys: readonly Key[]) => keys.map(({ id, bytes }) => `${id} ${bytes.toString('hex')}\n`).join('')

/** A former key a line: id, when it was put aside, and the key, encrypted with the newest. */
const FORMER_LINE = /^(\S+) (\d{4}-\d\d-\d\dT\S+Z) ([\w-]{80,})$/
const formerFile = (path: string) => `${path}.former`

/** Those that a rotation has put aside, the newest first; none where there is no such file. Throws KeyFileError. */
export function readFormerKeys(path: string): readonly FormerKey[] {
  const file = formerFile(path)
  if (!existsSync(file)) return []
  const lines = attempt(file, 'read', () => readFileSync(file, 'utf8'))
    .split('\n')
    .filter(Boolean)
  return lines.map((line) => {
    const [, id, setAsideAt, encrypted] = FORMER_LINE.exec(line) ?? []
    if (!id || !setAsideAt || !encrypted || !isKeyId(id))
      throw new KeyFileError(`${file} is not a file of former keys. Restore it from your copy, or move it away.`)
    return { id, setAsideAt, encrypted }
  })
}

/** Throws KeyFileError. */
export const writeFormerKeys = (path: string, keys: readonly FormerKey[]) =>
  replace(
    formerFile(path),
    path,
    keys.map(({ id, setAsideAt, encrypted }) => `${id} ${setAsideAt} ${encrypted}\n`).join(''),
  )

/** `like`: the file whose owner it gets. */
function replace(path: string, like: string, text: string) {
  attempt(path, 'written', () => {
    const owner = statSync(like, { throwIfNoEntry: false })
    const part = `${path}.new`
    const file = openSync(part, 'w', 0o600)
    fchmodSync(file, 0o600)
    if (owner) fchownSync(file, owner.uid, owner.gid)
    put(file, text)
    renameSync(part, path)
    const dir = openSync(dirname(path), 'r')
    fsyncSync(dir)
    closeSync(dir)
  })
}

function put(file: number, text: string) {
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
}

/** Throws KeyFileError in place of an error of the file system. `what`: what was to be done with the file. */
export function attempt<T>(path: string, what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new KeyFileError(
      `The key file ${path} cannot be ${what} (${(error as { code?: string }).code}). Check that it is there, ` +
        `and that Berth's user may change it and its directory.`,
    )
  }
}
