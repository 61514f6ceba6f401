// `berth admin`: any operation of the API, on this host, as System. A running controller is asked through its socket
// file, so that it starts the jobs; without one the database is opened here.
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createStaff } from '../../identity/staff/staff.ts'
import { grantToken } from '../../identity/tokens/tokens.ts'
import { API_ROOT } from '../../kernel/api/http.ts'
import type { Operation } from '../../kernel/api/operation.ts'
import { CannotStart } from '../../kernel/command-line/startup-errors.ts'
import { day, iso, second } from '../../kernel/db/clock.ts'
import { configFrom } from '../config.ts'
import { allOperations, registry } from '../features.ts'
import { operationHelp } from './admin-help.ts'
import {
  databaseOf,
  environment,
  installation,
  isNobodyThere,
  makeDataDir,
  noDatabase,
  openController,
  socketOf,
} from './data-dir.ts'
import { inUse, lockDataDir } from './data-dir-lock.ts'

const usage = `berth admin OPERATION [JSON]     any API operation; the ids in its path and its body are fields of the
                                 JSON, its query is under "query"
berth admin OPERATION -          the same with the JSON from standard input: others on this host can read a command
                                 line, so passwords do not belong on it
berth admin OPERATION --help     what it takes
berth admin list                 the operations there are
berth admin create-staff --email E --name N [--role R]
                                 the password is read from standard input; without --role the person is an Owner,
                                 who may do everything
berth admin create-token --account EMAIL --name N --preset billing|reseller-billing | --scopes a,b
                         [--allow ADDRESS]… [--expires DAYS]
                                 prints the token alone; without --expires it does not end by itself

It works on the installation of this host, or on the one whose data directory PANEL_DATA_DIR names.
Exit 0 done, 1 refused (code and message on standard error), 2 wrong use.`

class WrongUse extends Error {}
/** The controller went away while it was at it: what it was told may be done or not. */
export class CutShort extends Error {}

export async function admin(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  try {
    if (name === undefined) throw new WrongUse(usage)
    const op = allOperations.find((o) => o.id === name)
    if ([name, ...rest].some((arg) => arg === '--help' || arg === '-h')) {
      if (!op && !commands.has(name)) throw noOperation(name)
      console.log(op ? operationHelp(op, registry) : usage)
      return 0
    }
    if (name === 'list') {
      for (const op of allOperations) console.log(`${op.id.padEnd(22)} ${op.summary}`)
      return 0
    }
    if (name === 'create-staff') return show(await call(createStaff, await staffFrom(rest)))
    if (name === 'create-token') return show(await call(grantToken, tokenFrom(rest)), (body) => body.token)
    if (!op) throw noOperation(name)
    return show(await call(op, await jsonFrom(rest)))
  } catch (error) {
    if (!(error instanceof WrongUse || error instanceof CutShort)) throw error
    console.error(error.message)
    return error instanceof CutShort ? 1 : 2
  }
}

const commands = new Set(['--help', '-h', 'list', 'create-staff', 'create-token'])
const noOperation = (name: string) => new WrongUse(`There is no operation "${name}". berth admin list shows them.`)

async function jsonFrom(rest: readonly string[]): Promise<Record<string, any>> {
  if (rest.length > 1) throw new WrongUse('Give the fields as one JSON object, in quotes.')
  const text = rest[0] === '-' ? await Bun.stdin.text() : (rest[0] ?? '{}')
  try {
    const value = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error()
    return value
  } catch {
    throw new WrongUse('The fields are not a JSON object.')
  }
}

const options = (rest: readonly string[], known: Record<string, { type: 'string'; multiple?: boolean }>) => {
  try {
    return parseArgs({ args: [...rest], options: known, strict: true }).values as Record<string, any>
  } catch (error) {
    throw new WrongUse(`${(error as Error).message}\n\n${usage}`)
  }
}

async function staffFrom(rest: readonly string[]) {
  const { email, name, role } = options(rest, {
    email: { type: 'string' },
    name: { type: 'string' },
    role: { type: 'string' },
  })
  if (!email || !name) throw new WrongUse(usage)
  const password = process.stdin.isTTY ? await typed('Password: ') : (await Bun.stdin.text()).replace(/\r?\n$/, '')
  if (!password) throw new WrongUse('The password is read from standard input, and there was none.')
  return { email, name, password, ...(role ? { role } : {}) }
}

/** A line from the terminal, which does not show it. */
async function typed(prompt: string): Promise<string> {
  const { stdin, stderr } = process
  stderr.write(prompt)
  stdin.setRawMode(true)
  let line = ''
  try {
    for await (const piece of stdin)
      for (const sign of String(piece)) {
        if (sign === '\r' || sign === '\n') return line
        if (sign === '\u0003' || sign === '\u0004') throw new WrongUse('Nothing was done.') // Ctrl-C, Ctrl-D
        line = sign === '\u007f' || sign === '\b' ? line.slice(0, -1) : line + sign
      }
    return line
  } finally {
    stdin.setRawMode(false)
    stderr.write('\n')
  }
}

function tokenFrom(rest: readonly string[]) {
  const { account, name, preset, scopes, allow, expires } = options(rest, {
    account: { type: 'string' },
    name: { type: 'string' },
    preset: { type: 'string' },
    scopes: { type: 'string' },
    allow: { type: 'string', multiple: true },
    expires: { type: 'string' },
  })
  if (!account || !name || !preset === !scopes) throw new WrongUse(usage)
  if (expires !== undefined && !/^[1-9]\d{0,4}$/.test(expires))
    throw new WrongUse('--expires is a number of days, for example 365.')
  return {
    account,
    name,
    ...(preset ? { preset } : { scopes: scopes.split(',').map((s: string) => s.trim()) }),
    ...(allow ? { allow } : {}),
    ...(expires ? { expiresAt: iso(Date.now() + Number(expires) * day) } : {}),
  }
}

/**
 * Fields that stand in the path are taken out of the body; `query` becomes the query. Where the path has one id, `id`
 * names it too. Throws `CutShort`.
 */
export async function call(op: Operation, given: Record<string, any>): Promise<Response> {
  const { query, ...body } = given
  const inPath = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  if (inPath.length === 1 && body[inPath[0]!] === undefined && body['id'] !== undefined) {
    body[inPath[0]!] = body['id']
    delete body['id']
  }
  const path = op.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = body[name]
    if (value === undefined)
      throw new WrongUse(`${op.id} needs "${name}". berth admin ${op.id} --help shows all that it takes.`)
    if (typeof value !== 'string')
      throw new WrongUse(`"${name}" must be text in quotes, the id of the ${op.on?.name ?? name}.`)
    delete body[name]
    return encodeURIComponent(value)
  })
  const url = `http://localhost${API_ROOT}${path}${query ? `?${new URLSearchParams(query)}` : ''}`
  const request =
    op.method === 'GET'
      ? { method: 'GET' }
      : {
          method: op.method,
          ...(op.body ? { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) } : {}),
        }
  // The first member of staff may be made before the first start: a new installation on purpose.
  if (op === createStaff) makeDataDir(configFrom(environment()).dataDir)
  const config = installation()
  const running = await askRunning(config.dataDir, op, url, request)
  if (running) return running
  if (op !== createStaff && !existsSync(databaseOf(config.dataDir))) throw noDatabase(config.dataDir)
  // A controller that starts now, or stops, has the directory and no socket: it is asked as soon as it can be.
  for (const end = performance.now() + STARTING_MS; ; ) {
    const lock = await lockDataDir(config.dataDir, 'shared', LOCK_WAIT_MS)
    if (lock) {
      process.on('exit', () => lock.release()) // the response may be sent in parts
      const controller = await openController({ config })
      return controller.fetchLocal(new Request(url, request))
    }
    const started = await askRunning(config.dataDir, op, url, request)
    if (started) return started
    if (performance.now() > end) throw new CannotStart('data_dir_in_use', inUse(config.dataDir))
  }
}

/** A controller opens its socket within this time of its start. */
const STARTING_MS = 20 * second
const LOCK_WAIT_MS = 250

/** Undefined where no controller is at the socket. Throws `CutShort`. */
async function askRunning(dataDir: string, op: Operation, url: string, request: object): Promise<Response | undefined> {
  const socket = socketOf(dataDir)
  if (!existsSync(socket)) return undefined
  // The socket file may be left over from a killed controller. After any other failure the controller may have begun
  // the call: it must not begin twice.
  const answer = await fetch(url, { ...request, unix: socket, timeout: false } as unknown as RequestInit).catch(
    (error) => {
      if (!isNobodyThere(error) && op.method !== 'GET')
        throw new CutShort(
          'The controller stopped in the middle. Check whether it was done (berth admin audit.list) before ' +
            'you do it again.',
        )
    },
  )
  return answer || undefined
}

export async function show(answer: Response, what: (body: any) => unknown = (body) => body): Promise<number> {
  if (answer.ok && !/^application\/json\b/.test(answer.headers.get('Content-Type') ?? '')) {
    for await (const piece of answer.body ?? []) process.stdout.write(piece)
    return 0
  }
  const body: any = await answer.json()
  if (answer.ok) {
    const value = what(body)
    console.log(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
    return 0
  }
  console.error(`${body.error.code}: ${body.error.message}`)
  for (const f of body.error.details?.fields ?? []) console.error(`  ${f.field}: ${f.message}`)
  return 1
}
