import { feature } from '../../kernel/feature.ts'
import { getEvent, listEvents, listEventTypes } from './events.ts'

const errors = {
  event_not_found: { status: 404, when: 'There is no such event, or it is not yours.', remedy: 'Check the id.' },
} as const

const scopes = {
  'events:read': { words: 'See events', heldBy: ['reseller', 'customer'] },
  'webhooks:write': { words: 'Manage webhooks', heldBy: ['reseller', 'customer'] },
} as const

const permissions = {
  api_webhooks: { words: 'API & webhooks', opens: ['events:read', 'webhooks:write'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    events: { errors: typeof errors; scopes: typeof scopes; permissions: typeof permissions }
  }
}

export const eventsFeature = feature({
  name: 'events',
  errors,
  scopes,
  permissions,
  operations: [listEvents, getEvent, listEventTypes],
  async fixture({ admin }) {
    await admin('POST', '/admin/customers', { name: 'Eve Event', email: 'eve@events.example' })
    const { data } = await admin('GET', '/events?type=customer.created&sort=-created_at&limit=1')
    return { event: data[0].id }
  },
})
