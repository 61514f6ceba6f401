// Every kind of job there is.
import type { Saga } from './kernel/jobs/saga.ts'
import { installing } from './servers/install.ts'
import { powering } from './servers/power.ts'
import { suspending, unsuspending } from './servers/suspend.ts'
import { terminating } from './servers/terminate.ts'

export const sagas: readonly Saga[] = [installing, powering, suspending, unsuspending, terminating]
