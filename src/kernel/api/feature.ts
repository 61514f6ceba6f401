import { feature } from '../feature.ts'
import { kernelErrors } from './errors.ts'
import { encryptedResponses, expiredKeys } from './idempotency.ts'
import { idempotency } from './tables.ts'

const ids = {
  audit: { prefix: 'aud' },
} as const

declare module '../register.ts' {
  interface Names {
    api: { ids: typeof ids; errors: typeof kernelErrors }
  }
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
  expiring: [expiredKeys],
})
