import { Type as t } from 'typebox'
import { everyWorkload, firstToSetUp, isAnySetUp, searchWorkloads } from '../../fleet/workloads/reports.ts'
import { areas } from '../../identity/accounts/areas.ts'
import { customerData } from '../../identity/accounts/model.ts'
import { own, visible } from '../../identity/team/access.ts'
import { nullable } from '../../kernel/api/operation.ts'
import { minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { awayServers, crashedServers, failedServers, waitingServers } from './attention.ts'
import { createResellerServer, createServer } from './create.ts'
import { installing, settingUp } from './install/install.ts'
import { reinstalling, reinstallOptions, reinstallServer, removingDisk } from './install/reinstall.ts'
import { setupServer } from './install/setup.ts'
import { exportAllServers, exportServers, getServer, listAllServers, listServers } from './list.ts'
import { load, serverKind } from './model.ts'
import { powering, powerServer } from './power.ts'
import { billingServiceFits, serversWithImage, serversWithPackage, serverTarget } from './queries.ts'
import { setBillingService } from './settings/billing-service.ts'
import { changeServerPackage, resizing } from './settings/change-package.ts'
import { renameServer } from './settings/name.ts'
import { setRestartPolicy, settingRestartPolicy } from './settings/restart-policy.ts'
import { createServerSignInLink } from './sign-in-link.ts'
import { suspending, suspendServer, unsuspending, unsuspendServer } from './suspend.ts'
import { servers } from './tables.ts'
import { terminate, terminateServer, terminating } from './terminate.ts'
import { noteShares } from './traffic/allowance.ts'
import { settleTraffic } from './traffic/limits.ts'
import { trafficMarks, trafficSuspensions, trafficTopUps } from './traffic/tables.ts'
import { addBandwidth, getBandwidth } from './traffic/top-up.ts'

/** A server as events carry it. */
const serverData = t.Object({
  id: t.String(),
  hostname: t.String(),
  status: t.String(),
  package: t.String(),
  location: t.String(),
  ipv4: nullable(t.String()),
  billingServiceId: nullable(t.String()),
})
const about = { server: serverData, customer: customerData }

const events = {
  'server.created': event('resellers', 'An order is accepted', t.Object({ ...about, image: nullable(t.String()) })),
  'server.provisioned': event('resellers and customers', 'Built and booted', t.Object(about)),
  'server.suspended': event(
    'resellers and customers',
    'Suspended from anywhere',
    t.Object({ ...about, reason: t.String() }),
  ),
  'server.unsuspended': event('resellers and customers', 'Unsuspended', t.Object(about)),
  'server.terminated': event(
    'resellers and customers',
    'Terminated',
    t.Object({ ...about, releasedAddresses: t.Array(t.String()) }),
  ),
  'server.reinstalled': event(
    'resellers and customers',
    'Reinstalled',
    t.Object({ ...about, image: nullable(t.String()) }),
  ),
  'server.resized': event(
    'resellers and customers',
    'Package changed',
    t.Object({ ...about, from: t.String(), to: t.String() }),
  ),
  'server.addresses_changed': event(
    'resellers and customers',
    'An address added or removed',
    t.Object({ ...about, added: t.Array(t.String()), removed: t.Array(t.String()) }),
  ),
  'server.speed_changed': event(
    'resellers',
    'Speed limits overridden',
    t.Object({ ...about, speed: t.Object({ portMbps: nullable(t.Integer()) }), overridden: t.Boolean() }),
  ),
  'server.owner_changed': event(
    'staff only',
    'Moved to another customer',
    t.Object({ ...about, previousOwner: customerData }),
  ),
  'server.undeleted': event('resellers', 'Brought back after it was terminated', t.Object(about)),
}
type Events = typeof events

const errors = {
  server_not_found: { status: 404, when: 'There is no such server, or it is not yours.', remedy: 'Check the id.' },
  hostname_taken: {
    status: 409,
    when: 'The customer has a server with this hostname already.',
    remedy: 'Choose another.',
  },
  no_capacity: {
    status: 409,
    when: 'No node in the location has room.',
    remedy: 'Treat it as out of stock; offer another location.',
  },
  disk_too_small: {
    status: 422,
    when: 'The image needs a bigger disk than the package has.',
    remedy: 'Choose another package or image.',
  },
  not_set_up: {
    status: 409,
    when: 'The server waits for its setup: nothing is installed yet.',
    remedy: 'Set it up first.',
  },
  server_busy: { status: 409, when: 'A job holds the server.', remedy: 'Follow that job, then try again.' },
  server_suspended: {
    status: 409,
    when: 'The server is suspended.',
    remedy: 'Have it unsuspended first; a customer asks the provider.',
  },
  server_terminated: { status: 409, when: 'The server is terminated.', remedy: 'Nothing: it no longer exists.' },
  server_failed: { status: 409, when: "The server's installation failed.", remedy: 'Reinstall or terminate it.' },
  server_protected: {
    status: 409,
    when: 'The server is protected against this.',
    remedy: 'Take the protection off first.',
  },
  already_suspended: {
    status: 409,
    when: 'The server or the reseller is already suspended.',
    remedy: 'Treat it as done.',
  },
  not_suspended: { status: 409, when: 'The server or the reseller is not suspended.', remedy: 'Treat it as done.' },
  already_running: { status: 409, when: 'The server is already running.', remedy: 'Treat it as done.' },
  already_stopped: { status: 409, when: 'The server is already stopped.', remedy: 'Treat it as done.' },
  no_room_to_reinstall: {
    status: 409,
    when: 'The node has no space for a second disk beside the present one; `details.neededGb` is its size.',
    details: { neededGb: 25 },
    remedy: 'Send `discardFirst: true` to have the old system deleted first, or have space made on the node.',
  },
  already_set_up: {
    status: 409,
    when: 'The server is already set up.',
    remedy: 'Reinstall it if you want another system.',
  },
} as const
type Errors = typeof errors

const ids = {
  server: { prefix: 'srv', sample: 'web01' },
} as const
type Ids = typeof ids

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
type Scopes = typeof scopes

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
type Permissions = typeof permissions
declare module '../../kernel/register.ts' {
  interface ScopeNames extends Scopes {}
  interface PermissionNames extends Permissions {}
  interface IdKinds extends Ids {}
  interface EventTypes extends Events {}
  interface ErrorCodes extends Errors {}
}

export const serversFeature = feature({
  name: 'servers',
  scopes,
  permissions,
  ids,
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
    job: null,
  },
  errors,
  takeTraffic: noteShares,
  schedule: [
    { everyMs: minute, words: 'acting on the traffic of servers', work: ({ db, app }) => settleTraffic(db, app) },
  ],
  workloadKinds: [{ ...serverKind, terminate: (tx, id, asked) => terminate(tx, load(tx, id), asked) }],
  catalogueUse: { ofImage: serversWithImage, ofPackage: serversWithPackage },
  tables: [servers, trafficTopUps, trafficMarks, trafficSuspensions],
  jobs: [
    installing,
    settingUp,
    reinstalling,
    removingDisk,
    powering,
    settingRestartPolicy,
    resizing,
    suspending,
    unsuspending,
    terminating,
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
    setupServer,
    reinstallOptions,
    reinstallServer,
    powerServer,
    suspendServer,
    unsuspendServer,
    terminateServer,
    getBandwidth,
    addBandwidth,
    createServerSignInLink,
  ],
  events,
  attention: [awayServers, failedServers, crashedServers, waitingServers],
  auditTargets: [
    {
      ...serverTarget,
      page: ({ id, isGone }, { kind }) => (kind === 'staff' || !isGone ? `${areas[kind]}/servers/${id}` : undefined),
    },
  ],
  search: [
    {
      type: 'server',
      position: 10,
      place: ({ actor }) => (actor.scopes.has('servers:read') ? `${areas[actor.kind]}/servers/` : undefined),
      find({ tx, actor }, _, text, most) {
        const [theirs, called] = [own(actor), billingServiceFits(text)]
        return searchWorkloads(tx, serverKind, visible(tx, actor), text, most, {
          where: `(${theirs.where} AND ${called.where})`,
          values: [...theirs.values, ...called.values],
        })
      },
    },
  ],
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
