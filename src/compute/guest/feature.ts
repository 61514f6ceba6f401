import { feature } from '../../kernel/feature.ts'
import { detectingOs, detectOs } from './detect.ts'
import { listFileSystems } from './file-systems.ts'
import { getInstallationCheck } from './installation-check.ts'
import { removeReadSeeds, removingSeed } from './pending-seed.ts'
import { resetPassword, resettingPassword } from './root-password.ts'
import { getStartupScript } from './startup-script.ts'
import { guestActions } from './states.ts'
import { serverGuests, startupScripts } from './tables.ts'
import { GuestWatch, LOOK_EVERY_MS } from './watch.ts'

declare module '../../kernel/register.ts' {
  interface Services {
    guestWatch: GuestWatch
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  guest_agent_broken: 'The guest agent inside the server sent an answer that makes no sense.',
  guest_agent_silent: 'No guest agent answers inside the server.',
  guest_frozen: 'The server’s file systems are frozen for a backup.',
  guest_refused: 'The system inside the server refused the request.',
  guest_timeout: 'The program inside the server took too long.',
} as const

/** The system inside a server: what it says of itself, its root password, and its startup script. */
export const guestFeature = feature({
  name: 'guest',
  workloadActions: [guestActions],
  failures,
  services: () => ({ guestWatch: new GuestWatch() }),
  schedule: [
    {
      everyMs: LOOK_EVERY_MS,
      words: 'asking guests for their system',
      work: (context) => context.app.guestWatch.turn(context),
    },
    {
      everyMs: LOOK_EVERY_MS,
      words: 'removing the data of password resets',
      work: ({ db, app }) => removeReadSeeds(db, app),
    },
  ],
  tables: [serverGuests, startupScripts],
  jobs: [resettingPassword, removingSeed, detectingOs],
  operations: [resetPassword, detectOs, listFileSystems, getStartupScript, getInstallationCheck],
})
