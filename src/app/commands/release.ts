// `berth release`: makes, signs and verifies the file with which controllers and nodes are updated.
import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { MANIFEST_FILE, unverified } from '../../../agent/protocol/release/archive.ts'
import { type Manifest, ReleaseRefused, VERSION_PATTERN } from '../../../agent/protocol/release/manifest.ts'
import { type ReleaseKey, releaseKeyFrom, secretKeyFrom, signed } from '../../../agent/protocol/release/signature.ts'
import { trustedKeys } from '../../../agent/protocol/release/trusted-keys.ts'
import { verifiedRelease } from '../../../agent/protocol/release/verify.ts'
import { CannotStart } from '../../kernel/command-line/startup-errors.ts'
import { day } from '../../kernel/db/clock.ts'
import { billOfMaterials } from '../release/bill-of-materials.ts'
import { addSignature, type Described, makeRelease } from '../release/make.ts'

const usage = `berth release: makes, signs and verifies releases of Berth (docs/releasing.md)

  berth release make FILE --program PATH --from VERSION --key PUBLIC.pem [--notes FILE] [--date YYYY-MM-DD]
                                    writes a release that is not signed yet; --program once for each platform;
                                    --from is the oldest version that can be updated to it in one step
  berth release manifest FILE       prints the manifest of a release: this text is signed
  berth release sign FILE --key SECRET.pem
                                    signs it; the passphrase of the key is read from standard input
  berth release sign FILE --signature SIGNATURE --key PUBLIC.pem
                                    puts in a signature that was made elsewhere, by OpenSSL too
  berth release verify FILE [--key PUBLIC.pem]
                                    checks the signature and every file, and prints what it is; without --key
                                    the keys count that this program was built with
  berth release keys                the keys that this program was built with

Exit 0 done, 1 refused (code and message on standard error), 2 wrong use.`

class WrongUse extends Error {}

const options = {
  program: { type: 'string', multiple: true },
  from: { type: 'string' },
  key: { type: 'string' },
  notes: { type: 'string' },
  date: { type: 'string' },
  signature: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const
/** The flags that each takes beside --help, and whether a file is named. */
const commands: Readonly<Record<string, { flags: readonly string[]; takesFile: boolean }>> = {
  make: { flags: ['program', 'from', 'key', 'notes', 'date'], takesFile: true },
  manifest: { flags: [], takesFile: true },
  sign: { flags: ['key', 'signature'], takesFile: true },
  verify: { flags: ['key'], takesFile: true },
  keys: { flags: [], takesFile: false },
}

/** Runs `berth release ARGS`. Answers the exit code. */
export async function release(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parsed(args)
    const [command = '', file = ''] = positionals
    if (values.help) {
      console.log(usage)
      return 0
    }
    const known = commands[command]
    if (!known) throw new WrongUse(command ? `There is no command "${command}".\n\n${usage}` : usage)
    const strange = Object.keys(values).find((flag) => flag !== 'help' && !known.flags.includes(flag))
    if (strange) throw new WrongUse(`berth release ${command} takes no --${strange}.`)
    if (positionals.length !== (known.takesFile ? 2 : 1))
      throw new WrongUse(`berth release ${command} ${known.takesFile ? 'needs one file' : 'takes no file'}.`)
    await refusedInWords(() => run(command, file, values))
    return 0
  } catch (error) {
    if (!(error instanceof WrongUse)) throw error
    console.error(error.message)
    return 2
  }
}

type Values = ReturnType<typeof parsed>['values']
function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new WrongUse((error as Error).message)
  }
}

async function refusedInWords(work: () => Promise<void>) {
  try {
    await work()
  } catch (error) {
    if (error instanceof ReleaseRefused) throw new CannotStart(error.code, error.message)
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR' || code === 'ENOSPC')
      throw new CannotStart('file_not_usable', (error as Error).message)
    throw error
  }
}

async function run(command: string, file: string, values: Values) {
  switch (command) {
    case 'make':
      return make(file, values)
    case 'manifest':
      return void process.stdout.write(unverified(file).text)
    case 'sign':
      return sign(file, values)
    case 'verify': {
      const keys = values.key === undefined ? builtIn() : [publicKey(values.key)]
      return console.log(inWords(await verifiedRelease(file, keys)))
    }
    default:
      for (const { id } of builtIn()) console.log(id)
  }
}

async function make(file: string, { program = [], from, key, notes, date }: Values) {
  if (!program.length || from === undefined || key === undefined)
    throw new WrongUse('berth release make needs --program, --from and --key.')
  if (!new RegExp(VERSION_PATTERN).test(from)) throw new WrongUse('--from is a version such as 1.9.0.')
  const today = new Date(Math.floor(Date.now() / day) * day).toISOString().slice(0, 10)
  const manifest = makeRelease(file, {
    programs: program.map((path) => ({ path, says: descriptionOf(path) })),
    bill: billOfMaterials(),
    minimumVersion: from,
    date: date ?? today,
    notes: notes === undefined ? '' : readFileSync(notes, 'utf8'),
    keyId: publicKey(key).id,
  })
  console.log(`${file} is Berth ${manifest.version}. It is not signed yet: berth release sign ${file} --key …`)
}

/** Asks the program itself, so that the manifest cannot say something else. */
function descriptionOf(path: string): Described {
  const { stdout, exitCode, stderr } = Bun.spawnSync([path, 'version', '--json'], { env: {} })
  if (exitCode !== 0) throw new CannotStart('program_silent', `${path} does not run here: ${stderr.toString().trim()}`)
  return JSON.parse(stdout.toString())
}

async function sign(file: string, { key, signature }: Values) {
  if (key === undefined) throw new WrongUse('berth release sign needs --key.')
  if (signature !== undefined) addSignature(file, readFileSync(signature), [publicKey(key)])
  else {
    const pem = readFileSync(key, 'utf8')
    const secret = inPem(key, () => secretKeyFrom(pem, pem.includes('ENCRYPTED') ? passphrase() : undefined))
    const own = inPem(key, () => releaseKeyFrom(pemOfPublic(secret)))
    addSignature(file, signed(unverified(file).text, secret), [own])
  }
  console.log(`${file} is signed.`)
}

const pemOfPublic = (secret: KeyObject): string =>
  createPublicKey(secret).export({ type: 'spki', format: 'pem' }) as string
/** The first line of standard input: no process has it on its command line. */
const passphrase = (): string => readFileSync(0, 'utf8').split(/\r?\n/)[0]!

const publicKey = (path: string): ReleaseKey => inPem(path, () => releaseKeyFrom(readFileSync(path, 'utf8')))
function inPem<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('E')) throw error
    throw new CannotStart('key_not_usable', `${path}: ${(error as Error).message}.`)
  }
}

function builtIn(): ReleaseKey[] {
  const keys = trustedKeys()
  if (!keys.length)
    throw new CannotStart(
      'no_release_keys',
      'This program was built without keys of releases, so it trusts none. docs/releasing.md says how one is built in.',
    )
  return keys
}

const inWords = ({ version: its, date, minimumVersion, protocol, schema, keyId, programs }: Manifest) =>
  [
    `Berth ${its} of ${date}`,
    `signed with the key ${keyId}`,
    `for ${minimumVersion} and later, protocol ${protocol}, schema ${schema}`,
    ...programs.map(({ platform, sizeBytes, sha256 }) => `${platform}  ${sizeBytes} bytes  sha256 ${sha256}`),
    `Its ${MANIFEST_FILE} and every file in it are as they were signed.`,
  ].join('\n')
