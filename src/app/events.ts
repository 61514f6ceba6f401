// Every event there is: its data and who may hear of it. Staff hear every event.
import { type TSchema, Type as t } from 'typebox'
import { nullable } from '../kernel/api/operation.ts'

type Audience = 'staff only' | 'resellers' | 'resellers and customers'
const event = <D extends TSchema>(audience: Audience, words: string, data: D) => ({ audience, words, data })

/** The server as webhooks carry it. */
export const serverData = t.Object({
  id: t.String(),
  hostname: t.String(),
  status: t.String(),
  package: t.String(),
  location: t.String(),
  ipv4: nullable(t.String()),
})
export const customerData = t.Object({
  id: t.String(),
  email: t.String(),
  name: t.String(),
  externalId: nullable(t.String()),
})
const about = { server: serverData, customer: customerData }

export const events = {
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
  'customer.created': event('resellers', 'A new account', t.Object({ customer: customerData })),
  'quota.near_limit': event(
    'resellers',
    'A reseller passes 90% of a quota',
    t.Object({ resource: t.String(), used: t.Integer(), limit: t.Integer() }),
  ),
}
