// The actions for many that staff are offered: in the bar of a list, on the page of a node, and on that of the plan.
import { planInstances, planServers } from '../../../src/compute/bulk-actions/plan.ts'
import { bulkOperation } from '../../../src/compute/bulk-actions/start.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import type { At } from '../../../src/kernel/web/page.ts'
import type { IconName } from '../../components/icon.tsx'

/** `stops`: what runs on them ends, so a plan of many asks for their number. */
export type Way = {
  label: string
  icon: IconName
  op: Operation
  body?: object
  field?: 'reason' | 'label' | 'owner'
  /** A sentence about what it means for them. */
  effect?: string
  stops?: true
}
export type Many = {
  /** The page of the plan. */
  path: '/admin/servers/many' | '/admin/gpu-instances/many'
  list: '/admin/servers' | '/admin/gpu-instances'
  one: string
  many: string
  title: string
  nav: string
  /** Messages go to the owners of such ones. */
  writes?: true
  plan: typeof planServers
  ways: Readonly<Record<string, Way>>
}

const common = (prefix: string) =>
  ({
    suspend: {
      label: 'Suspend',
      icon: 'hold',
      op: bulkOperation(`${prefix}.suspend-many`),
      field: 'reason',
      effect: 'They are stopped; their owners are kept out until they are unsuspended, and are told.',
      stops: true,
    },
    unsuspend: { label: 'Unsuspend', icon: 'play', op: bulkOperation(`${prefix}.unsuspend-many`) },
  }) as const satisfies Record<string, Way>
const power = (prefix: string, action: string) => ({
  op: bulkOperation(`${prefix}.power-many`),
  body: { action },
})

const asksTheGuest = {
  effect: 'Each system has 90 seconds to shut itself down; then it is switched off.',
  stops: true,
} as const

export const manyServers: Many = {
  ...{ path: '/admin/servers/many', list: '/admin/servers', nav: 'servers', plan: planServers },
  ...{ one: 'server', many: 'servers', title: 'Servers', writes: true },
  ways: {
    start: { label: 'Start', icon: 'play', ...power('servers', 'start') },
    shutdown: { label: 'Shut down', icon: 'power', ...power('servers', 'shutdown'), ...asksTheGuest },
    restart: { label: 'Restart', icon: 'restart', ...power('servers', 'restart'), ...asksTheGuest },
    ...common('servers'),
    label: { label: 'Label', icon: 'plus', op: bulkOperation('servers.label-many'), field: 'label' },
    'change-owner': {
      label: 'Change owner',
      icon: 'user',
      op: bulkOperation('servers.change-owner-many'),
      field: 'owner',
      effect: 'They go with disks, addresses and backups. Former owners lose access at once; both sides are told.',
      stops: true,
    },
  },
}
export const manyInstances: Many = {
  ...{ path: '/admin/gpu-instances/many', list: '/admin/gpu-instances', nav: 'gpu-instances', plan: planInstances },
  ...{ one: 'GPU instance', many: 'GPU instances', title: 'GPU instances' },
  ways: {
    start: { label: 'Start', icon: 'play', ...power('gpu-instances', 'start') },
    stop: { label: 'Stop', icon: 'power', ...power('gpu-instances', 'stop'), stops: true },
    restart: { label: 'Restart', icon: 'restart', ...power('gpu-instances', 'restart'), stops: true },
    ...common('gpu-instances'),
  },
}

/** Those that the reader may use. */
export const waysFor = (at: At, { ways }: Many) => Object.entries(ways).filter(([, { op }]) => at.may(op))
