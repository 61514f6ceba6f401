import { hour } from '../db/clock.ts'
import { write } from '../db/open.ts'
import { feature } from '../feature.ts'
import { kernelErrors } from './errors.ts'
import { encryptedResponses, forgetOld } from './idempotency.ts'
import { idempotency } from './tables.ts'

const ids = {
  audit: { prefix: 'aud' },
} as const
type Ids = typeof ids
declare module '../register.ts' {
  interface IdKinds extends Ids {}
}

export const apiFeature = feature({
  name: 'api',
  ids,
  samples: {
    level: 'info',
    text: 'Done.',
    nextCursor: null,
  },
  errors: kernelErrors,
  tables: [idempotency],
  encrypted: [encryptedResponses],
  schedule: [
    {
      everyMs: hour,
      words: 'deleting old idempotency keys',
      work: ({ db, app }) => write(db, (tx) => forgetOld(tx, app.clock())),
    },
  ],
})
