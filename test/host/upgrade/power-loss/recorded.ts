// The operations on files of processes, as strace recorded them in their order.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** `file`: the descriptor. `at`: an offset; left out: where the descriptor is. */
export type FileOperation =
  | { is: 'open'; path: string; file: string; mode: number; creates: boolean; truncates: boolean; appends: boolean }
  | { is: 'write'; path: string; file: string; bytes: Buffer; at?: number }
  | { is: 'copy'; path: string; from: string; sizeBytes: number }
  | { is: 'size'; path: string; sizeBytes: number }
  | { is: 'mode'; path: string; mode: number }
  | { is: 'flush'; path: string }
  | { is: 'rename' | 'link'; path: string; to: string }
  | { is: 'remove' | 'directory'; path: string }

const calls = [
  ...['openat', 'write', 'pwrite64', 'writev', 'ftruncate', 'fsync', 'fdatasync', 'rename', 'renameat', 'renameat2'],
  ...['link', 'linkat', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir', 'chmod', 'fchmod', 'fchmodat'],
  ...['copy_file_range', 'sendfile'],
] as const
type Call = (typeof calls)[number]

/** The command with a recorder of it and of all that it starts, which writes to the file `trace`. */
export const recording = (trace: string, command: string) =>
  `strace -f --seccomp-bpf -y -xx -s 100000000 -e trace=${calls.join(',')} -e signal=none -o ${trace} ${command}`

/** Those that went well, with absolute paths. A call counts when it has ended. */
export function* recorded(trace: string): Generator<FileOperation> {
  const begun = new Map<string, string>()
  for (const line of readFileSync(trace, 'latin1').split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(pid, rest.slice(0, -'<unfinished ...>'.length))
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)
    const whole = resumed ? (begun.get(pid) ?? '') + resumed[1] : rest
    const [, call, args = '', result = ''] = /^(\w+)\((.*)\) += (\d+.*)$/.exec(whole) ?? []
    // A file without a name is on no disk.
    if (call && !whole.includes('>(deleted)')) yield* operations(call as Call, argumentsOf(args), result)
  }
}

type Argument = { number?: number; path?: string; bytes?: Buffer; text: string }
const fromHex = (text: string) => Buffer.from(text.replaceAll('\\x', ''), 'hex')

/** `5<PATH>`, `"BYTES"`, a number or words. By hand: megabytes between quotes are too much for an expression. */
function argumentsOf(text: string): Argument[] {
  const found: Argument[] = []
  for (let at = 0; at < text.length; ) {
    if (text[at] === '"') {
      const end = text.indexOf('"', at + 1)
      found.push({ bytes: fromHex(text.slice(at + 1, end)), text: '' })
      at = end + 1
      continue
    }
    const [all = '', path] = /^[^, <"]+(?:<([^>]*)>)?/.exec(text.slice(at, at + MOST_WORD)) ?? []
    if (path !== undefined) found.push({ path: fromHex(path).toString(), text: all })
    else if (all) found.push({ number: Number(all.replace('[', '')), text: all })
    at += all.length || 1
  }
  return found
}
const MOST_WORD = 20_000

/** A path that a call names, below the folder that the call names before it. */
const named = (path: Argument | undefined, folder?: Argument) =>
  posix.resolve(folder?.path ?? '/', path?.bytes?.toString() ?? '')
const octal = (argument: Argument | undefined) => Number.parseInt(argument?.text ?? '0', 8) & 0o7777

function* operations(call: Call, [a, b, c, d]: Argument[], result: string): Generator<FileOperation> {
  const path = a?.path ?? ''
  const file = a?.text ?? ''
  const count = Number.parseInt(result, 10)
  switch (call) {
    case 'openat': {
      const flags = c?.text.split('|') ?? []
      if (flags.includes('O_RDONLY')) return
      const [creates, truncates, appends] = ['O_CREAT', 'O_TRUNC', 'O_APPEND'].map((flag) => flags.includes(flag))
      const about = { creates: creates!, truncates: truncates!, appends: appends!, mode: octal(d) }
      const [, , opened = ''] = /^(\d+)<([^>]*)>/.exec(result) ?? []
      return yield { is: 'open', path: fromHex(opened).toString(), file: result, ...about }
    }
    case 'write':
      return yield { is: 'write', path, file, bytes: b!.bytes!.subarray(0, count) }
    case 'pwrite64':
      return yield { is: 'write', path, file, bytes: b!.bytes!.subarray(0, count), at: d!.number! }
    case 'copy_file_range':
      return yield { is: 'copy', path: c?.path ?? '', from: path, sizeBytes: count }
    case 'ftruncate':
      return yield { is: 'size', path, sizeBytes: b!.number! }
    case 'fsync':
    case 'fdatasync':
      return yield { is: 'flush', path }
    case 'rename':
      return yield { is: 'rename', path: named(a), to: named(b) }
    case 'renameat':
    case 'renameat2':
      return yield { is: 'rename', path: named(b, a), to: named(d, c) }
    case 'link':
      return yield { is: 'link', path: named(a), to: named(b) }
    case 'linkat':
      return yield { is: 'link', path: named(b, a), to: named(d, c) }
    case 'unlink':
    case 'rmdir':
      return yield { is: 'remove', path: named(a) }
    case 'unlinkat':
      return yield { is: 'remove', path: named(b, a) }
    case 'mkdir':
      return yield { is: 'directory', path: named(a) }
    case 'mkdirat':
      return yield { is: 'directory', path: named(b, a) }
    case 'chmod':
      return yield { is: 'mode', path: named(a), mode: octal(b) }
    case 'fchmodat':
      return yield { is: 'mode', path: named(b, a), mode: octal(c) }
    case 'fchmod':
      return yield { is: 'mode', path, mode: octal(b) }
    case 'writev':
    case 'sendfile':
      // To sockets and pipes. Nothing here writes files so.
      if (/^\/(var\/lib|usr\/local)\//.test(path)) throw new Error(`the recorder does not know ${call} to ${path}`)
  }
}
