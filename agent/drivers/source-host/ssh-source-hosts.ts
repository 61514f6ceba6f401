// Source hypervisors over OpenSSH. Each question is a sign-in or two; a node has few of them at a time at one source.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { SourceHost, WantedServer } from '../../protocol/values/source-hosts.ts'
import { serialQueue } from '../../serial-queue.ts'
import { ownDomains, ownDrives } from './domain/own-host.ts'
import { type DriveQuestion, domainsScript, drivesScript } from './domain/script.ts'
import { isUndecided, questionsAbout, seenServers, serversFrom } from './domain/servers.ts'
import type { AddingKeys, LookedAt, SourceHosts } from './source-hosts.ts'
import { addingScript, removingScript } from './ssh/authorized-keys.ts'
import { factsFrom, hostScript } from './ssh/host-facts.ts'
import { newNonce, sectionsIn } from './ssh/marks.ts'
import { SessionLimit } from './ssh/session-limit.ts'
import {
  keyFile,
  type SignedIn,
  type SigningIn,
  sessionsDir,
  signIn,
  takesPasswords,
  wordsFrom,
} from './ssh/sign-in.ts'

const KEYS_SECONDS = 60
const LOOK_SECONDS = 60
/** A hypervisor with much to do takes its time for a hundred servers. */
const SERVERS_LIMITS = { limitSeconds: 300, outputCapBytes: 16 << 20 }
const MOST_SHORT_ANSWER_BYTES = 256 << 10
const SESSIONS_OF_A_SOURCE = 2
const MEASURED_BYTES = 16 << 20
const BLOCK_BYTES = 64 << 10
/** A shorter time is one of the clock, not of the connection. */
const LEAST_MEASURED_MS = 10

export class SshSourceHosts implements SourceHosts {
  #inTurn = serialQueue()
  #sessions = new SessionLimit(SESSIONS_OF_A_SOURCE)
  #isSwept = false

  /** `dir`: of the node's key, and of the sessions while they last. */
  constructor(private dir: string) {}

  key = () =>
    this.#inTurn(async () => {
      mkdirSync(this.dir, { recursive: true, mode: 0o700 })
      const path = keyFile(this.dir)
      if (!existsSync(path)) {
        const part = `${path}.part`
        for (const left of [part, `${part}.pub`]) rmSync(left, { force: true })
        await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', part])
        renameSync(`${part}.pub`, `${path}.pub`)
        renameSync(part, path)
      }
      return (await readFile(`${path}.pub`, 'utf8')).trim().split(' ').slice(0, 2).join(' ')
    })

  async addKeys({ host, password, keys }: AddingKeys) {
    const nonce = newNonce()
    const script = addingScript(nonce, keys)
    // One that has a line feed, or nothing, would never be asked for.
    if (!/^[^\r\n\0]+$/.test(password))
      throw new Failure('source_password_refused', 'this is no password that an SSH server takes')
    const signedIn = await this.signIn(host, {
      does: { script },
      password,
      limitSeconds: KEYS_SECONDS,
      quietly: false,
    })
    const { hostKey, refusal } = signedIn
    if (refusal !== null && takesPasswords(refusal))
      throw new Failure(
        'source_password_refused',
        `${host.address} does not let root in with this password: ${refusal}`,
      )
    if (refusal !== null)
      throw new Failure('source_password_disabled', `${host.address} lets nobody in with a password: ${refusal}`)
    const [added = 0, present = 0] = keysIn(host, signedIn, nonce)
    return { hostKey, added, present }
  }

  async removeKeys(host: SourceHost, nodeIds: readonly string[]) {
    const nonce = newNonce()
    const script = removingScript(nonce, nodeIds)
    const signedIn = await this.signIn(host, { does: { script }, limitSeconds: KEYS_SECONDS, quietly: false })
    if (signedIn.refusal !== null) return { removed: 0 }
    const [removed = 0] = keysIn(host, signedIn, nonce)
    return { removed }
  }

  async look(host: SourceHost): Promise<LookedAt> {
    const nonce = newNonce()
    const signedIn = await this.signIn(host, { does: { script: hostScript(nonce) }, limitSeconds: LOOK_SECONDS })
    const { hostKey, refusal } = signedIn
    if (refusal !== null) return { hostKey, login: 'refused', refusal, facts: null }
    const sections = sectionsOf(host, signedIn, nonce)
    const facts = factsFrom(sections, await this.#linkSpeed({ ...host, hostKey }))
    return { hostKey, login: 'accepted', refusal: null, facts }
  }

  /** Zeros over the connection, less the time that it takes to sign in. Null where that cannot be told. */
  async #linkSpeed(host: SourceHost): Promise<number | null> {
    const took = async (blocks: number) => {
      const command = `exec dd if=/dev/zero bs=${BLOCK_BYTES} count=${blocks}`
      const { refusal, ran } = await this.signIn(host, { does: { command }, limitSeconds: LOOK_SECONDS })
      return refusal === null && ran.code === 0 ? ran.tookMs : undefined
    }
    const none = await took(0)
    const all = none === undefined ? undefined : await took(MEASURED_BYTES / BLOCK_BYTES)
    if (none === undefined || all === undefined || all - none < LEAST_MEASURED_MS) return null
    return Math.round((MEASURED_BYTES * 8) / 1000 / (all - none))
  }

  async servers(host: SourceHost, wanted: readonly WantedServer[]) {
    let { hostKey } = host
    const sections = async (make: (nonce: string) => string) => {
      const nonce = newNonce()
      const signedIn = await this.signIn({ ...host, hostKey }, { does: { script: make(nonce) }, ...SERVERS_LIMITS })
      mustBeIn(host, signedIn)
      hostKey = signedIn.hostKey
      return sectionsOf(host, signedIn, nonce)
    }
    const servers = await serversOf(host.address, wanted, {
      domains: (names, how) => sections((nonce) => domainsScript(nonce, names, how)),
      drives: (questions) => sections((nonce) => drivesScript(nonce, questions)),
    })
    return { hostKey: hostKey!, servers }
  }

  ownServers = (wanted: readonly WantedServer[]) =>
    serversOf('this host', wanted, { domains: ownDomains, drives: ownDrives })

  /** One session there, in its turn. Throws as every method does. */
  async signIn(host: SourceHost, signing: Omit<SigningIn, 'dir' | 'host'>): Promise<SignedIn> {
    await this.ready()
    const outputCapBytes = signing.outputCapBytes ?? MOST_SHORT_ANSWER_BYTES
    return this.#sessions.take(`${host.address} ${host.port}`, () =>
      signIn({ dir: this.dir, host, ...signing, outputCapBytes }),
    )
  }

  /** The directory of the key and of sessions, in which a session can begin. */
  async ready(): Promise<string> {
    await this.key()
    // A killed agent leaves an empty pipe, and the host key of a source.
    if (!this.#isSwept) rmSync(sessionsDir(this.dir), { recursive: true, force: true })
    this.#isSwept = true
    return this.dir
  }
}

function mustBeIn({ address }: SourceHost, { refusal }: SignedIn) {
  if (refusal !== null) throw new Failure('source_login_refused', `${address} does not let this node in: ${refusal}`)
}

const sectionsOf = ({ address }: SourceHost, { ran }: SignedIn, nonce: string) =>
  sectionsIn(ran.out, nonce, `${address} did not answer as its shell would: ${wordsFrom(ran.err)}`)

type Sections = ReadonlyMap<string, string>
type Looking = {
  domains(names: readonly string[], how: 'together' | 'each'): Promise<Sections>
  drives(questions: readonly DriveQuestion[]): Promise<Sections>
}
/** The servers that were asked for, in their order. */
async function serversOf(address: string, wanted: readonly WantedServer[], { domains, drives }: Looking) {
  const look = async (some: readonly WantedServer[], how: 'together' | 'each') => {
    const sections = await domains(
      some.map(({ domain }) => domain),
      how,
    )
    const libvirt = sections.get('libvirt')?.trim() ?? ''
    if (libvirt !== 'yes')
      throw new Failure('source_no_libvirt', `no libvirt answers at ${address}: ${wordsFrom(libvirt)}`)
    return seenServers(sections, some)
  }
  const seen = await look(wanted, 'together')
  // One of which virsh does not end to speak has silenced those behind it.
  const left = wanted.filter((_, n) => isUndecided(seen[n]!))
  const again = left.length ? await look(left, 'each') : []
  const all = seen.map((one) => (isUndecided(one) ? again.shift()! : one))
  const questions = questionsAbout(all)
  const sections = questions.length ? await drives(questions.map(({ question }) => question)) : undefined
  return serversFrom(all, wanted, questions, sections)
}

function keysIn(host: SourceHost, signedIn: SignedIn, nonce: string): number[] {
  const sections = sectionsOf(host, signedIn, nonce)
  const numbers = /^(\d{1,3})(?: (\d{1,3}))?$/.exec(sections.get('keys')?.trim() ?? '')
  if (!numbers)
    throw new Failure(
      'source_keys_not_written',
      `the keys of root at ${host.address} were not changed: ${wordsFrom(sections.get('words') ?? '')}`,
    )
  return numbers.slice(1).map(Number)
}
