// Staff confirm that a server is where it runs after a restore: its record follows it. The node that it stood on in the
// records is left alone: what is there shows as a difference of that node.
import { Type as t } from 'typebox'
import { nodeCommand, type PortRules, type Vm } from '../../../../agent/protocol/wire.ts'
import { node } from '../../../fleet/node-records/model.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { withRefused } from '../../../fleet/nodes/addresses/platform.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { closeStay, noteRules, openArriving, resize, switchHome } from '../../../fleet/workloads/stays/stays.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation, see } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { forwardSaga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { policyOf } from '../../../network/firewall-records/policy.ts'
import { addressesOf, isOwn } from '../../../network/ip-pools/allocate.ts'
import { type Iso, isoSource } from '../../isos/model.ts'
import { isoById, noteCopy } from '../../isos/queries.ts'
import { inEvent, load, lockOfServer, type Server, server, serverJob } from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { portRulesOf, vmOf, volumeOf } from '../../server-vm/definition.ts'
import { firstLayer, forgetSnapshots } from '../../snapshot-records/queries.ts'
import { movedVolumes, spreadNetworks } from '../job/ending.ts'
import { aNode } from '../model.ts'
import { type Adoptable, ask, mustBeAdoptable, nodesThatRun } from './found.ts'

const access = { staff: ['servers:move'] } as const

export const getElsewhere = operation({
  id: 'servers.elsewhere',
  method: 'GET',
  path: '/admin/servers/{id}/elsewhere',
  summary: 'Which other nodes say that they run a server, after a restore, and whether its record can follow it',
  access,
  on: server,
  response: namedSchema('ServerElsewhere', {
    recorded: aNode,
    nodes: described(t.Array(aNode), 'Those that say they run it, beside the recorded one. Usually none.'),
    possible: t.Boolean(),
    reason: described(nullable(t.String()), 'Why the record cannot follow it, and the next step.'),
    changes: described(t.Array(t.String()), 'What the record says afterwards.'),
  }),
  prepare: ({ nodes, db, target }) => ask(nodes, db, target),
  run({ tx, nodes, target, prepared: told }) {
    const named = (id: string) => ({ id, name: nodeById(tx, id)?.name ?? '' })
    const shown = { recorded: named(target.nodeId), nodes: nodesThatRun(nodes, target.id).map(named) }
    try {
      const found = mustBeAdoptable(tx, nodes, target, told)
      return { ...shown, possible: true, reason: null, changes: changesOf(target, found) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { ...shown, possible: false, reason: error.message, changes: [] }
    }
  },
})

function changesOf(target: Server, { node, disk, diskGb, volumes }: Adoptable): string[] {
  return [
    `It is on ${node.name}, with its disk in ${disk.pool}.`,
    ...(diskGb === target.diskGb ? [] : [`Its disk has ${diskGb} GiB, and not ${target.diskGb}.`]),
    ...(volumes.length ? [`Its extra volumes are there, too: ${volumes.length}.`] : []),
    ...(target.pendingSeed === null ? [] : ['A password that waits for its next start in the records is forgotten.']),
    ...(target.suspendedAt === null ? [] : ['It is suspended in the records: it is shut down there.']),
  ]
}

export const adoptServer = operation({
  id: 'servers.adopt',
  method: 'POST',
  path: '/admin/servers/{id}/actions/adopt',
  summary: 'Confirm that a server is on the node that runs it: its record, made before it moved, follows it',
  past: 'Confirmed the node that runs it',
  access,
  on: server,
  body: fields({
    nodeId: described(t.String({ minLength: 1, maxLength: 40 }), 'The node that runs it, to confirm.'),
  }),
  response: namedSchema('ServerAdopted', {
    jobId: described(t.String(), 'The job that gives the node the rules and the definition of the records.'),
    serverId: t.String(),
    node: aNode,
  }),
  status: 202,
  refuses: ['not_elsewhere', 'runs_twice', 'not_adoptable', 'server_busy'],
  example: { nodeId: '<node_id>' },
  prepare: ({ nodes, db, target }) => ask(nodes, db, target),
  run({ tx, actor, nodes, target, body, clock, prepared: told }) {
    see(tx, actor, node, body.nodeId, 'nodeId')
    if (isHeldByJob(tx, lockOfServer(target.id).holds)) throw lockOfServer(target.id).busy()
    const found = mustBeAdoptable(tx, nodes, target, told)
    const runsOn = found.node
    if (body.nodeId !== runsOn.id)
      throw invalid({ field: 'nodeId', message: `must be the node that runs it: ${runsOn.name}.` })
    const now = clock()
    const from = nodeById(tx, target.nodeId)!
    follow(tx, target, found, now)
    const after = load(tx, target.id)
    const { concerning, data } = inEvent(tx, after)
    const moved = { from: from.name, to: runsOn.name, fromId: from.id, toId: runsOn.id }
    emit(tx, now, 'server.adopted', concerning, {
      server: { id: data.server.id, hostname: data.server.hostname },
      ...moved,
    })
    spreadNetworks(tx, target.id, now)
    const jobId = startJob(
      tx,
      adopting,
      { serverId: target.id, nodeId: runsOn.id, from: from.id },
      {
        ...serverJob(after, { by: actor, title: `Correct the record of ${target.hostname}`, now }),
        otherNodeId: from.id,
      },
    )
    return { jobId, serverId: target.id, node: { id: runsOn.id, name: runsOn.name } }
  },
})

/** The seed of the records is on the other node, or was read in the time that was lost. */
const noSeed = { pendingSeed: null, pendingPasswordHash: null } as const

function follow(tx: Tx, target: Server, { node, power, disk, diskGb, volumes }: Adoptable, now: number) {
  const { id, nodeId: from } = target
  if (diskGb !== target.diskGb) resize(tx, id, { vcpus: target.vcpus, memoryMb: target.memoryMb, diskGb })
  // Snapshots of the records are not on the disk there.
  forgetSnapshots(tx, id)
  openArriving(tx, id, { nodeId: node.id, pool: disk.pool, spareDiskGb: 0 }, now)
  switchHome(tx, id, { nodeId: node.id, locationId: node.locationId })
  closeStay(tx, id, from, now)
  movedVolumes(
    tx,
    volumes.map(({ volumeId, disk: to }) => ({ volumeId, from: to, to, sizeBytes: 0 })),
    'to',
    node,
    now,
  )
  updateServer(tx, id, { format: disk.format, ...firstLayer, ...noSeed, speedUntold: true })
  changeWorkload(tx, id, {
    diskGeneration: disk.generation,
    power,
    placement: `${node.name}: it ran there after a restore`,
    ...(target.lifecycle === 'failed' && { lifecycle: 'active', failure: null }),
  })
}

/** `from`: the node of the records. */
type Input = { serverId: string; nodeId: string; from: string }
type Plan = {
  rules: PortRules
  vm: Vm
  iso: ReturnType<typeof isoSource> | null
  floating: string[]
  stops: boolean
}
function plan(tx: Tx, { serverId, nodeId }: Input): Plan {
  const target = load(tx, serverId)
  const held = addressesOf(tx, serverId)
  const policy = policyOf(tx, target)
  noteRules(tx, serverId, nodeId, policy.revision)
  const iso = target.isoId === null ? undefined : (isoById(tx, target.isoId) as Iso | undefined)
  if (iso) noteCopy(tx, iso.id, nodeId)
  return {
    rules: { ...portRulesOf(target, held), policy },
    vm: vmOf(tx, target, volumeOf(target, target.diskGeneration!), false),
    iso: iso ? isoSource(iso) : null,
    floating: held.filter((address) => !isOwn(address)).map(({ address }) => address),
    stops: target.suspendedAt !== null,
  }
}

export const adopting = forwardSaga<Input>('adopt', { title: 'Record correction', forStaff: true })
  .record('plan', 'Reading the records', { do: (tx, { input }) => plan(tx, input) })
  .command('allow', 'Allowing its addresses', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'firewall.allow', out.plan.rules),
  })
  .command('float', 'Allowing its floating addresses', {
    do: ({ input: { nodeId, serverId }, out: { plan } }) =>
      plan.floating.length
        ? nodeCommand(nodeId, 'firewall.float', { workload: serverId, addresses: plan.floating, on: true })
        : undefined,
  })
  .command('fetch-iso', 'Fetching its ISO there, unless it is there already', {
    do: ({ input, out }, { db }) =>
      out.plan.iso ? nodeCommand(input.nodeId, 'iso.ensure', withRefused(db, out.plan.iso)) : undefined,
  })
  .command('define', 'Defining the virtual machine as the records say', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'vm.define', out.plan.vm),
  })
  .command('stop', 'Stopping it, because it is suspended', {
    do: ({ input: { nodeId, serverId }, out }) =>
      out.plan.stops ? nodeCommand(nodeId, 'vm.stop', { workload: serverId, graceSeconds: 60 }) : undefined,
  })
  // A password waits in it for a start that does not come there.
  .command('forget', 'Removing what waited for its next start where the records had it', {
    do: ({ input }) => nodeCommand(input.from, 'seed.remove', { workload: input.serverId }),
  })
  .record('note', 'Recording its state', {
    do: (tx, { input, out }) => {
      if (out.plan.stops) changeWorkload(tx, input.serverId, { power: 'stopped' })
    },
  })

const adoptedServer = t.Object({ id: t.String(), hostname: t.String() })
export const adoptedData = t.Object({
  server: adoptedServer,
  from: described(t.String(), 'The name of the node on which the records had it.'),
  to: t.String(),
  fromId: t.String(),
  toId: t.String(),
})
