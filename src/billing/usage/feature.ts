import { feature } from '../../kernel/feature.ts'
import { keepAddressLedger } from './addresses/ledger.ts'
import { exportAddresses, reportAddresses } from './addresses/report.ts'
import { addressDue, addressIntervals } from './addresses/tables.ts'
import { gpuInstanceUsage, listGpuUsage } from './gpu/instance-usage.ts'
import { exportGpuUsage, reportGpuUsage } from './gpu/report.ts'
import { keepLedger } from './ledger.ts'
import { exportUsage, reportAccounts, reportIntervals, reportUsage } from './report.ts'
import { serverUsage } from './server-usage.ts'
import { usageDue, usageIntervals } from './tables.ts'

export const usageFeature = feature({
  name: 'usage',
  tables: [usageIntervals, usageDue, addressIntervals, addressDue],
  services({ db, clock }) {
    keepLedger(db, clock)
    keepAddressLedger(db, clock)
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
    reportAddresses,
    exportAddresses,
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
      within: 'customers',
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
