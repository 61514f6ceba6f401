// Adoptions on a node that is the hypervisor of another panel. A note in the agent's data comes before the disk gets
// its new name, so that an adoption that a crash broke off is known again, and a disk of another origin is never given
// away. The disk goes first: without it nobody can start the domain any more, and a start before that is seen then.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import type { SourceServer } from '../../protocol/values/source-hosts.ts'
import type { Volume } from '../../protocol/wire.ts'
import { toDisk } from '../storage/file.ts'
import { seenServers, stateFrom } from './domain/servers.ts'
import { ranThere, type Sections } from './moving/commands.ts'
import { defineScript, lookScript, undefineScript } from './moving/scripts.ts'
import type { Adopted, Adopting, Adoptions, GivingBack } from './source-servers.ts'
import { wordsFrom } from './ssh/sign-in.ts'
import type { SshSourceServers } from './ssh-source-servers.ts'

/** The state before an adoption. */
type Note = { domain: string; path: string; isPersistent: boolean; isAutostarted: boolean }

export class OwnAdoptions implements Adoptions {
  /** `dir`: of the notes. */
  constructor(
    private servers: SshSourceServers,
    private dir: string,
  ) {}

  async adopt({ domain, drive, volume, sizeBytes, pool }: Adopting): Promise<Adopted> {
    const { path } = drive
    const noted = await this.#noteOf(volume)
    const isTaken = (await pool.sizeBytes(volume)) !== undefined
    if (isTaken ? !noted : noted && !isSame(noted, { domain, path }))
      throw new Failure('volume_differs', `${(await pool.disk(volume)).path} is there already, and is left as it is`)
    if (drive.format !== volume.format)
      throw new Failure(
        'image_refused',
        `the disk ${path} is ${drive.format}, and pool ${volume.pool} has ${volume.format}`,
      )
    const note = isTaken && noted ? noted : await this.#noteBefore(domain, path, noted)
    if (!noted) await this.#write(volume, note)
    try {
      await pool.takeIn(volume, path)
    } catch (error) {
      if ((await pool.sizeBytes(volume)) === undefined) this.#drop(volume)
      throw error
    }
    const state = await this.#undefine(domain)
    if (isOn(state)) {
      await this.giveBack({ domain, drive, volume, pool, definition: '' })
      throw new Failure('source_started', `${domain} is ${state} on this host; its disk is where it was`)
    }
    return { format: volume.format, sizeBytes: await grown({ volume, sizeBytes, pool }) }
  }

  /** Throws where it cannot be adopted now. */
  async #noteBefore(domain: string, path: string, noted: Note | undefined): Promise<Note> {
    const { sections } = await this.servers.ask(null, (nonce) => lookScript(nonce, domain))
    if (sections.get('kept')?.trim() !== 'yes')
      throw new Failure('source_definition_not_kept', `the definition of ${domain} is not in /root/berth-import`)
    const state = stateFrom(sections.get('state now') ?? '')
    if (state !== 'off' && state !== 'absent')
      throw new Failure('source_started', `${domain} is ${state} on this host, and was to be off`)
    if (noted) return noted
    const info = ranThere(sections, 'info')?.out ?? ''
    const seen = seenServers(new Map([['info 0', info]]), [{ domain }])[0]!
    return { domain, path, isPersistent: seen.isPersistent === true, isAutostarted: /^Autostart:\s+enable/m.test(info) }
  }

  /** Answers its state afterwards. */
  async #undefine(domain: string): Promise<SourceServer['state']> {
    const { sections } = await this.servers.ask(null, (nonce) => undefineScript(nonce, domain))
    const state = stateFrom(sections.get('state after') ?? '')
    if (state !== 'absent' && !isOn(state))
      throw new Failure('source_not_undefined', `libvirt keeps ${domain}: ${wordsOf(sections, 'undefine')}`)
    return state
  }

  async giveBack({ domain, drive, volume, pool, definition }: GivingBack) {
    const note = await this.#noteOf(volume)
    if (!note) {
      if ((await pool.sizeBytes(volume)) === undefined) return
      throw new Failure('volume_differs', `${(await pool.disk(volume)).path} was not adopted, and is left as it is`)
    }
    if (!isSame(note, { domain, path: drive.path }))
      throw new Failure('volume_differs', `the volume was ${note.path} of ${note.domain} before it was adopted`)
    await pool.giveBack(volume, note.path)
    if (note.isPersistent) await this.#define(note, definition)
    this.#drop(volume)
  }

  async #define({ domain, isAutostarted }: Note, definition: string) {
    const make = (nonce: string) => defineScript(nonce, domain, definition, isAutostarted)
    const { sections } = await this.servers.ask(null, make)
    if (stateFrom(sections.get('state after') ?? '') === 'absent')
      throw new Failure('source_not_defined', `libvirt does not define ${domain}: ${wordsOf(sections, 'define')}`)
  }

  async forget(domain: string) {
    if (!existsSync(this.dir)) return
    for (const file of readdirSync(this.dir)) {
      const note: Note = await Bun.file(join(this.dir, file)).json()
      if (note.domain === domain) rmSync(join(this.dir, file))
    }
  }

  #fileOf = ({ workload, generation }: Volume) => join(this.dir, `${workload}-${generation}.json`)

  async #noteOf(volume: Volume): Promise<Note | undefined> {
    const file = this.#fileOf(volume)
    return existsSync(file) ? await Bun.file(file).json() : undefined
  }

  async #write(volume: Volume, note: Note) {
    const file = this.#fileOf(volume)
    mkdirSync(this.dir, { recursive: true, mode: 0o700 })
    // A dot: no note.
    const part = join(this.dir, `../.${volume.workload}-${volume.generation}.adoption`)
    await Bun.write(part, JSON.stringify(note))
    await toDisk(part)
    renameSync(part, file)
    await toDisk(this.dir)
  }

  #drop = (volume: Volume) => rmSync(this.#fileOf(volume), { force: true })
}

type Growing = Pick<Adopting, 'volume' | 'sizeBytes' | 'pool'>
/** The size that the disk has at last; a thick one keeps its own. */
export async function grown({ volume, sizeBytes, pool }: Growing): Promise<number> {
  try {
    await pool.grow(volume, sizeBytes)
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'disk_is_thick')) throw error
  }
  return (await pool.sizeBytes(volume))!
}

const isOn = (state: SourceServer['state']) => state === 'running' || state === 'paused' || state === 'unknown'
const isSame = (note: Pick<Note, 'domain' | 'path'>, other: Pick<Note, 'domain' | 'path'>) =>
  note.domain === other.domain && note.path === other.path
const wordsOf = (sections: Sections, name: string) => wordsFrom(ranThere(sections, name)?.out ?? '')
