// The SSH kit: a directory that every instance has at /.berth, read-only. Its programs are the host's own, from
// packages of Debian, with their libraries and their loader beside them, so that they run in an image without any.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { Failure } from '../../failure.ts'
import { makePassage } from '../../host/directories.ts'
import { find, run } from '../../host/exec.ts'
import endSessions from './kit/end-sessions.sh' with { type: 'text' }
import session from './kit/session.sh' with { type: 'text' }
import start from './kit/start.sh' with { type: 'text' }
import wrapped from './kit/wrapped.sh' with { type: 'text' }

/** Counts up when a kit of the same programs is made differently. */
const FORMAT = 1
/** Where an instance has it. The programs know this place. */
export const KIT_PATH = '/.berth'

/** Programs with libraries. Those with `inPath` are for images that lack them. */
const programs = [
  { name: 'dropbear', path: '/usr/sbin/dropbear', package: 'dropbear-bin', inPath: false },
  { name: 'sftp-server', path: '/usr/lib/openssh/sftp-server', package: 'openssh-sftp-server', inPath: false },
  { name: 'rsync', path: '/usr/bin/rsync', package: 'rsync', inPath: true },
  { name: 'scp', path: '/usr/bin/scp', package: 'openssh-client', inPath: true },
] as const
const SHELL = { path: '/bin/busybox', package: 'busybox-static' }
const scripts = { start, session, 'end-sessions': endSessions }

/** The packages that this host lacks for the kit. */
export function missingPackages(): string[] {
  const lacking = [...programs, SHELL].filter(({ path }) => !existsSync(path)).map((program) => program.package)
  return [...lacking, ...(find('patchelf') ? [] : ['patchelf'])]
}

/**
 * Makes the kit below `root` unless it is there, and answers its directory, whose name changes with the programs.
 * Throws `ssh_kit` when the host lacks a package.
 */
export async function ensureKit(root: string): Promise<string> {
  const lacking = missingPackages()
  if (lacking.length)
    throw new Failure('ssh_kit', `this host lacks what instances need for SSH: install ${lacking.join(' ')}`)
  makePassage(root)
  const all = await Promise.all(programs.map(async (program) => ({ ...program, ...(await linked(program.path)) })))
  const libraries = [...new Set(all.flatMap((program) => program.libraries))]
  const { loader } = all[0]!
  const kit = join(root, versionOf([...all.map(({ path }) => path), SHELL.path, loader, ...libraries]))
  if (existsSync(kit)) return kit
  const part = mkdtempSync(join(root, '.making-'))
  try {
    for (const directory of ['bin', 'sbin', 'lib', 'instance']) mkdirSync(join(part, directory))
    for (const path of libraries) copyFileSync(path, join(part, 'lib', basename(path)))
    copyFileSync(loader, join(part, 'lib', 'ld.so'))
    for (const { name, path, inPath } of all) {
      await selfContained(path, join(part, 'lib', name))
      if (inPath) writeFileSync(join(part, 'bin', name), wrapped)
    }
    for (const [name, text] of Object.entries(scripts)) writeFileSync(join(part, 'sbin', name), text)
    await addShell(join(part, 'bin'))
    openToAll(part)
    renameSync(part, kit)
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
  return kit
}

/** Deletes kits that no instance has, and what a crash left of one. */
export function removeOtherKits(root: string, used: ReadonlySet<string>) {
  for (const name of existsSync(root) ? readdirSync(root) : [])
    if (!used.has(join(root, name))) rmSync(join(root, name), { recursive: true, force: true })
}

/** The libraries of a program and its loader, as this host's loader finds them. */
async function linked(path: string): Promise<{ libraries: string[]; loader: string }> {
  const { out } = await run('ldd', [path], { quietly: true })
  const libraries = [...out.matchAll(/=> (\/\S+) \(0x/g)].map(([, library]) => library!)
  const loader = /^\s*(\/\S*\/ld-linux\S*) \(0x/m.exec(out)?.[1]
  if (!loader) throw new Failure('ssh_kit', `${path} has no loader: ${out.trim().slice(0, 300)}`)
  return { libraries, loader }
}

/** An older form of the path of libraries, which comes before LD_LIBRARY_PATH of the image. */
async function selfContained(from: string, to: string) {
  copyFileSync(from, to)
  const libraries = join(KIT_PATH, 'lib')
  const how = ['--set-interpreter', join(libraries, 'ld.so'), '--force-rpath', '--set-rpath', libraries]
  await run('patchelf', [...how, to], { quietly: true })
}

/** The shell, under the names of all programs that it also is. */
async function addShell(bin: string) {
  const { code } = await run('ldd', [SHELL.path], { mayFail: true, quietly: true })
  if (code === 0)
    throw new Failure('ssh_kit', `${SHELL.path} needs libraries, which an image may not have: install ${SHELL.package}`)
  copyFileSync(SHELL.path, join(bin, 'busybox'))
  const { out } = await run('busybox', ['--list'], { quietly: true })
  for (const name of out.split('\n').filter((line) => line && !existsSync(join(bin, line))))
    symlinkSync('busybox', join(bin, name))
}

/** The instance's users are not the host's, whatever the agent's umask is. */
function openToAll(directory: string) {
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) openToAll(path)
    else if (entry.isFile()) chmodSync(path, 0o755)
  }
}

function versionOf(paths: readonly string[]): string {
  const files = paths.map((path) => `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`)
  const all = JSON.stringify([FORMAT, files.toSorted(), scripts, wrapped])
  return createHash('sha256').update(all).digest('hex').slice(0, 16)
}
