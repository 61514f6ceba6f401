import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { firewallSettings } from '../firewall-records/policy.ts'
import { firewallTarget } from '../firewall-records/queries.ts'
import { applying, counting } from './apply.ts'
import { countFirewall } from './counters.ts'
import { followServer } from './follow.ts'
import { followLimits } from './limits.ts'
import { setSmtp } from './mail.ts'
import {
  addFirewallRule,
  allowServices,
  changeFirewall,
  changeFirewallRule,
  getServerFirewall,
  removeFirewallRule,
} from './server-firewall.ts'
import {
  addSharedRule,
  changeSharedFirewall,
  createFirewall,
  getFirewall,
  listFirewalls,
  removeFirewall,
  removeSharedRule,
} from './shared.ts'
import { firewallActions } from './states.ts'

const errors = {
  firewall_not_found: { status: 404, when: 'There is no such firewall, or it is not yours.', remedy: 'Check the id.' },
  rule_not_found: { status: 404, when: 'The firewall has no such rule.', remedy: 'Read its rules again.' },
  ssh_closed: {
    status: 409,
    when: 'Nobody could begin an SSH connection to the server after the change.',
    remedy: 'Add a rule for TCP port 22 first, or send `acceptClosedSsh: true`.',
  },
} as const

const ids = {
  firewall: { prefix: 'fwl' },
  firewallRule: { prefix: 'fwr' },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    firewalls: { ids: typeof ids; errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  firewall_failed: 'The network rules could not be loaded on the node.',
  invalid_address: 'The node cannot use the address that it was sent.',
  no_port_rules: 'The network rules of the server are missing on the node.',
} as const

export const firewallsFeature = feature({
  name: 'firewalls',
  workloadActions: [firewallActions],
  failures,
  ids,
  errors,
  samples: { remote: '198.51.100.20', remotes: '192.0.2.0/24' },
  settings: firewallSettings,
  jobs: [applying, counting],
  onEvent: followServer,
  schedule: [
    {
      everyMs: 5 * second,
      words: 'telling servers of changed limits',
      work: ({ db, app }) => followLimits(db, app.clock()),
    },
  ],
  operations: [
    getServerFirewall,
    changeFirewall,
    addFirewallRule,
    changeFirewallRule,
    removeFirewallRule,
    allowServices,
    countFirewall,
    setSmtp,
    createFirewall,
    listFirewalls,
    getFirewall,
    changeSharedFirewall,
    addSharedRule,
    removeSharedRule,
    removeFirewall,
  ],
  nav: [
    {
      kinds: ['reseller', 'customer'],
      group: 'Network',
      position: 165,
      name: 'firewalls',
      title: 'Firewalls',
      href: '/firewalls',
      icon: 'shield',
      sees: listFirewalls,
    },
  ],
  auditTargets: [{ ...firewallTarget, page: (_, { kind }) => (kind === 'staff' ? undefined : '/firewalls') }],
  async fixture({ admin, customer }) {
    return { firewall: (await admin('POST', `/customers/${customer.id}/firewalls`, { name: 'fixture' })).id }
  },
})
