// One sign-in at a source hypervisor: OpenSSH's client, with a fixed script that the shell of the source reads from its
// input. No word of the source or of a panel is ever part of a command line.
import { closeSync, constants, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../../../failure.ts'
import { begin, type Conversation, converse, type Ran, run } from '../../../host/exec.ts'
import { printable } from '../../../protocol/text.ts'
import type { SourceHost } from '../../../protocol/values/source-hosts.ts'

const CONNECT_SECONDS = 15
/** The name under which the host key stands in the file that ssh is given. */
const HOST = 'berth-source'
const MOST_WORDS = 300
/** The shell of root there may be one that is none; this one is on every Linux. */
const SHELL = 'exec /bin/sh'

/**
 * `dir`: of the key and the sessions of this node. `does`: a script, or one command of which no output is wanted.
 * `password`: signs in with it instead of the key.
 */
export type SigningIn = {
  dir: string
  host: SourceHost
  does: { script: string } | { command: string }
  limitSeconds: number
  outputCapBytes?: number
  password?: string
  quietly?: boolean
}
/** `refusal`: the server lets nobody in with what was offered, in its words. */
export type SignedIn = { hostKey: string; refusal: string | null; ran: Ran }

/** The private key of this node for source hypervisors. */
export const keyFile = (dir: string) => join(dir, 'key')
export const sessionsDir = (dir: string) => join(dir, 'sessions')

/** Throws `source_unreachable`, `source_host_key_changed`, `source_ssh_too_old` and `source_invalid`. */
export async function signIn(signing: SigningIn): Promise<SignedIn> {
  const { dir, host, does, limitSeconds, outputCapBytes, password, quietly = true } = signing
  const session = join(sessionsDir(dir), crypto.randomUUID())
  mkdirSync(session, { recursive: true, mode: 0o700 })
  let close = () => {}
  try {
    const known = join(session, 'known_hosts')
    writeFileSync(known, host.hostKey === null ? '' : `${HOST} ${host.hostKey}\n`, { mode: 0o600 })
    const passing = password === undefined ? undefined : await askPass(session, password)
    close = passing?.close ?? close
    const args = [...optionsOf(dir, known, host, passing !== undefined), '--', host.address]
    const options = { limitSeconds, mayFail: true, quietly, ...(outputCapBytes && { outputCapBytes }) }
    const running =
      'command' in does
        ? forgotten([...args, does.command], limitSeconds)
        : run('ssh', [...args, SHELL], { ...options, stdin: does.script, ...(passing && { env: passing.env }) })
    const ran = await running.catch((error) => {
      if (!(error instanceof Failure) || error.code !== 'tool_timeout') throw error
      throw new Failure('source_unreachable', `${host.address} did not answer within ${limitSeconds} s`)
    })
    const hostKey = learnedKey(known)
    const refusal = ran.code === 255 ? refusalOf(host, ran.err) : null
    if (hostKey === undefined) throw new Failure('source_invalid', `${host.address} has a host key that is none`)
    return { hostKey, refusal, ran }
  } finally {
    close()
    rmSync(session, { recursive: true, force: true })
  }
}

/** AES-GCM takes two thirds of the time of what OpenSSH chooses by itself. An older source takes what it has. */
const CIPHERS = '^aes128-gcm@openssh.com,aes256-gcm@openssh.com'

/** A session that lasts: the shell of the source, which is asked and answers. `close` ends it and leaves nothing. */
export type Session = { talk: Conversation; close(): Promise<void>; hostKey(): string | undefined }

/** Begins a session with the key of this node. Whether it got in is seen by its first answer. */
export function beginSession(dir: string, host: SourceHost): Session {
  const session = join(sessionsDir(dir), crypto.randomUUID())
  mkdirSync(session, { recursive: true, mode: 0o700 })
  const known = join(session, 'known_hosts')
  writeFileSync(known, host.hostKey === null ? '' : `${HOST} ${host.hostKey}\n`, { mode: 0o600 })
  const args = ['-o', `Ciphers=${CIPHERS}`, ...optionsOf(dir, known, host, false), '--', host.address, SHELL]
  const talk = converse('ssh', args)
  return {
    talk,
    hostKey: () => learnedKey(known),
    async close() {
      talk.stop()
      await talk.ended
      rmSync(session, { recursive: true, force: true })
    },
  }
}

/** Runs ssh without its output. */
async function forgotten(args: string[], limitSeconds: number): Promise<Ran> {
  const nowhere = openSync('/dev/null', 'w')
  try {
    const { ended, stop } = begin('ssh', args, { stdout: nowhere })
    const timer = setTimeout(stop, limitSeconds * 1000)
    return await ended.finally(() => clearTimeout(timer))
  } finally {
    closeSync(nowhere)
  }
}

function optionsOf(dir: string, known: string, { port, hostKey }: SourceHost, byPassword: boolean): string[] {
  const settings: Record<string, string | number> = {
    BatchMode: byPassword ? 'no' : 'yes',
    CheckHostIP: 'no',
    ClearAllForwardings: 'yes',
    Compression: 'no',
    ConnectTimeout: CONNECT_SECONDS,
    ForwardAgent: 'no',
    GlobalKnownHostsFile: '/dev/null',
    HashKnownHosts: 'no',
    HostKeyAlias: HOST,
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    IdentityFile: byPassword ? 'none' : keyFile(dir),
    // At ERROR the client does not say that it cannot agree with the server on anything.
    LogLevel: 'INFO',
    NumberOfPasswordPrompts: 1,
    PermitLocalCommand: 'no',
    PreferredAuthentications: byPassword ? 'password,keyboard-interactive' : 'publickey',
    PubkeyAuthentication: byPassword ? 'no' : 'yes',
    ServerAliveInterval: 5,
    ServerAliveCountMax: 3,
    // The first key that is seen is the one from then on.
    StrictHostKeyChecking: hostKey === null ? 'accept-new' : 'yes',
    UpdateHostKeys: 'no',
    UserKnownHostsFile: known,
  }
  const words = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return ['-F', 'none', '-T', ...words, '-p', String(port), '-l', 'root']
}

/**
 * It is what ssh calls when it asks for a password. It says the line that waits in the pipe beside it, once: a server
 * that asks again gets nothing.
 */
const ASK_PASS = `#!/bin/sh
pipe=$(dirname "$0")/password
[ -p "$pipe" ] && IFS= read -r line <"$pipe" && rm -f "$pipe" && printf '%s\\n' "$line"
`

/**
 * The password waits in a pipe of the kernel's, for the one program that is called for it: it is in no argument, no
 * environment and no file.
 */
async function askPass(session: string, password: string) {
  const [program, pipe] = [join(session, 'ask'), join(session, 'password')]
  writeFileSync(program, ASK_PASS, { mode: 0o700 })
  await run('mkfifo', ['--mode=600', '--', pipe], { quietly: true })
  // Open for both directions, it waits for no reader, and is empty again when it is closed.
  const file = openSync(pipe, constants.O_RDWR)
  const bytes = Buffer.from(`${password}\n`)
  writeSync(file, bytes)
  bytes.fill(0)
  return {
    env: { SSH_ASKPASS: program, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: 'none' },
    close: () => closeSync(file),
  }
}

/** The key that stands in the file of known hosts, which ssh has written at a first contact. */
function learnedKey(known: string): string | undefined {
  const words = new RegExp(`^${HOST} ([a-z0-9@.-]{1,60} [A-Za-z0-9+/]{20,1500}={0,2})$`, 'm')
  return words.exec(readFileSync(known, 'utf8'))?.[1]
}

/** The last words of a program, fit for people. */
export function wordsFrom(err: string): string {
  const lines = err.split(/[\r\n]+/).filter((line) => line !== '' && !line.startsWith('Warning: Permanently added'))
  return printable(lines.slice(-3).join('; ').slice(-MOST_WORDS)) || 'it ended without a word'
}

const CHANGED = /IDENTIFICATION HAS CHANGED|Host key verification failed|host key is known/
const TOO_OLD = /no matching |Unable to negotiate|no mutual signature|Protocol major versions differ|Invalid key length/
const REFUSED = /Permission denied|Too many authentication failures|No supported authentication methods/

/** Of OpenSSH's client, in its words where it was refused; it throws where it was not even asked who it is. */
export function refusalOf({ address }: Pick<SourceHost, 'address'>, err: string): string {
  const words = wordsFrom(err)
  if (CHANGED.test(err))
    throw new Failure('source_host_key_changed', `${address} has another host key than at the first contact: ${words}`)
  if (TOO_OLD.test(err))
    throw new Failure('source_ssh_too_old', `the SSH server of ${address} is older than this node accepts: ${words}`)
  if (!REFUSED.test(err)) throw new Failure('source_unreachable', `${address} is not reached by SSH: ${words}`)
  return words
}

/** Whether the server named a way with a password among those that it still takes. */
export const takesPasswords = (refusal: string) => /\([^)]*(password|keyboard-interactive)[^)]*\)/.test(refusal)
