import { server } from '../../compute/server-records/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { page, paginateAll } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { addressesOf } from '../ip-pools/allocate.ts'
import { serverAddress, showAddress } from './model.ts'

export const listServerAddresses = operation({
  id: 'servers.addresses',
  method: 'GET',
  path: '/servers/{id}/ips',
  summary: 'The addresses of a server with their ids: primary, extra, and floating ones that point to it',
  access: everybody('servers:read'),
  on: server,
  // More than a server can have: it keeps what earlier limits allowed.
  pages: { usual: 100, most: 100 },
  response: page(serverAddress),
  run(call) {
    const all = addressesOf(call.tx, call.target.id).map((held, place) => ({ held, place }))
    return paginateAll({
      call,
      name: `addresses ${call.target.id}`,
      all,
      keyOf: ({ place }) => String(place).padStart(4, '0'),
      show: ({ held }) => showAddress(held),
      order: 'names',
    })
  },
})
