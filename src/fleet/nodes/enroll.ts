import { Type as t } from 'typebox'
import { BRIDGE_NAME } from '../../../agent/protocol/bounds.ts'
import { commandLine } from '../../../agent/protocol/shell-quote.ts'
import { fields, line, nullable, operation, type Resource, see, time } from '../../kernel/api/operation.ts'
import { digest, randomToken } from '../../kernel/crypto/secrets.ts'
import { iso, minute } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import { location } from '../locations/model.ts'
import { enrollmentById, insertEnrollment, nodeById } from './queries.ts'
import type { Enrollment } from './tables.ts'

/** Valid for 60 minutes, once. */
export const ENROLLMENT_MS = 60 * minute

export const enrollNode = operation({
  id: 'nodes.enroll',
  method: 'POST',
  path: '/admin/node-enrollments',
  summary: 'Make the token that enrolls one node; it is shown only once',
  access: { staff: ['nodes:write'] },
  body: fields({
    locationId: t.String({ minLength: 1, maxLength: 40 }),
    name: t.Optional(line(60, 0)),
    bridge: t.Optional(t.String({ pattern: `^(${BRIDGE_NAME})?$`, title: 'the name of a bridge' })),
  }),
  response: t.Object({ id: t.String(), token: t.String(), command: t.String(), expiresAt: time }),
  status: 201,
  example: { locationId: '<location_id>', name: 'fra-01' },
  run({ tx, actor, body, clock, config }) {
    const where = see(tx, actor, location, body.locationId, 'locationId')
    const token = `enr_${randomToken()}`
    const made = insertEnrollment(tx, {
      id: newId('enr'),
      tokenHash: digest(token),
      locationId: where.id,
      name: body.name || null,
      bridge: body.bridge || null,
      createdAt: clock(),
      expiresAt: clock() + ENROLLMENT_MS,
    })
    return {
      id: made.id,
      token,
      command: commandLine('sudo', [
        './install.sh',
        '--agent',
        ...['--controller', config.publicUrl, '--token', token],
        ...(made.bridge ? ['--bridge', made.bridge] : []),
        ...(config.publicUrl.startsWith('http:') && config.agentInsecure ? ['--insecure'] : []),
      ]),
      expiresAt: iso(made.expiresAt),
    }
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
    node: nullable(t.Object({ id: t.String(), name: t.String(), connected: t.Boolean() })),
  }),
  run({ tx, target, clock, nodes: live }) {
    const node = target.nodeId ? nodeById(tx, target.nodeId) : undefined
    return {
      id: target.id,
      state:
        target.usedAt !== null
          ? ('used' as const)
          : target.expiresAt <= clock()
            ? ('expired' as const)
            : ('waiting' as const),
      expiresAt: iso(target.expiresAt),
      node: node ? { id: node.id, name: node.name, connected: live.connected(node.id) } : null,
    }
  },
})
