import { feature } from '../../kernel/feature.ts'
import { gpuInstanceUsage, listGpuUsage } from './gpu/instance-usage.ts'
import { exportGpuUsage, reportGpuUsage } from './gpu/report.ts'
import { keepLedger } from './ledger.ts'
import { exportUsage, reportAccounts, reportIntervals, reportUsage } from './report.ts'
import { serverUsage } from './server-usage.ts'
import { usageDue, usageIntervals } from './tables.ts'

export const usageFeature = feature({
  name: 'usage',
  tables: [usageIntervals, usageDue],
  services({ db, clock }) {
    keepLedger(db, clock)
    return {}
  },
  operations: [
    reportUsage,
    exportUsage,
    reportAccounts,
    reportIntervals,
    serverUsage,
    reportGpuUsage,
    exportGpuUsage,
    gpuInstanceUsage,
    listGpuUsage,
  ],
  nav: [
    {
      kinds: ['staff'],
      group: '',
      position: 160,
      name: 'reports',
      title: 'Usage',
      href: '/admin/reports',
      icon: 'activity',
      sees: reportAccounts,
    },
    {
      kinds: ['reseller'],
      group: '',
      position: 160,
      name: 'reports',
      title: 'Usage',
      href: '/reseller/reports',
      icon: 'activity',
      sees: reportAccounts,
    },
    {
      kinds: ['customer'],
      group: '',
      position: 160,
      name: 'reports',
      title: 'Usage',
      href: '/usage',
      icon: 'activity',
      sees: reportUsage,
    },
  ],
})
