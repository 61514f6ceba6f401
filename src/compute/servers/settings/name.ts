import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { fields, operation } from '../../../kernel/api/operation.ts'
import { displayName } from '../install/order.ts'
import { server } from '../model.ts'
import { serverRow } from '../queries.ts'
import { serverResponse, showServer } from '../show.ts'
import { mustAllow, refusalsOf } from '../state.ts'

export const renameServer = operation({
  id: 'servers.rename',
  method: 'PATCH',
  path: '/servers/{id}/name',
  summary: 'Rename a server; its hostname stays',
  access: everybody('servers:settings'),
  allowedInSupportSession: true,
  on: server,
  body: fields({ name: displayName }),
  response: serverResponse,
  refuses: refusalsOf('rename'),
  example: { name: 'Shop' },
  run(call) {
    const { tx, target, body } = call
    mustAllow(target, 'rename')
    changeWorkload(tx, target.id, { name: body.name })
    return showServer(call, serverRow(tx, target.id))
  },
})
