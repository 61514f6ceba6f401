import { feature } from '../../kernel/feature.ts'
import { previewRollBack, rollBack } from './operations.ts'
import { rollingBack } from './roll-back.ts'

const errors = {
  roll_back_not_possible: {
    status: 409,
    when: 'The server cannot go back to its source any more, or not as it is.',
    remedy: 'Read the message: it says what stands against it.',
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    'roll-back': { errors: typeof errors }
  }
}

/** Servers that have moved go back to their source, until the import is finished. */
export const rollBackFeature = feature({
  name: 'roll-back',
  errors,
  operations: [previewRollBack, rollBack],
  jobs: [rollingBack],
})
