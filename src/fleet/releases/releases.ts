// The releases for agents: those in the folder of updates and in PANEL_AGENT_DIR. The controller checks them as it does
// its own; the agents do so anew with the keys that they were built with.
import { type OpenRelease, openRelease, unverified } from '../../../agent/protocol/release/archive.ts'
import type { ReleaseKey } from '../../../agent/protocol/release/signature.ts'
import { trustedKeys } from '../../../agent/protocol/release/trusted-keys.ts'
import { type Clock, second } from '../../kernel/db/clock.ts'
import { type Patch, Patches, type Program, type Source } from './patches.ts'
import { incomingFolder, type Release, ReleaseFolder } from './release-folder.ts'
import { Sending } from './sending.ts'

/** An agent of another protocol cannot connect, and asks each minute. */
const ASKED_MS = 90 * second

type Parts = { dataDir: string; agentDir: string; clock: Clock; mbps: () => number; keys?: readonly ReleaseKey[] }

export class Releases {
  private folders: ReleaseFolder[]
  private keys: readonly ReleaseKey[]
  private patches: Patches
  private clock: Clock
  private askedAt = new Map<string, number>()
  readonly sending: Sending

  constructor({ dataDir, agentDir, clock, mbps, keys = trustedKeys() }: Parts) {
    this.folders = [incomingFolder(dataDir), agentDir].map((path) => new ReleaseFolder(path, keys))
    this.keys = keys
    this.clock = clock
    this.sending = new Sending(mbps)
    this.patches = new Patches(`${dataDir}/upgrade/patches`, keys, (sha256) => this.withProgram(sha256))
  }

  /** Why agents cannot be brought to this version, in words; undefined: its release is here and good. */
  async flaw(version: string): Promise<string | undefined> {
    const found = this.find(version)
    if (found) return (await found.folder.flaw(found.release))?.message
    const folders = this.folders.map(({ path }) => path).join(' or ')
    return `There is no release ${version} whose signature counts. Put berth-${version}.release into ${folders}.`
  }

  /** The release with its text as it is signed; undefined: it is not here any more. */
  signed(version: string) {
    const path = this.pathOf(version)
    if (path === undefined) return undefined
    const { text, signature } = unverified(path)
    return { text, signature: signature?.toString('base64'), manifest: this.find(version)!.release.manifest }
  }

  /** The release of this version; the caller closes it. */
  open(version: string): OpenRelease | undefined {
    const path = this.pathOf(version)
    return path === undefined ? undefined : openRelease(path, this.keys)
  }

  /** From the program with this checksum to that of the release; undefined: there is none, or it would save nothing. */
  async patch(version: string, program: Program, from: string): Promise<Patch | undefined> {
    const path = this.pathOf(version)
    if (path === undefined || from === program.sha256) return undefined
    const patch = await this.patches.patch(from, { path, program })
    return patch && patch.sizeBytes < this.packedBytes(path, program) ? patch : undefined
  }

  noteAsked(nodeId: string) {
    this.askedAt.set(nodeId, this.clock())
  }
  /** It asked for a release a moment ago, so it can take one although it may not be connected. */
  hasAskedLately = (nodeId: string): boolean => this.clock() - (this.askedAt.get(nodeId) ?? -Infinity) < ASKED_MS
  takeSentBytes = () => this.sending.take()

  private find(version: string): { folder: ReleaseFolder; release: Release } | undefined {
    for (const folder of this.folders) {
      const release = folder.find(version)
      if (release) return { folder, release }
    }
    return undefined
  }

  private pathOf(version: string): string | undefined {
    const found = this.find(version)
    return found && `${found.folder.path}/${found.release.file}`
  }

  private withProgram(sha256: string): Source | undefined {
    for (const folder of this.folders)
      for (const { file, manifest } of folder.list().releases) {
        const program = manifest.programs.find((one) => one.sha256 === sha256)
        if (program) return { path: `${folder.path}/${file}`, program }
      }
    return undefined
  }

  private packedBytes(path: string, { file }: Program): number {
    const release = openRelease(path, this.keys)
    try {
      return release.sizeOf(file)
    } finally {
      release.close()
    }
  }
}
