// The keys of transfers that the node's SSH server lets in, each a line with a mark in a file of root's that the server
// reads anyway. The server's own configuration is the operator's and is not touched: a drop-in file would need a server
// that includes it and is told to read it again. Of several files the last one is taken, which on Debian is one that
// operators do not use (authorized_keys2); a file that has nothing else goes with the last key.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { Failure } from '../../../failure.ts'
import { run } from '../../../host/exec.ts'
import { commandLine } from '../../../protocol/shell-quote.ts'
import type { Listening } from '../transfer.ts'

const MARK = 'berth-transfer:'
/** From this release on the time of expiry may be told in UTC; before, in the node's own time. */
const UTC_SINCE = [9, 1] as const

/** The SSH server as it treats root from these addresses. */
export type SshServer = Listening & { keysFile: string }

/** Reads the effective settings of the node's server. Throws `no_ssh_server` where it lets no key of root's in. */
export async function sshServer(from: string, home = rootsHome()): Promise<SshServer> {
  const settings = await settingsFor(from)
  const of = (name: string) => settings.filter(([key]) => key === name).map(([, value]) => value)
  if (of('permitrootlogin')[0] === 'no' || of('pubkeyauthentication')[0] === 'no')
    throw new Failure('no_ssh_server', `the SSH server of this node lets no key of root in from ${from}`)
  const hostKeys = of('hostkey').flatMap((path) => publicKeyAt(`${path}.pub`) ?? [])
  const named = of('authorizedkeysfile')
    .flatMap((value) => value.split(/\s+/))
    .filter((one) => one !== 'none')
  const port = Number(of('port')[0])
  if (!hostKeys.length || !named.length || !port)
    throw new Failure('no_ssh_server', 'the SSH server of this node has no host key, or reads no file of keys')
  return { port, user: 'root', hostKeys: hostKeys.slice(0, 10), keysFile: pathOf(named.at(-1)!, home) }
}

async function settingsFor(from: string): Promise<[string, string][]> {
  try {
    const { out } = await run('sshd', ['-T', '-C', `user=root,host=${from},addr=${from}`], { limitSeconds: 20 })
    return out.split('\n').map((line) => {
      const end = line.indexOf(' ')
      return [line.slice(0, end).toLowerCase(), line.slice(end + 1)]
    })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure('no_ssh_server', 'the OpenSSH server of this node does not tell its settings', { cause: error })
  }
}

function publicKeyAt(path: string): string | undefined {
  try {
    return /^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}/.exec(readFileSync(path, 'utf8'))?.[0]
  } catch {
    return undefined
  }
}

const rootsHome = () => /^root:[^:]*:0:[^:]*:[^:]*:([^:]+):/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[1] ?? '/root'

function pathOf(named: string, home: string): string {
  const path = named.replace(/%(.)/g, (_, token: string) => ({ h: home, u: 'root', U: '0' })[token] ?? '%')
  return isAbsolute(path) ? path : join(home, path)
}

type Entry = {
  transfer: string
  publicKey: string
  from: readonly string[]
  until: number
  command: readonly [string, ...string[]]
}

/** Lets the key in, for the command alone. */
export async function addKey(keysFile: string, entry: Entry) {
  const { transfer, publicKey, from, until, command } = entry
  const [program, ...args] = command
  const options = [
    'restrict',
    `command="${commandLine(program, args).replaceAll('"', '\\"')}"`,
    `from="${from.join(',')}"`,
    `expiry-time="${await expiryOf(until)}"`,
  ]
  await change(keysFile, (lines) => [
    ...lines.filter((line) => !isOf(line, transfer)),
    `${options.join(',')} ${publicKey} ${MARK}${transfer}`,
  ])
}

/** Lets none of these keys in any more; undefined: none of any transfer. */
export async function removeKey(keysFile: string, transfer?: string) {
  if (existsSync(keysFile)) await change(keysFile, (lines) => lines.filter((line) => !isOf(line, transfer)))
}

const isOf = (line: string, transfer: string | undefined) =>
  transfer === undefined ? / berth-transfer:trf_[0-9a-z]{26}$/.test(line) : line.endsWith(` ${MARK}${transfer}`)

async function expiryOf(until: number): Promise<string> {
  const { err } = await run('ssh', ['-V'], { quietly: true })
  const [, major = '0', minor = '0'] = /OpenSSH_(\d+)\.(\d+)/.exec(err) ?? []
  const knowsUtc = Number(major) > UTC_SINCE[0] || (Number(major) === UTC_SINCE[0] && Number(minor) >= UTC_SINCE[1])
  const local = new Date(until - new Date(until).getTimezoneOffset() * 60_000)
  const text = (knowsUtc ? new Date(until) : local).toISOString().replace(/[-:T]/g, '').slice(0, 14)
  return knowsUtc ? `${text}Z` : text
}

/**
 * The file has its old lines or the new ones, whatever happens; a link to it stays one, and so do its owner and mode.
 * Operators and their programs write it too: what they wrote meanwhile is read again.
 */
async function change(path: string, to: (lines: string[]) => string[]) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const real = existsSync(path) ? realpathSync(path) : path
  while (!(await replaced(real, to)));
}

const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

/** False: somebody else has changed the file meanwhile, and it is as they left it. */
async function replaced(real: string, to: (lines: string[]) => string[]): Promise<boolean> {
  const text = textOf(real)
  const lines = text.split('\n').filter((line, i, all) => line !== '' || i < all.length - 1)
  const changed = to(lines)
  if (changed.join('\n') === lines.join('\n')) return true
  const part = `${real}.berth`
  rmSync(part, { force: true })
  const file = await open(part, 'wx', 0o600)
  try {
    await file.writeFile(changed.map((line) => `${line}\n`).join(''))
    await file.sync()
  } finally {
    await file.close()
  }
  // From here on nothing is awaited, so that as little as possible comes between the look and the change.
  if (textOf(real) !== text) {
    rmSync(part)
    return false
  }
  if (existsSync(real)) {
    const { mode, uid, gid } = statSync(real)
    chownSync(part, uid, gid)
    chmodSync(part, mode & 0o777)
  }
  if (changed.length) renameSync(part, real)
  else for (const one of [part, real]) rmSync(one, { force: true })
  return true
}
