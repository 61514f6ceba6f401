import { feature } from '../../kernel/feature.ts'
import { firewallLimits, firewallServers, firewalls, serverFirewalls } from './tables.ts'

export const firewallRecordsFeature = feature({
  name: 'firewall-records',
  tables: [firewalls, serverFirewalls, firewallServers, firewallLimits],
})
