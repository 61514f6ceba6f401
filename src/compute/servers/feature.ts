import { Type as t } from 'typebox'
import { billingServiceFits } from '../../fleet/workloads/queries.ts'
import { everyWorkload, firstToSetUp, isAnySetUp } from '../../fleet/workloads/reports.ts'
import { searchWorkloads } from '../../fleet/workloads/search.ts'
import { areas } from '../../identity/accounts/areas.ts'
import { customerData } from '../../identity/accounts/model.ts'
import { own, visible } from '../../identity/team/access.ts'
import { described, nullable } from '../../kernel/api/operation.ts'
import { minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { addressesOf, isOwn } from '../../network/ip-pools/allocate.ts'
import { mayDestroy } from '../brake/brake.ts'
import { addServerAddress } from './addresses/add.ts'
import { changingAddresses } from './addresses/change.ts'
import { listServerAddresses } from './addresses/list.ts'
import { removeServerAddress } from './addresses/remove.ts'
import { awayServers, crashedServers, failedServers, waitingServers } from './attention.ts'
import { createResellerServer, createServer } from './create.ts'
import { detectingOs, detectOs } from './guest/detect.ts'
import { getInstallationCheck } from './guest/installation-check.ts'
import { removeReadSeeds, removingSeed } from './guest/pending-seed.ts'
import { resetPassword, resettingPassword } from './guest/root-password.ts'
import { getStartupScript } from './guest/startup-script.ts'
import { serverGuests, startupScripts } from './guest/tables.ts'
import { GuestWatch, LOOK_EVERY_MS } from './guest/watch.ts'
import { installing, settingUp } from './install/install.ts'
import { reinstalling, reinstallOptions, reinstallServer } from './install/reinstall.ts'
import { removingDisk } from './install/remove-disk.ts'
import { setupServer } from './install/setup.ts'
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
import { load, serverData, serverKind } from './model.ts'
import { serverNotices, tellBothOwners, tellOwner } from './notices.ts'
import { powering, powerServer } from './power.ts'
import { serversOfBuild, serversWithImage, serversWithIso, serversWithPackage, serverTarget } from './queries.ts'
import { enteringRescue, rescueOptions, rescueServer } from './rescue/enter.ts'
import { exitingRescue, exitRescue } from './rescue/exit.ts'
import { setBillingService } from './settings/billing-service.ts'
import { getHardware, setBootOrder, settingBootOrder } from './settings/boot-order.ts'
import { changeServerPackage, resizing } from './settings/change-package.ts'
import { setIso, settingIso } from './settings/iso.ts'
import { labelServer } from './settings/labels.ts'
import { renameServer } from './settings/name.ts'
import { setProtection } from './settings/protection.ts'
import { setRestartPolicy, settingRestartPolicy } from './settings/restart-policy.ts'
import { createServerSignInLink } from './sign-in-link.ts'
import { changeSpeed, changingSpeed, tellingSpeed } from './speed/change.ts'
import { limitFields } from './speed/limits.ts'
import { serverActions } from './state.ts'
import { interruptedInstallations, serverCounts, servers } from './tables.ts'
import { noteShares } from './traffic/allowance.ts'
import { settleTraffic } from './traffic/limits.ts'
import { trafficMarks, trafficSuspensions, trafficTopUps } from './traffic/tables.ts'
import { addBandwidth, getBandwidth } from './traffic/top-up.ts'

const about = { server: serverData, customer: customerData }

const events = {
  'server.created': event('resellers', 'An order is accepted', t.Object({ ...about, image: nullable(t.String()) })),
  'server.provisioned': event('resellers and customers', 'Built and booted', t.Object(about)),
  'server.install_failed': event(
    'resellers and customers',
    'An installation failed; the server has no system',
    t.Object({ ...about, error: t.String() }),
  ),
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
    t.Object({
      ...about,
      from: described(t.String(), 'The name of the package before.'),
      to: described(t.String(), 'The name of the package now.'),
      fromPackageId: t.String(),
      toPackageId: t.String(),
      billingProductId: described(nullable(t.String()), 'Of the package now.'),
    }),
  ),
  'server.addresses_changed': event(
    'resellers and customers',
    'An address added or removed',
    t.Object({ ...about, added: t.Array(t.String()), removed: t.Array(t.String()) }),
  ),
  'server.speed_changed': event(
    'resellers',
    'Speed limits overridden',
    t.Object({ ...about, speed: t.Object(limitFields), overridden: t.Boolean() }),
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
  billing_service_id_taken: {
    status: 409,
    when:
      'Another living server or GPU instance of the same provider has this `billingServiceId`; `details.serverId` or ' +
      '`details.instanceId` is that one, where you may see it.',
    remedy: 'Take that one over: the answer to an earlier order was lost. Or use another identifier.',
  },
  traffic_not_limited: {
    status: 409,
    when: 'The package of the server does not limit its traffic: there is nothing to add to.',
    remedy: 'Sell no traffic for this package.',
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
  image_not_supported: {
    status: 409,
    when: 'The node, or every node of the location, lacks the firmware or the TPM that the image needs.',
    remedy: 'Choose another image or location; staff install ovmf, swtpm and swtpm-tools on a node.',
  },
  no_rescue_image: {
    status: 409,
    when: 'Staff have chosen no image for rescue systems.',
    remedy: 'Staff choose one on the page Images.',
  },
  already_in_rescue: { status: 409, when: 'The server is in rescue already.', remedy: 'Treat it as done.' },
  not_in_rescue: { status: 409, when: 'The server is not in rescue.', remedy: 'Treat it as done.' },
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
  not_terminated: {
    status: 409,
    when: 'The server is not terminated, so there is nothing to bring back.',
    remedy: 'Treat it as done.',
  },
  already_suspended: {
    status: 409,
    when: 'The server, GPU instance or reseller is already suspended.',
    remedy: 'Treat it as done.',
  },
  not_suspended: {
    status: 409,
    when: 'The server, GPU instance or reseller is not suspended.',
    remedy: 'Treat it as done.',
  },
  already_running: { status: 409, when: 'The server or GPU instance is already running.', remedy: 'Treat it as done.' },
  already_stopped: { status: 409, when: 'The server or GPU instance is already stopped.', remedy: 'Treat it as done.' },
  no_room_to_reinstall: {
    status: 409,
    when: 'The node has no space for a second disk beside the present one; `details.neededGb` is its size.',
    details: { neededGb: 25 },
    remedy: 'Send `discardFirst: true` to have the old system deleted first, or have space made on the node.',
  },
  address_stays: {
    status: 409,
    when: 'The address is the primary one of the server, or a floating one.',
    remedy: 'A floating address is unassigned; a primary one goes with the server.',
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
  interface Services {
    guestWatch: GuestWatch
  }
}

/** Causes of failed jobs, in words for everybody. `true`: the job's own message is for everybody. */
const failures = {
  does_not_stop: 'The server did not switch off.',
  encrypted_for_another:
    'The host machine has another key since the password was made. Start the job again for a new password.',
  guest_agent_broken: 'The guest agent inside the server sent an answer that makes no sense.',
  guest_agent_silent: 'No guest agent answers inside the server.',
  guest_frozen: 'The server’s file systems are frozen for a backup.',
  guest_refused: 'The system inside the server refused the request.',
  guest_timeout: 'The program inside the server took too long.',
  hostname_taken: true,
  hypervisor_silent: 'The virtualisation service of the host machine does not respond.',
  no_bridge: 'The network of the host machine is not set up.',
  no_firmware: 'The host machine cannot run machines of this kind.',
  no_room_to_reinstall: true,
  no_seed: 'The data for the first boot is missing on the host machine.',
  no_serial_line: 'The server was started without a serial line.',
  no_virtualisation: 'The host machine cannot run virtual machines.',
  no_vm: 'The virtual machine is missing on the host machine.',
  not_running: 'The server is not running.',
  vm_off: true,
} as const

export const serversFeature = feature({
  name: 'servers',
  workloadActions: [serverActions],
  failures,
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
    purgeAt: null,
    staffLabels: null,
    job: null,
  },
  errors,
  takeTraffic: noteShares,
  schedule: [
    { everyMs: minute, words: 'acting on the traffic of servers', work: ({ db, app }) => settleTraffic(db, app) },
    {
      everyMs: minute / 2,
      words: 'deleting the disks of terminated servers',
      work: ({ db, app }) => purgeDue(db, app),
    },
    {
      everyMs: LOOK_EVERY_MS,
      words: 'asking guests for their system',
      work: (context) => context.app.guestWatch.turn(context),
    },
    {
      everyMs: LOOK_EVERY_MS,
      words: 'removing the data of password resets',
      work: ({ db, app }) => removeReadSeeds(db, app),
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
  services: () => ({ guestWatch: new GuestWatch() }),
  tables: [
    servers,
    serverCounts,
    serverGuests,
    startupScripts,
    trafficTopUps,
    trafficMarks,
    trafficSuspensions,
    interruptedInstallations,
  ],
  jobs: [
    installing,
    settingUp,
    reinstalling,
    removingDisk,
    powering,
    enteringRescue,
    exitingRescue,
    settingBootOrder,
    settingIso,
    settingRestartPolicy,
    resizing,
    changingAddresses,
    changingSpeed,
    tellingSpeed,
    suspending,
    unsuspending,
    terminating,
    purging,
    undeleting,
    resettingPassword,
    removingSeed,
    detectingOs,
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
    changeSpeed,
    setBillingService,
    setupServer,
    reinstallOptions,
    reinstallServer,
    powerServer,
    getHardware,
    setBootOrder,
    setIso,
    rescueOptions,
    rescueServer,
    exitRescue,
    suspendServer,
    unsuspendServer,
    terminateServer,
    listServerAddresses,
    addServerAddress,
    removeServerAddress,
    undeleteServer,
    changeServerOwner,
    setProtection,
    labelServer,
    getBandwidth,
    addBandwidth,
    createServerSignInLink,
    resetPassword,
    detectOs,
    getStartupScript,
    getInstallationCheck,
  ],
  bindsToOwner: (tx, id) =>
    addressesOf(tx, id).flatMap((held) => (isOwn(held) ? [] : [`The floating address ${held.address}`])),
  settings: [undeleteHours, ownersUndelete],
  events,
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
  search: [
    {
      type: 'server',
      position: 10,
      place: ({ actor }) => (actor.scopes.has('servers:read') ? `${areas[actor.kind]}/servers/` : undefined),
      find: ({ tx, actor }, text, most) =>
        searchWorkloads(
          tx,
          serverKind,
          {
            visible: visible(tx, actor),
            text,
            also(word) {
              const [theirs, called] = [own(actor), billingServiceFits(word)]
              return { where: `(${theirs.where} AND ${called.where})`, values: [...theirs.values, ...called.values] }
            },
          },
          most,
        ),
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
