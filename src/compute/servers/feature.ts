import { Type as t } from 'typebox'
import { customerData } from '../../identity/accounts/model.ts'
import { nullable } from '../../kernel/api/operation.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { awayServers, failedServers, waitingServers } from './attention.ts'
import { createResellerServer, createServer } from './create.ts'
import { installing } from './install.ts'
import { getServer, listAllServers, listServers } from './list.ts'
import { renameServer } from './name.ts'
import { powering, powerServer } from './power.ts'
import { reinstallServer, setupServer } from './setup.ts'
import { suspending, suspendServer, unsuspending, unsuspendServer } from './suspend.ts'
import { servers } from './tables.ts'
import { terminateServer, terminating } from './terminate.ts'

/** A server as events carry it. */
const serverData = t.Object({
  id: t.String(),
  hostname: t.String(),
  status: t.String(),
  package: t.String(),
  location: t.String(),
  ipv4: nullable(t.String()),
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
}
type Events = typeof events
declare module '../../kernel/register.ts' {
  interface EventTypes extends Events {}
}

export const serversFeature = feature({
  name: 'servers',
  tables: [servers],
  jobs: [installing, powering, suspending, unsuspending, terminating],
  operations: [
    createServer,
    createResellerServer,
    listAllServers,
    listServers,
    getServer,
    renameServer,
    setupServer,
    reinstallServer,
    powerServer,
    suspendServer,
    unsuspendServer,
    terminateServer,
  ],
  events,
  attention: [awayServers, failedServers, waitingServers],
})
