import { Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, done, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { Registry } from '../../kernel/registry.ts'
import { count } from '../../kernel/words.ts'
import { detachNode } from '../../network/ip-pools/claims.ts'
import { forgetGpuHost } from '../gpus/queries.ts'
import { holdClaimsOf } from '../node-records/gone-addresses.ts'
import type { Node } from '../node-records/model.ts'
import { node } from '../node-records/model.ts'
import { openColumns, updateNode } from '../node-records/queries.ts'
import { endVolumeUseOn, volumesOn } from '../volume-records/queries.ts'
import { countedByKind, terminateWorkload } from '../workloads/kind.ts'
import { closePassingOn } from '../workloads/stays/stays.ts'
import { confirmedName, heldOn, listed, MOST_LISTED, mustBeTyped, mustWaitForNobody, wantedOn } from './model.ts'

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Forgets what the feature keeps for a node that is removed, such as a login. */
    forgetNode?(tx: Tx, nodeId: string): void
    /** Takes the loss of an extra volume before its node is removed, and marks it where that has to wait. */
    loseVolume?(tx: Tx, volumeId: string, asked: { by: Actor; now: number }): void
  }
}

export const removeNode = operation({
  id: 'nodes.remove',
  destroys: ['nodes'],
  method: 'DELETE',
  path: '/admin/nodes/{id}',
  summary: 'Remove a node that holds no server or is lost; its credential ends at once',
  past: 'Removed a node',
  access: { staff: ['nodes:write'] },
  tellsOwners: ({ name }) => `The node ${name} was removed.`,
  powers: ['loses_many'],
  on: node,
  response: done,
  refuses: ['in_use', 'node_held'],
  run({ tx, target, clock, nodes: live, registry }) {
    mustWaitForNobody(tx, target)
    const held = wantedOn(tx, target.id)
    if (held.length && target.lostAt === null) {
      const counts = Object.fromEntries(
        [...Map.groupBy(held, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]),
      )
      throw new ApiError(
        'in_use',
        `${target.name} holds ${countedByKind(registry, counts)}${returning(held)}. Move or terminate them first.`,
        { workloads: held.slice(0, MOST_LISTED).map(listed) },
      )
    }
    const volumes = volumesOn(tx, target.id).length
    if (volumes && target.lostAt === null)
      throw new ApiError(
        'in_use',
        `${target.name} holds ${count(volumes, 'extra volume', 'extra volumes')} of customers. Delete them first.`,
      )
    takeAway(tx, target, { now: clock(), registry })
    live.disconnect(target.id)
    return {}
  },
})

export const removeNodeWithWorkloads = operation({
  id: 'nodes.remove-with-workloads',
  destroys: ['nodes', 'servers', 'disks', 'addresses'],
  method: 'POST',
  path: '/admin/nodes/{id}/actions/remove-with-workloads',
  summary: 'Remove a node, terminate everything on it and lose its extra volumes, also when it is away for good',
  past: 'Removed a node and terminated everything on it',
  access: { staff: ['nodes:write'] },
  tellsOwners: ({ name }) => `Everything on the node ${name} was terminated, to remove the node.`,
  powers: ['loses_many'],
  on: node,
  body: confirmedName,
  response: namedSchema('WorkloadsTerminated', {
    workloads: described(
      t.Array(t.Object({ id: t.String(), hostname: t.String(), jobId: nullable(t.String()) })),
      `The first ${MOST_LISTED}, each with the job that terminates it.`,
    ),
    count: t.Integer(),
    volumes: described(
      t.Array(t.Object({ id: t.String(), name: t.String() })),
      `The first ${MOST_LISTED} extra volumes on it, attached or not: they are lost, and stay listed until deleted.`,
    ),
    volumeCount: t.Integer(),
    removed: described(
      t.Boolean(),
      'False where the brake holds some of the terminations or volumes: the node takes no new servers, and stays ' +
        'until a second person has released them and this is called again.',
    ),
    held: described(t.Integer(), 'So many terminations and losses of extra volumes wait for a second person.'),
    summary: described(t.String(), 'What was done, in words.'),
  }),
  refuses: ['server_protected'],
  example: { name: 'fra-01' },
  run({ tx, actor, target, body, clock, nodes: live, registry }) {
    mustBeTyped(target, body.name)
    if (!actor.scopes.has('servers:terminate'))
      throw new ApiError('forbidden', 'This terminates servers too. Ask somebody who may do both.')
    const held = wantedOn(tx, target.id)
    const atHome = held.filter(({ role }) => role === 'home')
    const terminated = atHome.map((workload) => ({
      ...listed(workload),
      jobId: terminateWorkload(registry, tx, workload, { by: actor, now: clock(), immediately: true }),
    }))
    const volumes = volumesOn(tx, target.id)
    for (const { loseVolume } of registry.features)
      for (const { id } of volumes) loseVolume?.(tx, id, { by: actor, now: clock() })
    const waiting = heldOn(tx, target.id)
    if (waiting.n) updateNode(tx, target, openColumns(false, target.closedAt ?? clock(), target.closedReason))
    else {
      takeAway(tx, target, { now: clock(), registry })
      live.disconnect(target.id)
    }
    return {
      workloads: terminated.slice(0, MOST_LISTED),
      count: atHome.length,
      volumes: volumes.slice(0, MOST_LISTED).map(({ id, name }) => ({ id, name })),
      volumeCount: volumes.length,
      removed: !waiting.n,
      held: waiting.n,
      summary: waiting.n
        ? `${target.name} stays: ${waiting.words} for a second person.`
        : `${target.name} is removed with all that was on it`,
    }
  },
})

const returning = (held: readonly { purgeAt: number | null }[]) => {
  const n = held.filter(({ purgeAt }) => purgeAt !== null).length
  return n ? `, of which ${n} terminated can still be brought back` : ''
}

function takeAway(tx: Tx, target: Node, { now, registry }: { now: number; registry: Pick<Registry, 'features'> }) {
  updateNode(tx, target, { ...openColumns(false, now, null), removedAt: now })
  endVolumeUseOn(tx, target.id, now)
  closePassingOn(tx, target.id, now)
  holdClaimsOf(tx, target.id, detachNode(tx, target.id), now)
  forgetGpuHost(tx, target.id)
  for (const { forgetNode } of registry.features) forgetNode?.(tx, target.id)
}
