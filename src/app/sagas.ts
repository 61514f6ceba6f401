// Every kind of job there is.

import { installing } from '../compute/servers/install.ts'
import { powering } from '../compute/servers/power.ts'
import { suspending, unsuspending } from '../compute/servers/suspend.ts'
import { terminating } from '../compute/servers/terminate.ts'
import type { Saga } from '../kernel/jobs/saga.ts'

export const sagas: readonly Saga[] = [installing, powering, suspending, unsuspending, terminating]
