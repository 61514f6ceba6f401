import type { Actor } from '../../../kernel/api/actor.ts'
import { minute } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { feature } from '../../../kernel/feature.ts'
import { listAllInstances, listInstances } from '../list.ts'
import { maySeeOffers } from '../order/offers.ts'
import { hasInstances } from '../queries.ts'
import { getIdleStop, setIdleStop, stopIdle } from './idle-stop.ts'
import { downloadInstanceLogs, getInstanceLogs } from './logs.ts'
import { idleNotices } from './notices.ts'
import { gpuIdleStops } from './tables.ts'

/** Those who have none and may order none would find an empty list. */
const has = (tx: Db, actor: Actor) => hasInstances(tx, actor) || maySeeOffers(tx, actor)
const entry = { group: '', position: 117, name: 'gpu-instances', title: 'GPU instances', icon: 'gpu' }

declare module '../../../kernel/register.ts' {
  interface Names {
    'gpu-instance-use': { notices: typeof idleNotices }
  }
}

/** The pages, the logs and the idle stop of instances that are set up. */
export const instanceUseFeature = feature({
  name: 'gpu-instance-use',
  tables: [gpuIdleStops],
  operations: [getInstanceLogs, downloadInstanceLogs, getIdleStop, setIdleStop],
  notices: idleNotices,
  schedule: [{ everyMs: minute, words: 'stopping idle GPU instances', work: ({ db, app }) => stopIdle(db, app) }],
  nav: [
    { ...entry, kinds: ['staff'], together: 'GPUs', href: '/admin/gpu-instances', sees: listAllInstances },
    { ...entry, kinds: ['reseller'], href: '/reseller/gpu', sees: listInstances, has },
    { ...entry, kinds: ['customer'], href: '/gpu', sees: listInstances, has },
  ],
})
