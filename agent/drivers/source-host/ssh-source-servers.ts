// One server of a source hypervisor, stopped and started again by virsh there: over SSH, or by the shell of this host
// where it is the hypervisor itself.
import { say } from '../../controller-link/job-log.ts'
import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import { MOST_DEFINITION_BYTES, type SourceHost } from '../../protocol/values/source-hosts.ts'
import { seenServers, stateFrom } from './domain/servers.ts'
import { type RanThere, ranThere, tellCommands } from './moving/commands.ts'
import { type Opening, SourceReader } from './moving/reader.ts'
import { forgetScript, saveScript, shutdownScript, startScript, stateScript, waitScript } from './moving/scripts.ts'
import type { OfDomain, Saved, SourceServers } from './source-servers.ts'
import { newNonce, sectionsIn } from './ssh/marks.ts'
import { wordsFrom } from './ssh/sign-in.ts'
import type { SshSourceHosts } from './ssh-source-hosts.ts'

const LIMIT_SECONDS = 180
const OUTPUT_CAP_BYTES = 1 << 20
const PASSWORD = /\spasswd\s*=\s*(?:'[^']*'|"[^"]*")/g

export class SshSourceServers implements SourceServers {
  constructor(private hosts: SshSourceHosts) {}

  async save({ host, domain }: OfDomain): Promise<Saved> {
    const { sections, hostKey } = await this.ask(host, (nonce) => saveScript(nonce, domain))
    const where = placeOf(host)
    const kept = sections.get('kept')?.trim() ?? 'no'
    const state = stateFrom(sections.get('state before') ?? '')
    if (state === 'absent' && kept !== 'yes')
      throw new Failure('source_no_domain', `libvirt at ${where} knows no domain ${domain}`)
    if (kept === 'named')
      throw new Failure('source_no_domain', `libvirt at ${where} takes ${domain} for another domain`)
    if (kept !== 'yes') throw notKept(where, domain, kept, ranThere(sections, 'xml'))
    const definition = (sections.get('definition') ?? '').replaceAll(PASSWORD, '').trim()
    if (!definition.endsWith('</domain>') || Buffer.byteLength(definition) > MOST_DEFINITION_BYTES)
      throw new Failure('source_invalid', `${where} does not tell the definition of ${domain}`)
    const info = new Map([['info 0', ranThere(sections, 'info')?.out ?? '']])
    const isPersistent = state === 'absent' ? false : seenServers(info, [{ domain }])[0]!.isPersistent
    return { hostKey, state, isPersistent, definition }
  }

  async stop({ host, domain }: OfDomain, graceSeconds: number) {
    const where = placeOf(host)
    const { sections: asked, hostKey } = await this.ask(host, (nonce) => shutdownScript(nonce, domain, host !== null))
    if (asked.get('kept')?.trim() === 'no') throw notKept(where, domain, 'no', undefined)
    const before = stateFrom(asked.get('state before') ?? '')
    if (before === 'absent' || before === 'off') return { wasRunning: false }
    const known = host && { ...host, hostKey }
    say('info', `Waiting up to ${graceSeconds} s for the guest to shut down`)
    const { sections } = await this.ask(known, (nonce) => waitScript(nonce, domain, graceSeconds), graceSeconds)
    if (ranThere(sections, 'destroy'))
      say('warning', `${domain} did not shut down within ${graceSeconds} s, and was ended`)
    const after = stateFrom(sections.get('state after') ?? '')
    if (after !== 'absent' && after !== 'off')
      throw new Failure(
        'source_not_stopped',
        `${domain} at ${where} is ${after}: ${wordsOf(ranThere(sections, 'destroy'))}`,
      )
    return { wasRunning: true }
  }

  async start({ host, domain }: OfDomain, definition: string) {
    const { sections } = await this.ask(host, (nonce) => startScript(nonce, domain, definition))
    const after = stateFrom(sections.get('state after') ?? '')
    if (after === 'running' || after === 'paused') return
    const ran = ranThere(sections, 'start') ?? ranThere(sections, 'create')
    throw new Failure('source_not_started', `${domain} at ${placeOf(host)} is ${after}: ${wordsOf(ran)}`)
  }

  async forget({ host, domain }: OfDomain) {
    const { sections } = await this.#answer(host, (nonce) => forgetScript(nonce, domain), LIMIT_SECONDS)
    if (sections.get('kept')?.trim() !== 'no')
      throw new Failure(
        'source_definition_not_kept',
        `the definition of ${domain} at ${placeOf(host)} cannot be deleted`,
      )
  }

  /**
   * The state of its domain now, when the file of its disk was written last, as text, and the bytes that it takes.
   * Throws `source_no_libvirt`, and as every method.
   */
  async look({ host, domain }: OfDomain, path: string) {
    const { sections, hostKey } = await this.ask(host, (nonce) => stateScript(nonce, domain, path))
    const written = (sections.get('written') ?? '').trim()
    const blocks = Number(/ (\d{1,15})$/.exec(written)?.[1] ?? 0)
    return { state: stateFrom(sections.get('state now') ?? ''), written, takesBytes: blocks * 512, hostKey }
  }

  /** Begins to read a disk there. Throws as `SourceReader.open` does. */
  async read(opening: Omit<Opening, 'dir'>): Promise<SourceReader> {
    return SourceReader.open({ dir: await this.hosts.ready(), ...opening })
  }

  /** Runs a script that asks libvirt. Throws `source_no_libvirt`, and as every method. */
  async ask(host: SourceHost | null, make: (nonce: string) => string, moreSeconds = 0) {
    const answer = await this.#answer(host, make, LIMIT_SECONDS + moreSeconds)
    const version = ranThere(answer.sections, 'version')
    if (version?.code !== 0)
      throw new Failure('source_no_libvirt', `no libvirt answers at ${placeOf(host)}: ${wordsOf(version)}`)
    return answer
  }

  async #answer(host: SourceHost | null, make: (nonce: string) => string, limitSeconds: number) {
    const nonce = newNonce()
    const script = make(nonce)
    const limits = { limitSeconds, outputCapBytes: OUTPUT_CAP_BYTES }
    let hostKey: string | null = null
    let answered: { out: string; err: string }
    if (host === null) {
      answered = await run('sh', [], { stdin: script, mayFail: true, quietly: true, ...limits })
    } else {
      const signedIn = await this.hosts.signIn(host, { does: { script }, ...limits })
      if (signedIn.refusal !== null)
        throw new Failure('source_login_refused', `${host.address} does not let this node in: ${signedIn.refusal}`)
      say('info', `Signed in as root at ${host.address} with the key of this node`)
      answered = signedIn.ran
      hostKey = signedIn.hostKey
    }
    const problem = `${placeOf(host)} did not answer as its shell would: ${wordsFrom(answered.err)}`
    const sections = sectionsIn(answered.out, nonce, problem)
    tellCommands(sections)
    return { sections, hostKey }
  }
}

export const placeOf = (host: SourceHost | null) => host?.address ?? 'this host'
const wordsOf = (ran: Pick<RanThere, 'out'> | undefined) => wordsFrom(ran?.out ?? '')

function notKept(where: string, domain: string, kept: string, ran: RanThere | undefined): Failure {
  const other = /^other ([0-9a-fA-F-]{1,40})$/.exec(kept)?.[1]
  const why = other
    ? `that of another domain with this name, ${other}, is kept there`
    : ran && ran.code !== 0
      ? wordsOf(ran)
      : 'it is not in /root/berth-import'
  return new Failure('source_definition_not_kept', `the definition of ${domain} is not kept at ${where}: ${why}`)
}
