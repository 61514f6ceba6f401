import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { Verifications } from './checker.ts'
import { acceptServer, checkAllServers, checkServer, getVerification, listVerification } from './verification.ts'

const errors = {
  import_server_not_moved: {
    status: 409,
    when: 'The server has not moved, or was rolled back.',
    remedy: 'Move it first.',
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    verify: { errors: typeof errors }
  }
}

/** Causes of failed checks, in words for everybody. */
const failures = { ping_failed: 'The node cannot send pings.' } as const

/** Servers that have moved: whether they run, are reached, and have their new addresses. */
export const verifyFeature = feature({
  name: 'verify',
  errors,
  failures,
  operations: [getVerification, listVerification, checkServer, checkAllServers, acceptServer],
  services: () => ({ importVerifications: new Verifications() }),
  schedule: [
    {
      everyMs: second,
      words: 'checking servers of imports',
      work: ({ hub, db, app }) => app.importVerifications.turn(hub, db, app),
      atStop: ({ app }) => app.importVerifications.stop(),
    },
  ],
})
