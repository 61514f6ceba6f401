import { everyWorkload, firstToSetUp, isAnySetUp } from '../../fleet/workloads/reports.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { visible } from '../../identity/team/access.ts'
import { minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { addressesOf, isOwn } from '../../network/ip-pools/allocate.ts'
import { mayDestroy } from '../brake/brake.ts'
import { load, serverKind } from '../server-records/model.ts'
import {
  serversOfBuild,
  serversWithImage,
  serversWithIso,
  serversWithPackage,
  serverTarget,
} from '../server-records/queries.ts'
import { awayServers, crashedServers, failedServers, waitingServers } from './attention.ts'
import { createResellerServer, createServer } from './create.ts'
import { changeServerOwner } from './life/change-owner.ts'
import { suspending, suspendServer, unsuspending, unsuspendServer } from './life/suspend.ts'
import {
  ownersUndelete,
  purgeDue,
  purging,
  terminate,
  terminateServer,
  terminating,
  undeleteHours,
} from './life/terminate.ts'
import { undelete, undeleteServer, undeleting } from './life/undelete.ts'
import { exportAllServers, exportServers, getServer, listAllServers, listServers } from './list.ts'
import { serverNotices, tellBothOwners, tellOwner } from './notices.ts'
import { powerServer } from './power.ts'
import { powering } from './power-job.ts'
import { serverSearch } from './search.ts'
import { setBillingService } from './settings/billing-service.ts'
import { getHardware, setBootOrder, settingBootOrder } from './settings/boot-order.ts'
import { changeServerPackage, resizing } from './settings/change-package.ts'
import { setIso, settingIso } from './settings/iso.ts'
import { labelServer } from './settings/labels.ts'
import { renameServer } from './settings/name.ts'
import { setProtection } from './settings/protection.ts'
import { setRestartPolicy, settingRestartPolicy } from './settings/restart-policy.ts'
import { createServerSignInLink } from './sign-in-link.ts'
import { serverActions } from './states.ts'

const errors = {
  hostname_taken: {
    status: 409,
    when: 'The customer has a server with this hostname already.',
    remedy: 'Choose another.',
  },
  billing_service_id_taken: {
    status: 409,
    when:
      'Another living server or GPU instance of the same provider has this `billingServiceId`; `details.serverId` or ' +
      '`details.instanceId` is that one, where you may see it.',
    remedy: 'Take that one over: the answer to an earlier order was lost. Or use another identifier.',
  },
  no_capacity: {
    status: 409,
    when: 'No node in the location has room.',
    remedy: 'Treat it as out of stock; offer another location.',
  },
} as const

const scopes = {
  'servers:read': { words: 'See servers, their jobs and usage', heldBy: ['reseller', 'customer'] },
  'servers:create': { words: 'Order servers' },
  'servers:resize': { words: 'Change packages and extras' },
  'servers:suspend': { words: 'Suspend and unsuspend servers' },
  'servers:terminate': { words: 'Terminate servers' },
  'servers:power': { words: 'Start, stop and restart servers', heldBy: ['reseller', 'customer'] },
  'servers:reinstall': { words: 'Set up and reinstall servers', heldBy: ['reseller', 'customer'] },
  'servers:settings': { words: 'Settings, root password and rescue', heldBy: ['reseller', 'customer'] },
} as const

const permissions = {
  'servers.see_all': { words: 'See all servers', opens: ['servers:read'], limitsTokens: true },
  'servers.create': { words: 'Create servers', opens: ['servers:create'] },
  'servers.resize': { words: 'Change packages', opens: ['servers:resize'] },
  'servers.suspend': { words: 'Suspend servers', opens: ['servers:suspend'] },
  'servers.terminate': { words: 'Terminate servers', opens: ['servers:terminate'] },
  'servers.power': { words: 'Power servers', opens: ['servers:power'] },
  'servers.reinstall': { words: 'Reinstall servers', opens: ['servers:reinstall'] },
  'servers.settings': { words: 'Settings, root password and rescue', opens: ['servers:settings'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    servers: {
      scopes: typeof scopes
      permissions: typeof permissions
      errors: typeof errors
      notices: typeof serverNotices
    }
  }
}

/** Causes of failed jobs, in words for everybody. `true`: the job's own message is for everybody. */
const failures = {
  does_not_stop: 'The server did not switch off.',
  hostname_taken: true,
  hypervisor_silent: 'The virtualisation service of the node does not respond.',
  no_bridge: 'The network of the node is not set up.',
  no_firmware: 'The node cannot run machines of this kind.',
  no_virtualisation: 'The node cannot run virtual machines.',
  no_vm: 'The virtual machine is missing on the node.',
  not_running: 'The server is not running.',
  vm_off: true,
} as const

export const serversFeature = feature({
  name: 'servers',
  workloadActions: [serverActions],
  failures,
  scopes,
  permissions,
  samples: {
    status: 'running',
    hostname: 'web01',
    ipv4: '203.0.113.10',
    ipv6: '2001:db8:1:2::/64',
    mac: '00:00:5e:00:53:10',
    rootPassword: 'Rr8kT2mWqZ4vN6cXy9Hd',
    sshCommand: 'ssh root@203.0.113.10',
    placement: 'Most free memory of 3 nodes in Frankfurt.',
    allowed: 'shutdown',
    billingServiceId: 'service-4711',
    rescue: false,
    protected: false,
    failure: null,
    suspendReason: null,
    terminatedAt: null,
    purgeAt: null,
    staffLabels: null,
    job: null,
  },
  errors,
  schedule: [
    {
      everyMs: minute / 2,
      words: 'deleting the disks of terminated servers',
      work: ({ db, app }) => purgeDue(db, app),
    },
  ],
  workloadKinds: [
    {
      ...serverKind,
      terminate: (tx, id, asked) => terminate(tx, load(tx, id), asked),
      undelete: (tx, id, asked) => undelete(tx, load(tx, id), { ...asked, unchecked: true }),
      lost: (tx, workloadId, { by, now }) => void mayDestroy(tx, by, { kind: 'lose', workloadId, now }),
    },
  ],
  drivesWithIso: serversWithIso,
  catalogueUse: { ofImage: serversWithImage, ofBuild: serversOfBuild, ofPackage: serversWithPackage },
  jobs: [
    powering,
    settingBootOrder,
    settingIso,
    settingRestartPolicy,
    resizing,
    suspending,
    unsuspending,
    terminating,
    purging,
    undeleting,
  ],
  operations: [
    createServer,
    createResellerServer,
    exportAllServers,
    exportServers,
    listAllServers,
    listServers,
    getServer,
    renameServer,
    setRestartPolicy,
    changeServerPackage,
    setBillingService,
    powerServer,
    getHardware,
    setBootOrder,
    setIso,
    suspendServer,
    unsuspendServer,
    terminateServer,
    undeleteServer,
    changeServerOwner,
    setProtection,
    labelServer,
    createServerSignInLink,
  ],
  bindsToOwner: (tx, id) =>
    addressesOf(tx, id).flatMap((held) => (isOwn(held) ? [] : [`The floating address ${held.address}`])),
  settings: [undeleteHours, ownersUndelete],
  onEvent(...happened) {
    tellOwner(...happened)
    tellBothOwners(...happened)
  },
  notices: serverNotices,
  attention: [awayServers, failedServers, crashedServers, waitingServers],
  auditTargets: [
    {
      ...serverTarget,
      page: ({ id, isGone }, { kind }) => (kind === 'staff' || !isGone ? `${areas[kind]}/servers/${id}` : undefined),
    },
  ],
  search: serverSearch,
  checklist: [
    {
      kinds: ['staff'],
      position: 70,
      by: createServer,
      title: 'First server',
      words: 'Order one for a customer and sign in to it.',
      done: ({ tx }) => isAnySetUp(tx, serverKind, everyWorkload),
      href: () => '/admin/servers/new',
    },
    {
      kinds: ['customer'],
      position: 30,
      by: listServers,
      title: 'First server',
      words:
        'Your provider orders it for you and it appears here by itself; what is installed on it may be left to you.',
      done: ({ tx, actor }) => isAnySetUp(tx, serverKind, visible(tx, actor)),
      href({ tx, actor }) {
        const waiting = firstToSetUp(tx, serverKind, visible(tx, actor))
        return waiting ? `/servers/${waiting}#setup` : '/servers'
      },
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: '',
      position: 110,
      name: 'servers',
      title: 'Servers',
      href: '/admin/servers',
      icon: 'server',
      sees: listAllServers,
    },
    {
      kinds: ['reseller'],
      group: '',
      position: 110,
      name: 'servers',
      title: 'Servers',
      href: '/reseller/servers',
      icon: 'server',
      sees: listServers,
    },
    {
      kinds: ['customer'],
      group: '',
      position: 110,
      name: 'servers',
      title: 'Servers',
      href: '/servers',
      icon: 'server',
      sees: listServers,
    },
  ],
  actions: [
    { kinds: ['staff'], position: 10, title: 'Create server', page: '/admin/servers/new', does: createServer },
    {
      kinds: ['reseller'],
      position: 10,
      title: 'Create server',
      page: '/reseller/servers/new',
      does: createResellerServer,
    },
  ],
})
