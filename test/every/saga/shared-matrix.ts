import { registry } from '../../../src/app/features.ts'
import { crashMatrix } from '../../support/crash-matrix/crash-matrix.ts'
import { scenarios } from '../../support/crash-matrix/every-scenario.ts'

const SHARES = 4
/** Scenarios behind the first of their kind of job. */
const repeated = new Set(scenarios.filter(({ kind }, i) => scenarios.findIndex((one) => one.kind === kind) < i))

/** Declares the crash tests of every fourth scenario, from `share` (1 to 4) on. */
export const sharedMatrix = (share: number) =>
  crashMatrix({
    sagas: registry.jobs,
    scenarios: scenarios.filter((_, i) => i % SHARES === share - 1),
    sampled: repeated,
  })
