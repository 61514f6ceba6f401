import { Type as t } from 'typebox'
import type { Server } from '../../../compute/server-records/model.ts'
import { described, fields, namedSchema, nullable } from '../../../kernel/api/operation.ts'
import type { HeldAddress } from '../../ip-pools/allocate.ts'
import { textOf } from './parts.ts'

export const version = t.Enum([4, 6], { description: 'The version of the primary address.' })
export const versionBody = fields({ version })

export const exchangeResponse = namedSchema('PrimaryAddressChange', {
  jobId: described(
    nullable(t.String()),
    'Null where nothing is installed, so that it is done at once, and where it was only checked.',
  ),
  serverId: t.String(),
  servers: t.Array(t.Object({ id: t.String(), hostname: t.String(), removed: t.String(), added: t.String() }), {
    description: 'Each server, with the address that it gives up and the one that it gets.',
  }),
  effects: t.Array(t.String(), { description: 'What it means for those who use the servers, in sentences.' }),
})

export const shownPart = ({ id, hostname }: Server, removed: HeldAddress, added: HeldAddress) => ({
  id,
  hostname,
  removed: textOf(removed),
  added: textOf(added),
})
