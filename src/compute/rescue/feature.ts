import { feature } from '../../kernel/feature.ts'
import { enteringRescue, rescueOptions, rescueServer } from './boot.ts'
import { exitingRescue, exitRescue } from './exit.ts'
import { rescueActions } from './states.ts'

const errors = {
  no_rescue_image: {
    status: 409,
    when: 'Staff have chosen no image for rescue systems.',
    remedy: 'Staff choose one on the page Images.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    rescue: { errors: typeof errors }
  }
}

export const rescueFeature = feature({
  name: 'rescue',
  workloadActions: [rescueActions],
  errors,
  jobs: [enteringRescue, exitingRescue],
  operations: [rescueOptions, rescueServer, exitRescue],
})
