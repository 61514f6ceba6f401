import { patched } from '../../kernel/api/named.ts'
import { fields, operation } from '../../kernel/api/operation.ts'
import { displayName } from './order.ts'
import { mustNotBeTerminated, server } from './server.ts'
import { rowOf, serverResponse, showServer } from './show.ts'
import { servers } from './tables.ts'

export const renameServer = operation({
  id: 'servers.rename',
  method: 'PATCH',
  path: '/servers/{id}/name',
  summary: 'Give a server another display name; its hostname stays',
  access: { staff: ['servers:settings'], reseller: ['servers:settings'], customer: ['servers:settings'] },
  allowedInSupportSession: true,
  on: server,
  body: fields({ name: displayName }),
  response: serverResponse,
  refuses: ['server_terminated'],
  example: { name: 'Shop' },
  run(call) {
    const { tx, target, body } = call
    mustNotBeTerminated(target)
    patched(tx, servers, target, body)
    return showServer(call, rowOf(tx, target.id))
  },
})
