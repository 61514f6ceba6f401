import type { ReleaseKey } from '../../../agent/protocol/release/signature.ts'
import { trustedKeys } from '../../../agent/protocol/release/trusted-keys.ts'
import { incomingFolder, ReleaseFolder } from '../../fleet/releases/release-folder.ts'
import { type Fetch, throughGuard } from './fetch.ts'
import { type MachineFiles, thisMachine, UpdateMachine } from './machine.ts'

type Parts = { machine?: MachineFiles; keys?: readonly ReleaseKey[]; fetch?: Fetch }

/** The folder of releases, the files of root, and the way out, for updates of the controller. */
export class Updates {
  readonly machine: UpdateMachine
  readonly folder: ReleaseFolder
  readonly fetch: Fetch
  /** The download at work. */
  downloading: Promise<void> | undefined
  /** Is a part of a file being taken that somebody sends? */
  receiving = false

  constructor(dataDir: string, { machine = thisMachine, keys = trustedKeys(), fetch = throughGuard }: Parts = {}) {
    this.machine = new UpdateMachine(dataDir, machine)
    this.folder = new ReleaseFolder(incomingFolder(dataDir), keys)
    this.fetch = fetch
  }
}
