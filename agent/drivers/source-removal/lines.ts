// Lines that are taken out of files with other lines: of cron, and of root's keys.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { printable } from '../../protocol/text.ts'
import type { RemovalScope, RootKey } from '../../protocol/values/source-removal.ts'
import { namesIn, textOf } from './files.ts'
import type { Leftovers } from './leftovers.ts'

/** root's crontab, where Debian, Red Hat and SUSE have it. */
const CRONTABS = ['/var/spool/cron/crontabs/root', '/var/spool/cron/root', '/var/spool/cron/tabs/root'] as const
const SYSTEM_CRONTAB = '/etc/crontab'
const CRON_D = '/etc/cron.d'
const CRON_SCRIPTS = ['/etc/cron.hourly', '/etc/cron.daily', '/etc/cron.weekly', '/etc/cron.monthly'] as const
const AUTHORIZED_KEYS = ['/root/.ssh/authorized_keys', '/root/.ssh/authorized_keys2'] as const
/** A file that cron itself passes over. */
const PASSED_OVER = /^\.|~$|\.(?:dpkg-(?:old|dist|new)|rpm(?:save|new|orig)|berth-(?:new|copying))$/

export type CronFound =
  | { kind: 'cron_file'; path: string; jobs: number }
  | { kind: 'cron_lines'; path: string; lines: string[]; jobs: number }

const rowsOf = (text: string) => text.split('\n')
/** Jobs are the lines of cron that run something: no comments, and no variables. */
const isJob = (row: string) => /^\s*(?:@|[\d*])/.test(row)

/** Cron files and lines of the panel. A file of its name, or with no other jobs than its own, moves as a whole. */
export async function cronOf({ cronNames, cronLines }: Leftovers): Promise<CronFound[]> {
  const found: CronFound[] = []
  for (const path of [...CRONTABS, SYSTEM_CRONTAB]) {
    const jobs = rowsOf((await textOf(path)) ?? '').filter(isJob)
    const lines = jobs.filter((row) => cronLines.test(row))
    if (lines.length) found.push({ kind: 'cron_lines', path, lines, jobs: jobs.length })
  }
  for (const name of await namesIn(CRON_D)) {
    if (PASSED_OVER.test(name)) continue
    const path = join(CRON_D, name)
    const jobs = rowsOf((await textOf(path)) ?? '').filter(isJob)
    const lines = jobs.filter((row) => cronLines.test(row))
    if (cronNames.test(name) || (jobs.length > 0 && lines.length === jobs.length))
      found.push({ kind: 'cron_file', path, jobs: jobs.length })
    else if (lines.length) found.push({ kind: 'cron_lines', path, lines, jobs: jobs.length })
  }
  for (const dir of CRON_SCRIPTS)
    for (const name of await namesIn(dir))
      if (cronNames.test(name)) found.push({ kind: 'cron_file', path: join(dir, name), jobs: 1 })
  return found
}

const KEY = /(?:^|\s)(ssh-[a-z0-9-]+|ecdsa-[a-z0-9-]+|sk-[a-z0-9@.-]+) +([A-Za-z0-9+/]+={0,3})(?:[ \t]+(.*))?$/
type KeyLine = { path: string; row: string; type: string; blob: string; options: string; comment: string }
/** Lines that Berth itself adds on hypervisors end so, and the key of a node for moves has its name. */
const OURS = /\bberth/i

async function keyLines(): Promise<KeyLine[]> {
  const found: KeyLine[] = []
  for (const path of AUTHORIZED_KEYS)
    for (const row of rowsOf((await textOf(path)) ?? '')) {
      if (/^\s*#/.test(row)) continue
      const key = KEY.exec(row)
      if (!key) continue
      const [, type = '', blob = '', comment = ''] = key
      found.push({ path, row, type, blob, options: row.slice(0, key.index), comment: comment.trim() })
    }
  return found
}

export type KeysFound = {
  /** The line of the control server's; none where it has none, or more than one key could be its. */
  line: { path: string; lines: string[] } | null
  ambiguous: string[]
  all: RootKey[]
}
/** The control server's key among root's keys: exactly one, or none is decided on. */
export async function keysOf({ keyComment, keptKey }: Leftovers, scope: RemovalScope): Promise<KeysFound> {
  const lines = await keyLines()
  const named = new Set(scope.controlKeys)
  const isTheirs = ({ blob, comment, options }: KeyLine) =>
    !OURS.test(comment) &&
    !keptKey?.test(comment) &&
    (named.has(fingerprintOf(blob)) ||
      (keyComment?.test(comment) ?? false) ||
      (keyComment !== null && fromOf(options).some((from) => scope.panelAddresses.includes(from))))
  const theirs = lines.filter(isTheirs)
  const certain = named.size ? theirs.filter(({ blob }) => named.has(fingerprintOf(blob))) : theirs
  const chosen = certain.length ? certain : theirs
  const isOne = new Set(chosen.map(({ blob }) => blob)).size === 1 && new Set(chosen.map(({ path }) => path)).size === 1
  return {
    line: isOne ? { path: chosen[0]!.path, lines: chosen.map(({ row }) => row) } : null,
    ambiguous: isOne ? [] : chosen.map(({ comment, blob }) => comment || blob.slice(-20)),
    all: lines.map(({ type, blob, comment }) => ({
      type: type.slice(0, 60),
      comment: printable(comment.slice(0, 200)),
      fingerprint: fingerprintOf(blob),
      isOurs: OURS.test(comment),
    })),
  }
}
const fingerprintOf = (blob: string) =>
  `SHA256:${createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64').replace(/=+$/, '')}`
const fromOf = (options: string) => (/(?:^|,)from="([^"]*)"/i.exec(options)?.[1] ?? '').split(',')

/** The text without these lines, each as often as it is given. */
export function without(text: string, lines: readonly string[]): string {
  const left = [...lines]
  return rowsOf(text)
    .filter((row) => {
      const at = left.indexOf(row)
      if (at >= 0) left.splice(at, 1)
      return at < 0
    })
    .join('\n')
}
/** The lines that a text does not have any more. */
export function missingIn(text: string, lines: readonly string[]): string[] {
  const rows = rowsOf(text)
  return lines.filter((line) => {
    const at = rows.indexOf(line)
    if (at >= 0) rows.splice(at, 1)
    return at < 0
  })
}
