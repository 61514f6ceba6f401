// The upgrade of the controller with a release, wanted on the command line or by the page.

import type { UpgradeJournal } from '../../agent/protocol/release/upgrade.ts'
import { takeOut } from '../../agent/protocol/release/verify.ts'
import type { Machine } from '../machine/machine.ts'
import { prepare, tried } from './prepare.ts'
import type { Checked } from './release/checks.ts'
import { startWatching } from './start.ts'

export const TRIAL_SECONDS = 20
export const ANSWER_SECONDS = 120

type How = { by: string; trialSeconds: number; answerSeconds: number }

const contentOf = ({ release, program }: Checked) => ({
  says: {
    version: release.manifest.version,
    protocol: release.manifest.protocol,
    schema: release.manifest.schema,
    platform: program.platform,
  },
  take: (write: (chunk: Uint8Array) => void) => takeOut(release, program, write),
})

/** Takes the program out, and begins. Throws `UpgradeRefused` and `ReleaseRefused`; then nothing has changed. */
export async function begin(machine: Machine, found: Checked, how: How): Promise<UpgradeJournal> {
  try {
    const journal = await prepare(machine, { service: 'berth', ...contentOf(found), ...how })
    await startWatching(machine, 'berth')
    return journal
  } finally {
    found.release.close()
  }
}

/** Takes the program out and starts it, and leaves nothing behind. Throws what `begin` throws. */
export async function rehearse(machine: Machine, found: Checked) {
  try {
    await tried(machine, contentOf(found))
  } finally {
    found.release.close()
  }
}
