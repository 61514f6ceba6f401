// `berth backup-server`: a place for backups on a machine of its own, and the logins of those who may add to it.
import { Database } from 'bun:sqlite'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CannotStart, SettingError, whoAmI } from '../src/kernel/command-line/startup-errors.ts'
import { log } from '../src/kernel/log.ts'
import { count, bytes as inWords } from '../src/kernel/words.ts'
import { addLogin, Logins, logins, removeLogin } from './logins.ts'
import { isRepositoryName } from './paths.ts'
import {
  mostRepositoriesOf,
  quotaOf,
  setMostRepositories,
  setQuota,
  sizeFrom,
  USUAL_REPOSITORIES,
  usedBytes,
} from './quotas.ts'
import { clearIncoming, countRepositories } from './repository.ts'
import { backupServer } from './server.ts'

const usage = `berth backup-server: an append-only place for backups, which restic reaches over HTTP

  berth backup-server serve [--path DIR] [--listen ADDRESS:PORT] [--tls-cert FILE --tls-key FILE]
  berth backup-server add NAME [--quota SIZE] [--repositories N] [--path DIR]
                                                  makes a login and prints its password once
  berth backup-server add NAME --in LOGIN [--path DIR]
                                                  makes a login that shares the folder of another one: one for each
                                                  node, so that a stolen one is removed alone
  berth backup-server quota NAME [--quota SIZE] [--repositories N] [--path DIR]
                                                  changes how much the login may store; it counts at once
  berth backup-server list [--path DIR]           the logins: since when, what each has stored and may store
  berth backup-server remove NAME [--path DIR]    takes a login away at once; its backups and its quota stay

  --path      folder of the backups; default /var/lib/berth-backups
  --quota     like 500G or 1.5T, in powers of 1024; none: as much as the disk takes, the default. Files and folders
              count as the blocks of 4 KiB that they take: an empty repository has 262 folders, 1.1 MiB
  --repositories  how many the login may have; default ${USUAL_REPOSITORIES}. Berth makes one for each customer
  --listen    default 127.0.0.1:8000; any other address than loopback needs --tls-cert and --tls-key
  --tls-cert  certificate file, with what its authority adds to it
  --tls-key   its key

A login adds backups to rest:https://NAME:PASSWORD@HOST:PORT/NAME/ and reads them. It removes and changes none: old ones
are removed on this machine, by restic in the folder DIR/NAME with a password of the repository.
Run it as the user who owns the folder, not as root, and never on a machine that it keeps backups of.`

const options = {
  path: { type: 'string', default: '/var/lib/berth-backups' },
  listen: { type: 'string', default: '127.0.0.1:8000' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  quota: { type: 'string' },
  repositories: { type: 'string' },
  in: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const
/** Flags that each takes beside --path and --help, and the number of names. */
const commands: Readonly<Record<string, { flags: readonly string[]; names: number }>> = {
  serve: { flags: ['listen', 'tls-cert', 'tls-key'], names: 0 },
  add: { flags: ['quota', 'repositories', 'in'], names: 1 },
  quota: { flags: ['quota', 'repositories'], names: 1 },
  list: { flags: [], names: 0 },
  remove: { flags: [], names: 1 },
}

/** Runs `berth backup-server ARGS`. Answers the exit code: 0 done, 1 refused, 2 wrong use. */
export async function backupServerCommand(args: readonly string[]): Promise<number> {
  const given = parsed(args)
  if (typeof given === 'string') {
    console.error(`${given}\n\n${usage}`)
    return 2
  }
  const { values, positionals } = given
  if (values.help) {
    console.log(usage)
    return 0
  }
  const [command, name = ''] = positionals
  const root = resolve(values.path)
  if (command === 'serve') return await serve(root, values)
  if (command === 'list') return await list(root)
  if (!isRepositoryName(name))
    throw new CannotStart(
      'invalid_name',
      `"${name}" cannot be a login: lower-case letters, digits, - and _, at most 63, beginning with a letter or ` +
        'digit, and none of the words config, data, index, keys, locks, snapshots.',
    )
  if (command === 'remove') return remove(root, name)
  const limits = limitsFrom(values)
  if (values.in !== undefined) return addTo(root, name, values.in, limits)
  return command === 'add' ? add(root, name, limits) : changeLimits(root, name, limits)
}

/** Bytes, or `none`. */
type Quota = number | 'none'
function quotaFrom(text: string): Quota {
  const quota = text === 'none' ? text : sizeFrom(text)
  if (quota === undefined) throw new SettingError('--quota must be a size like 500G or 1.5T, or none.')
  return quota
}
/** The limits of a login; undefined: not given. */
type LoginLimits = { quota: Quota | undefined; repositories: number | undefined }
function limitsFrom({ quota, repositories }: { quota?: string | undefined; repositories?: string | undefined }) {
  if (repositories !== undefined && !/^[1-9]\d{0,6}$/.test(repositories))
    throw new SettingError('--repositories must be a whole number from 1 to 9999999.')
  return {
    quota: quota === undefined ? undefined : quotaFrom(quota),
    repositories: repositories === undefined ? undefined : Number(repositories),
  }
}
function storeLimits(root: string, name: string, { quota, repositories }: LoginLimits) {
  if (quota !== undefined) setQuota(root, name, quota === 'none' ? undefined : quota)
  if (repositories !== undefined) setMostRepositories(root, name, repositories)
}

function parsed(args: readonly string[]) {
  try {
    const { tokens, values, positionals } = parseArgs({
      args: [...args],
      options,
      strict: true,
      allowPositionals: true,
      tokens: true,
    })
    if (values.help) return { values, positionals }
    const command = Object.hasOwn(commands, positionals[0] ?? '') ? commands[positionals[0]!] : undefined
    if (!command)
      return positionals[0] ? `There is no command "backup-server ${positionals[0]}".` : 'A command is missing.'
    if (positionals.length !== command.names + 1) return command.names ? 'One name is needed.' : 'It takes no name.'
    for (const token of tokens)
      if (token.kind === 'option' && token.name !== 'path' && !command.flags.includes(token.name))
        return `backup-server ${positionals[0]} takes no --${token.name}.`
    return { values, positionals }
  } catch (error) {
    return (error as Error).message
  }
}

function add(root: string, name: string, limits: LoginLimits): number {
  makeFolder(root)
  // Before the login, which could store without a quota otherwise; one that exists keeps its own.
  if (!logins(root).some((login) => login.name === name)) storeLimits(root, name, limits)
  const password = addLogin(root, name)
  if (!password) throw loginExists(name)
  console.log(password)
  console.error(`The login ${name} has the password above; it is not shown again. Backups go to /${name}/.`)
  return 0
}

/** A login that shares the folder of another one, with its limits. */
function addTo(root: string, name: string, folder: string, limits: LoginLimits): number {
  if (limits.quota !== undefined || limits.repositories !== undefined)
    throw new SettingError('--quota and --repositories are of the login whose folder is shared: leave them out.')
  makeFolder(root)
  const shared = logins(root).find((login) => login.name === folder)
  if (!shared) throw noLogin(folder)
  if (shared.folder !== folder)
    throw new CannotStart('shares_itself', `The login ${folder} shares the folder of ${shared.folder}: name that one.`)
  const password = addLogin(root, name, folder)
  if (!password) throw loginExists(name)
  console.log(password)
  console.error(`The login ${name} has the password above; it is not shown again. Backups go to /${folder}/.`)
  return 0
}

const loginExists = (name: string) =>
  new CannotStart(
    'login_exists',
    `There is a login ${name} already. For a new password remove it first; its backups stay.`,
  )

function changeLimits(root: string, name: string, limits: LoginLimits): number {
  makeFolder(root)
  if (limits.quota === undefined && limits.repositories === undefined)
    throw new SettingError('--quota (a size like 500G, or none) or --repositories (a number) is missing.')
  const login = logins(root).find((one) => one.name === name)
  if (!login) throw noLogin(name)
  if (login.folder !== name)
    throw new SettingError(`The login ${name} shares the folder of ${login.folder}, which has the limits.`)
  storeLimits(root, name, limits)
  const quota = quotaOf(root, name)
  console.error(
    `The login ${name} ${quota === undefined ? 'has no quota' : `may store ${inWords(quota)}`}, in ` +
      `${count(mostRepositoriesOf(root, name), 'repository', 'repositories')} at most.`,
  )
  return 0
}

const noLogin = (name: string) => new CannotStart('login_not_found', `There is no login ${name}.`)

async function list(root: string): Promise<number> {
  makeFolder(root)
  const all = logins(root)
  for (const { name, folder, createdAt } of all) {
    if (folder !== name) {
      console.log([name, createdAt.toISOString(), `in ${folder}`].join('\t'))
      continue
    }
    const quota = quotaOf(root, name)
    const used = inWords(await usedBytes(root, name))
    const repositories = `${await countRepositories(root, name)} of ${mostRepositoriesOf(root, name)} repositories`
    const most = quota === undefined ? 'no quota' : inWords(quota)
    console.log([name, createdAt.toISOString(), used, most, repositories].join('\t'))
  }
  if (!all.length) console.error('There is no login yet: berth backup-server add NAME')
  return 0
}

function remove(root: string, name: string): number {
  makeFolder(root)
  const folder = logins(root).find((login) => login.name === name)?.folder ?? name
  if (!removeLogin(root, name)) throw noLogin(name)
  console.error(`The login ${name} is gone. Its backups stay in ${root}/${folder}.`)
  return 0
}

/** Made at the first use. */
function makeFolder(root: string) {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 })
    accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new CannotStart(
      'folder_not_usable',
      `The user ${whoAmI()} cannot work in ${root} (${(error as { code?: string }).code}). Run this as the user who ` +
        'owns it, or name another folder with --path.',
    )
  }
}

type Values = { listen: string; 'tls-cert'?: string | undefined; 'tls-key'?: string | undefined }

async function serve(root: string, values: Values): Promise<number> {
  const address = addressOf(values.listen)
  const tls = tlsOf(values['tls-cert'], values['tls-key'])
  if (!tls && !isLoopback(address.hostname))
    throw new SettingError(
      `--listen ${values.listen}: passwords would cross the network in the clear. Give --tls-cert and --tls-key, or ` +
        'listen on 127.0.0.1 behind a proxy that does TLS.',
    )
  makeFolder(root)
  const lock = taken(root)
  await clearIncoming(root)
  // A fault in reading the logins shows now, and not at the first backup.
  new Logins(root)
  const server = listening(() => backupServer({ root, ...address, tls }), values.listen)
  log.info('the backup server listens', { url: server.url.href, path: root, logins: logins(root).length })
  await new Promise<void>((ended) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ended())
  })
  // Uploads that are on their way get a moment; restic tries again what was cut.
  void server.stop()
  const end = performance.now() + STOP_MS
  while (server.pendingRequests && performance.now() < end) await Bun.sleep(50)
  lock.close()
  return 0
}
const STOP_MS = 10_000

function addressOf(text: string) {
  const [, host, port] = /^(\[[0-9a-fA-F:]+\]|[^:[\]\s]+):([0-9]{1,5})$/.exec(text) ?? []
  if (!host || Number(port) > 65535)
    throw new SettingError('--listen must be ADDRESS:PORT, for example 0.0.0.0:8000 or [::]:8000.')
  return { hostname: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

const isLoopback = (hostname: string) => /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname) || hostname === '::1'

function tlsOf(cert: string | undefined, key: string | undefined) {
  if (!cert !== !key) throw new SettingError('--tls-cert and --tls-key go together: give both or none.')
  for (const [flag, file] of [
    ['--tls-cert', cert],
    ['--tls-key', key],
  ] as const)
    if (file) {
      try {
        accessSync(file, constants.R_OK)
      } catch (error) {
        throw new SettingError(`${flag}: ${file} cannot be read (${(error as { code?: string }).code}).`)
      }
    }
  return cert && key ? { cert, key } : undefined
}

/** A lock of the kernel, held until the process ends: a second server would remove the uploads of the first. */
function taken(root: string): Database {
  const lock = new Database(`${root}/.server.lock`, { create: true })
  try {
    lock.run('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (!/^SQLITE_BUSY/.test((error as { code?: string }).code ?? '')) throw error
    throw new CannotStart(
      'already_running',
      `Another backup server has ${root} already. Stop it, or take another --path.`,
    )
  }
}

function listening<S>(start: () => S, listen: string): S {
  try {
    return start()
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    throw code === 'EADDRINUSE'
      ? new CannotStart('port_taken', `Another program listens on ${listen} already. Stop it, or take another port.`)
      : new CannotStart('cannot_listen', `${listen}: ${message}`)
  }
}
