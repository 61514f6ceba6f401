// The guest agent through libvirt. A call is one process of virsh that reads the question from standard input: on its
// command line every user of the host could read a password.

import { isIP } from 'node:net'
import { Failure } from '../../failure.ts'
import { type Ran, run } from '../../host/exec.ts'
import { printable } from '../../protocol/text.ts'
import { MOST_FILE_SYSTEMS } from '../../protocol/wire.ts'
import { uuidOf } from '../hypervisor/domain-xml.ts'
import {
  CHUNK_BYTES,
  type GuestAgent,
  type GuestFileSystem,
  type GuestInfo,
  type GuestInterface,
  type GuestPassword,
  type GuestRun,
  MOST_GUEST_BYTES,
} from './guest-agent.ts'

const AGENT_SECONDS = 5
/** The echo of a question with a chunk, and an answer with `MOST_GUEST_BYTES`, both in base64. */
const ANSWER_CAP_BYTES = 512 << 10
const EXEC_SECONDS = 30
const FREEZE_SECONDS = 10
const POLL_MS = 100
const MOST_INTERFACES = 64

/**
 * Runs a program with both of its outputs as one, cut after the first bytes; its exit code goes to standard error. One
 * byte more than fits tells that the output is cut.
 */
const CAPTURE = `{ { "$@" 2>&1 3>&-; echo $? >&3; } | head -c ${MOST_GUEST_BYTES + 1}; } 3>&2`

/** Puts a line to virsh, and answers what it prints. */
export type Virsh = (line: string, limitSeconds: number) => Promise<Pick<Ran, 'out' | 'err'>>
const virsh: Virsh = (line, limitSeconds) =>
  run('virsh', ['-q', '-c', 'qemu:///system'], {
    stdin: line,
    mayFail: true,
    quietly: true,
    limitSeconds,
    outputCapBytes: ANSWER_CAP_BYTES,
  })

export class LibvirtGuestAgent implements GuestAgent {
  /** The last call to each guest. A guest that never answers holds one process at most. */
  private last = new Map<string, Promise<unknown>>()

  constructor(private virshAnswers: Virsh = virsh) {}

  async ping(workload: string) {
    const answer = await this.ask(workload, 'guest-ping').catch(() => undefined)
    return typeof answer === 'object' && answer !== null && Object.keys(answer).length === 0
  }

  async freeze(workload: string) {
    integerOf(await this.ask(workload, 'guest-fsfreeze-freeze', undefined, FREEZE_SECONDS))
  }

  async thaw(workload: string) {
    return integerOf(await this.ask(workload, 'guest-fsfreeze-thaw'))
  }

  async setPassword(workload: string, username: string, password: GuestPassword) {
    const crypted = 'hash' in password
    const secret = base64(new TextEncoder().encode(crypted ? password.hash : password.text))
    await this.ask(workload, 'guest-set-user-password', { username, password: secret, crypted })
  }

  async info(workload: string): Promise<GuestInfo> {
    const version = fieldsOf(await this.ask(workload, 'guest-info'))['version']
    const { 'host-name': hostname } = fieldsOf(await this.ask(workload, 'guest-get-host-name'))
    const os = fieldsOf(await this.ask(workload, 'guest-get-osinfo'))
    return {
      agentVersion: lineOf(version, 40),
      hostname: lineOf(hostname, 253),
      osId: lineOf(os['id'], 40),
      osName: lineOf(os['name'], 100),
      osVersion: lineOf(os['version'] ?? os['version-id'], 100),
      kernel: lineOf(os['kernel-release'], 100),
      machine: lineOf(os['machine'], 40),
    }
  }

  async interfaces(workload: string): Promise<GuestInterface[]> {
    return listOf(await this.ask(workload, 'guest-network-get-interfaces')).map((entry) => {
      const fields = fieldsOf(entry)
      return {
        name: lineOf(fields['name'], 64),
        mac: lineOf(fields['hardware-address'], 17).toLowerCase(),
        addresses: listOf(fields['ip-addresses'] ?? []).flatMap((each) => addressOf(fieldsOf(each))),
      }
    })
  }

  async fileSystems(workload: string): Promise<GuestFileSystem[]> {
    const found = listOf(await this.ask(workload, 'guest-get-fsinfo')).flatMap((entry) => fileSystemOf(fieldsOf(entry)))
    // One that is mounted in several places is one.
    const byDevice = new Map<string, GuestFileSystem>()
    for (const one of found.toSorted((a, b) => a.path.length - b.path.length || (a.path < b.path ? -1 : 1)))
      if (!byDevice.has(one.device)) byDevice.set(one.device, one)
    return [...byDevice.values()].slice(0, MOST_FILE_SYSTEMS)
  }

  async exec(workload: string, argv: readonly string[], { stdin, limitSeconds = EXEC_SECONDS } = {} as ExecOptions) {
    const until = performance.now() + limitSeconds * 1000
    const begun = fieldsOf(
      await this.ask(workload, 'guest-exec', {
        path: '/bin/sh',
        arg: ['-c', CAPTURE, 'sh', ...argv],
        'capture-output': true,
        ...(stdin !== undefined && { 'input-data': base64(new TextEncoder().encode(stdin)) }),
      }),
    )
    return resultOf(await this.end(workload, begun, until, limitSeconds))
  }

  /** Encoded, as PowerShell takes a script of several lines: nothing in it is read twice. */
  async powershell(workload: string, script: string, { limitSeconds = EXEC_SECONDS } = {}) {
    const until = performance.now() + limitSeconds * 1000
    const begun = fieldsOf(
      await this.ask(workload, 'guest-exec', {
        path: 'powershell.exe',
        arg: ['-NoProfile', '-NonInteractive', '-EncodedCommand', Buffer.from(script, 'utf16le').toString('base64')],
        'capture-output': true,
      }),
    )
    const status = await this.end(workload, begun, until, limitSeconds)
    if (status['exitcode'] === 0) return
    const words = printable(new TextDecoder().decode(bytesOf(status['err-data']))).slice(0, 200)
    throw new Failure('guest_refused', `the script in the guest of ${workload} failed: ${words}`)
  }

  /** Waits until the program has ended. */
  private async end(workload: string, begun: Record<string, unknown>, until: number, limitSeconds: number) {
    const pid = integerOf(begun['pid'])
    for (let waitMs = 20; ; waitMs = POLL_MS) {
      await Bun.sleep(waitMs)
      const status = fieldsOf(await this.ask(workload, 'guest-exec-status', { pid }))
      if (status['exited'] === true) return status
      if (performance.now() >= until)
        throw new Failure('guest_timeout', `the program in the guest of ${workload} did not end in ${limitSeconds} s`)
    }
  }

  async writeFile(workload: string, path: string, content: Uint8Array) {
    await this.withFile(workload, path, 'w', async (handle) => {
      for (let at = 0; at < content.length; at += CHUNK_BYTES)
        await this.ask(workload, 'guest-file-write', {
          handle,
          'buf-b64': base64(content.subarray(at, at + CHUNK_BYTES)),
        })
    })
  }

  async readFile(workload: string, path: string): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    await this.withFile(workload, path, 'r', async (handle) => {
      for (let left = MOST_GUEST_BYTES; left > 0; ) {
        const read = fieldsOf(
          await this.ask(workload, 'guest-file-read', { handle, count: Math.min(left, CHUNK_BYTES) }),
        )
        const bytes = bytesOf(read['buf-b64'])
        parts.push(bytes.subarray(0, left))
        left -= bytes.length
        if (read['eof'] === true || bytes.length === 0) break
      }
    })
    return Buffer.concat(parts)
  }

  private async withFile(workload: string, path: string, mode: string, work: (handle: number) => Promise<void>) {
    const handle = integerOf(await this.ask(workload, 'guest-file-open', { path, mode }))
    try {
      await work(handle)
    } finally {
      // An agent that has just failed cannot close it either; it forgets its handles when it starts again.
      await this.ask(workload, 'guest-file-close', { handle }).catch(() => {})
    }
  }

  /** One call after another for each guest: libvirt lets the second wait and fail otherwise. */
  private ask(workload: string, execute: string, args?: object, seconds?: number): Promise<unknown> {
    const before = this.last.get(workload) ?? Promise.resolve()
    const asked = before.then(() => ask(this.virshAnswers, workload, execute, args, seconds))
    const settled = asked
      .catch(() => {})
      .finally(() => this.last.get(workload) === settled && this.last.delete(workload))
    this.last.set(workload, settled)
    return asked
  }
}

type ExecOptions = { stdin?: string; limitSeconds?: number }

async function ask(
  virsh: Virsh,
  workload: string,
  execute: string,
  args?: object,
  seconds: number = AGENT_SECONDS,
): Promise<unknown> {
  const json = asciiJson({ execute, ...(args && { arguments: args }) })
  const question = `qemu-agent-command ${uuidOf(workload)} --timeout ${seconds} '${json}'\n`
  const { out, err } = await virsh(question, seconds + 5).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'tool_timeout') throw silent(workload)
    throw error
  })
  const answer = answerIn(out)
  if (answer === undefined) throw failureIn(workload, execute, err)
  return answer
}

/**
 * JSON in ASCII without a quote of the shell: virsh reads it between single quotes, and its line editor sees neither a
 * tabulator nor a character of several bytes.
 */
export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(/['\u007f-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The answer is the last line but for the prompt: virsh repeats the question before it. Undefined: there is none. */
function answerIn(out: string): unknown {
  const line = out.split('\n').findLast((each) => each.startsWith('{"return":'))
  if (line === undefined) return undefined
  try {
    return (JSON.parse(line) as { return: unknown }).return
  } catch {
    return undefined
  }
}

const silent = (workload: string) =>
  new Failure('guest_agent_silent', `no guest agent answers in ${workload} within ${AGENT_SECONDS} s`)
const broken = (detail: string) =>
  new Failure('guest_agent_broken', `the guest agent's answer makes no sense: ${detail}`)

/** From libvirt's words, which quote the guest's: what is quoted is cut and printable. */
export function failureIn(workload: string, execute: string, err: string): Failure {
  if (
    /agent is not connected|not responding|not available for now|not configured|not running|failed to get domain/i.test(
      err,
    )
  )
    return silent(workload)
  const refused = /unable to execute QEMU agent command '[a-z-]+': (.*)/s.exec(err)?.[1]
  if (refused === undefined) return broken(printable(err.trim()).slice(0, 200))
  if (/has been disabled|is not allowed|frozen/i.test(refused))
    return new Failure(
      'guest_frozen',
      `${execute} is not possible in ${workload} now: its guest is frozen or forbids it`,
    )
  return new Failure(
    'guest_refused',
    `the guest of ${workload} refused ${execute}: ${printable(refused.trim()).slice(0, 200)}`,
  )
}

function resultOf(status: Record<string, unknown>): GuestRun {
  const bytes = bytesOf(status['out-data'])
  const code = new TextDecoder().decode(bytesOf(status['err-data'])).trim()
  return {
    // The shell's own failure has no line with a code.
    code: /^\d{1,3}$/.test(code) ? Number(code) : (typeof status['exitcode'] === 'number' && status['exitcode']) || 1,
    output: new TextDecoder().decode(bytes.subarray(0, MOST_GUEST_BYTES)),
    truncated: bytes.length > MOST_GUEST_BYTES,
  }
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const bytesOf = (value: unknown): Uint8Array =>
  typeof value === 'string' ? Buffer.from(value, 'base64') : new Uint8Array()
const lineOf = (value: unknown, most: number) => (typeof value === 'string' ? printable(value.slice(0, most)) : '')

function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw broken('an object was expected')
  return value as Record<string, unknown>
}
function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw broken('a list was expected')
  return value.slice(0, MOST_INTERFACES)
}
function integerOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw broken('a number was expected')
  return value
}
function addressOf({ 'ip-address': address, prefix }: Record<string, unknown>): string[] {
  if (typeof address !== 'string' || address.length > 45 || !isIP(address) || !Number.isInteger(prefix)) return []
  const length = prefix as number
  return length >= 0 && length <= (address.includes(':') ? 128 : 32) ? [`${address}/${length}`] : []
}
/** Older agents, and file systems without a disk, do not tell how full one is. */
function fileSystemOf(fields: Record<string, unknown>): GuestFileSystem[] {
  const [usedBytes, totalBytes] = [fields['used-bytes'], fields['total-bytes']]
  if (!isSize(usedBytes) || !isSize(totalBytes) || totalBytes === 0 || usedBytes > totalBytes) return []
  const [path, device, kind] = [
    lineOf(fields['mountpoint'], 200),
    lineOf(fields['name'], 64),
    lineOf(fields['type'], 40),
  ]
  return path && device && !readOnly.has(kind) ? [{ path, device, kind, usedBytes, totalBytes }] : []
}
const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
/** Images that are full by their nature. */
const readOnly: ReadonlySet<string> = new Set(['squashfs', 'iso9660', 'udf', 'CDFS', 'erofs'])
