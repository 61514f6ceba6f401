import { server, serverJob } from '../../../compute/server-records/model.ts'
import { operation } from '../../../kernel/api/operation.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { addressesById, reserveAddresses } from '../../ip-pools/allocate.ts'
import { addressActions } from '../states.ts'
import { exchanging, finish, freeGivenUp, reasonOf, record } from './exchanging.ts'
import { exchangeResponse, shownPart, versionBody } from './model.ts'
import { changeEffects, mustLearn, primaryOf, textOf } from './parts.ts'

export const changePrimaryAddress = operation({
  id: 'servers.change-primary-address',
  method: 'POST',
  path: '/servers/{id}/actions/change-primary-address',
  summary: 'Give a server another primary address from the pools of its node; the one that it had rests',
  past: 'Changed the primary address',
  access: { staff: ['servers:resize'], reseller: ['reseller:servers'] },
  destroys: ['addresses'],
  on: server,
  body: versionBody,
  response: exchangeResponse,
  status: 202,
  idempotent: true,
  dryRun: true,
  refuses: [
    ...addressActions.refusalsOf('addresses'),
    'server_busy',
    'no_addresses',
    'address_not_found',
    'address_stays',
  ],
  example: { version: 4 as const },
  run({ tx, actor, target, body: { version }, query, clock }) {
    addressActions.mustAllowFor(tx, actor, target, 'addresses')
    const old = primaryOf(tx, target, version)
    mustLearn(tx, target)
    const of = { workloadId: target.id, nodeId: target.nodeId, reason: reasonOf(target.id) }
    const wanted = version === 4 ? { ipv4: 1, ipv6Prefix: null } : { ipv4: 0, ipv6Prefix: old.prefixLength }
    // Its card stays in its network, where its other addresses are.
    const need = { ...wanted, vlan: old.pool.vlan }
    const [take] = reserveAddresses(tx, of, need)
    const next = addressesById(tx, [take!])[0]!
    const parts = [{ serverId: target.id, give: old.id, take: take! }] as const
    const shown = {
      serverId: target.id,
      servers: [shownPart(target, old, next)],
      effects: changeEffects(tx, target, old),
    }
    if (target.lifecycle === 'pending_setup') {
      record(tx, parts, clock())
      freeGivenUp(tx, parts[0])
      finish(tx, parts[0], clock())
      return { jobId: null, ...shown }
    }
    const title = `Change ${textOf(old)} of ${target.hostname} to ${textOf(next)}`
    const jobId = startJob(
      tx,
      exchanging,
      { parts, partnerJob: null },
      serverJob(target, { by: actor, title, now: clock() }),
    )
    return { jobId: query['dryRun'] === 'true' ? null : jobId, ...shown }
  },
})
