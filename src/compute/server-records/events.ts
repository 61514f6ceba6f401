// The events about servers. The feature that does the thing emits its event.
import { Type as t } from 'typebox'
import { customerData } from '../../identity/account-records/model.ts'
import { described, nullable } from '../../kernel/api/operation.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { limitFields } from './limits.ts'
import { serverData } from './model.ts'

const about = { server: serverData, customer: customerData }
const imported = t.Optional(described(t.Literal(true), 'It came from another panel. Left out for any other.'))

export const serverEvents = {
  'server.created': event(
    'resellers',
    'An order is accepted',
    t.Object({ ...about, image: nullable(t.String()), imported }),
  ),
  'server.provisioned': event('resellers and customers', 'Built and booted', t.Object({ ...about, imported })),
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
    t.Object({ ...about, releasedAddresses: t.Array(t.String()), imported }),
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
