import { Type as t } from 'typebox'
import { consoleKinds } from '../../../agent/protocol/console.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, operation, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { server } from '../server-records/model.ts'
import { consoleActions } from './states.ts'
import { CREATE_TICKET } from './visit.ts'

/** Where browsers open consoles. The ticket is no part of the address: proxies write addresses into their logs. */
export const CONSOLE_PATH = '/console/v1/'
export const CONSOLE_PROTOCOL = 'berth.console.v1'
export const TICKET_PREFIX = 'ticket.'

const kind = described(t.Enum([...consoleKinds]), 'vnc: the screen. serial: the first serial line.')

export const createConsoleTicket = operation({
  id: CREATE_TICKET,
  method: 'POST',
  path: '/servers/{id}/console',
  summary: 'Open the console of a server, its screen or its serial line: makes a ticket for one connection',
  past: 'Requested the console',
  access: everybody('servers:power'),
  on: server,
  body: fields({ kind }),
  response: namedSchema('ConsoleTicket', {
    serverId: t.String(),
    kind,
    path: described(t.String(), 'Open a WebSocket here, with the credentials of this call.'),
    protocols: described(t.Array(t.String()), 'For Sec-WebSocket-Protocol; the second one is the ticket.'),
    expiresAt: described(time, 'It works once, within 30 seconds.'),
  }),
  status: 201,
  refuses: [...consoleActions.refusalsOf('console'), 'limit_reached', 'forbidden'],
  example: { kind: 'vnc' },
  run({ tx, actor, target, body, consoles }) {
    if (actor.via.type === 'system')
      throw new ApiError('forbidden', 'System has no console: this is for people in a browser, and for tokens.')
    consoleActions.mustAllowFor(tx, actor, target, 'console')
    const { ticket, expiresAt } = consoles.issue(target.id, body.kind, actor)
    return {
      serverId: target.id,
      kind: body.kind,
      path: CONSOLE_PATH,
      protocols: [CONSOLE_PROTOCOL, TICKET_PREFIX + ticket],
      expiresAt: iso(expiresAt),
    }
  },
})
