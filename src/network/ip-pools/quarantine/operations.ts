import { Type as t } from 'typebox'
import { fields, operation } from '../../../kernel/api/operation.ts'
import { pool, poolAddress, poolResponse, quarantineHours, showPool } from '../model.ts'
import { poolById } from '../queries.ts'
import { setQuarantineHours } from './queries.ts'
import { endRest } from './rest.ts'

export const setQuarantine = operation({
  id: 'pools.set-quarantine',
  method: 'PUT',
  path: '/admin/ip-pools/{id}/quarantine',
  summary: 'Set how long addresses that are freed from now on rest; those that rest already keep their time',
  past: 'Changed how long freed addresses rest',
  access: { staff: ['network:write'] },
  // A shorter time protects less.
  tellsOwners: ({ name }) => `The time for which freed addresses of the pool ${name} rest was changed.`,
  on: pool,
  body: fields({ quarantineHours }),
  response: poolResponse,
  example: { quarantineHours: 48 },
  run(call) {
    const { tx, target, body } = call
    setQuarantineHours(tx, target.id, body.quarantineHours)
    return showPool(call, poolById(tx, target.id)!)
  },
})

export const endAddressRest = operation({
  id: 'pools.end-rest',
  method: 'POST',
  path: '/admin/ip-addresses/{id}/actions/end-rest',
  summary: 'End the rest of a freed address: the next order may get it',
  access: { staff: ['network:write'] },
  on: poolAddress,
  response: t.Object({ id: t.String(), address: t.String() }),
  run({ tx, target: { id, address } }) {
    endRest(tx, id)
    return { id, address }
  },
})
