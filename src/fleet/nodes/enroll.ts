import { Type as t } from 'typebox'
import { BRIDGE_NAME } from '../../../agent/protocol/bounds.ts'
import { vlanRangesOf } from '../../../agent/protocol/wire.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import {
  type AppContext,
  described,
  fields,
  line,
  nullable,
  operation,
  type Resource,
  see,
  time,
} from '../../kernel/api/operation.ts'
import { digest, randomToken } from '../../kernel/crypto/secrets.ts'
import { iso, minute } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { poolsOfNode } from '../../network/ip-pools/queries.ts'
import { location } from '../locations/model.ts'
import type { Enrollment } from '../node-records/model.ts'
import { node } from '../node-records/model.ts'
import { enrollmentById, insertEnrollment, nodeById, updateNode } from '../node-records/queries.ts'
import { enrolCommand, type NodeNetwork } from './enrol-command.ts'
import { nodeResponse, showNode } from './model.ts'

/** Valid for 60 minutes, once. */
export const ENROLLMENT_MS = 60 * minute

const enrollmentToken = t.Object({ id: t.String(), token: t.String(), command: t.String(), expiresAt: time })

type New = Pick<Enrollment, 'locationId' | 'name' | 'bridge'> & { renewsNodeId?: string }
type Uplink = Pick<NodeNetwork, 'uplink' | 'vlans'>
/** Makes a token and the command that uses it. The uplink is a setting of the node alone: only its command names it. */
function makeEnrollment(
  { tx, clock, config }: Pick<AppContext, 'clock' | 'config'> & { tx: Tx },
  of: New,
  uplink: Uplink = {},
) {
  const token = `enr_${randomToken()}`
  const made = insertEnrollment(tx, {
    id: newId('enr'),
    tokenHash: digest(token),
    ...of,
    createdAt: clock(),
    expiresAt: clock() + ENROLLMENT_MS,
  })
  return {
    id: made.id,
    token,
    command: enrolCommand(config, token, { bridge: made.bridge, ...uplink }),
    expiresAt: iso(made.expiresAt),
  }
}

export const enrollNode = operation({
  id: 'nodes.enroll',
  method: 'POST',
  path: '/admin/node-enrollments',
  summary: 'Create a token that enrolls one node; it is shown only once',
  past: 'Created an enrollment token',
  access: { staff: ['nodes:write'] },
  powers: ['brings_machine'],
  body: fields({
    locationId: t.String({ minLength: 1, maxLength: 40 }),
    name: t.Optional(line(60, 0)),
    bridge: t.Optional(t.String({ maxLength: 15, pattern: `^(${BRIDGE_NAME})?$`, title: 'the name of a bridge' })),
    uplink: t.Optional(
      described(
        t.String({ maxLength: 15, pattern: `^(${BRIDGE_NAME})?$`, title: 'the name of an interface' }),
        'The network card or the bond that leads out of the node.',
      ),
    ),
    vlans: t.Optional(
      described(line(1000, 0), 'The VLANs on the uplink for servers: `all`, or a list such as `20,100-199`.'),
    ),
  }),
  response: enrollmentToken,
  status: 201,
  example: { locationId: '<location_id>', name: 'fra-01' },
  run({ tx, actor, body, clock, config }) {
    const where = see(tx, actor, location, body.locationId, 'locationId')
    return makeEnrollment(
      { tx, clock, config },
      { locationId: where.id, name: body.name || null, bridge: body.bridge || null },
      uplinkIn(body),
    )
  },
})

/** Throws `validation_failed`. */
function uplinkIn({ uplink, vlans }: Uplink): Uplink {
  if (vlans && !uplink) throw invalid({ field: 'uplink', message: 'is needed beside the VLANs on it.' })
  const ranges = vlans ? vlanRangesOf(vlans) : []
  if (!ranges)
    throw invalid({ field: 'vlans', message: 'must be all, or numbers and ranges from 1 to 4094 such as 20,100-199.' })
  return { ...(uplink && { uplink }), ...(ranges.length && { vlans: vlans!.replace(/\s/g, '') }) }
}

export const renewEnrollment = operation({
  id: 'nodes.renew-enrollment',
  method: 'POST',
  path: '/admin/nodes/{id}/actions/renew-enrollment',
  summary: 'Create a token that gives a node a new credential; it keeps its place and its servers',
  past: 'Created a token for a new credential',
  access: { staff: ['nodes:write'] },
  tellsOwners: ({ name }) => `A token was made with which a machine can take the place of the node ${name}.`,
  powers: ['takes_place'],
  on: node,
  response: enrollmentToken,
  refuses: ['not_possible'],
  run({ tx, target, clock, config }) {
    if (target.lostAt !== null)
      throw new ApiError('not_possible', `${target.name} was declared lost. Enroll the machine as a new node.`)
    const { locationId, name, bridge } = target
    return makeEnrollment({ tx, clock, config }, { locationId, name, bridge, renewsNodeId: target.id })
  },
})

export const revokeCredential = operation({
  id: 'nodes.revoke-credential',
  destroys: ['keys'],
  method: 'POST',
  path: '/admin/nodes/{id}/actions/revoke-credential',
  summary: 'Revoke the credential of a node at once; its servers run on until it has a new one',
  past: 'Revoked the credential of a node',
  access: { staff: ['nodes:write'] },
  tellsOwners: ({ name }) => `The credential of the node ${name} was revoked: its servers cannot be managed.`,
  powers: ['loses_many'],
  on: node,
  response: nodeResponse,
  refuses: ['already_done'],
  run(call) {
    const { tx, target, clock, nodes: live } = call
    if (target.credentialRevokedAt !== null)
      throw new ApiError('already_done', `The credential of ${target.name} is revoked already.`)
    const revoked = updateNode(tx, target, { credentialRevokedAt: clock() })
    live.disconnect(target.id)
    return showNode(call, revoked)
  },
})

const enrollment: Resource<Enrollment> = {
  name: 'enrollment',
  notFound: 'enrollment_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? enrollmentById(tx, id) : undefined),
}

export const getEnrollment = operation({
  id: 'nodes.enrollment',
  method: 'GET',
  path: '/admin/node-enrollments/{id}',
  summary: 'Whether the node has enrolled yet',
  access: { staff: ['nodes:write'] },
  on: enrollment,
  response: t.Object({
    id: t.String(),
    state: t.Enum(['waiting', 'used', 'expired']),
    expiresAt: time,
    node: nullable(
      t.Object({
        id: t.String(),
        name: t.String(),
        connected: t.Boolean(),
        addressPools: described(t.Integer(), 'Attached to it; without one it takes no servers with addresses.'),
      }),
    ),
  }),
  run({ tx, target, clock, nodes: live }) {
    const made = target.nodeId ? nodeById(tx, target.nodeId) : undefined
    return {
      id: target.id,
      state:
        target.usedAt !== null
          ? ('used' as const)
          : target.expiresAt <= clock()
            ? ('expired' as const)
            : ('waiting' as const),
      expiresAt: iso(target.expiresAt),
      node: made
        ? {
            id: made.id,
            name: made.name,
            connected: live.connected(made.id),
            addressPools: poolsOfNode(tx, made.id).length,
          }
        : null,
    }
  },
})
