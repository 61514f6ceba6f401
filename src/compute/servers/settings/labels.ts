// Labels of a server: staff have their own, which nobody else reads.
import { Type as t } from 'typebox'
import { addLabel, labelsOf, removeLabel } from '../../../fleet/labels/queries.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { described, fields, line, namedSchema, operation } from '../../../kernel/api/operation.ts'
import { server } from '../model.ts'
import { mustAllow, refusalsOf } from '../state.ts'

const MOST = 20
const labels = (words: string) => t.Optional(described(t.Array(line(40), { maxItems: MOST }), words))

export const labelServer = operation({
  id: 'servers.label',
  method: 'POST',
  path: '/servers/{id}/labels',
  summary: 'Change the labels of a server: free words; staff set their own, which only staff read',
  access: everybody('servers:settings'),
  on: server,
  body: fields({
    labels: labels('These replace the present ones.'),
    add: labels('These are added.'),
    remove: labels('These are removed.'),
  }),
  response: namedSchema('Labels', { serverId: t.String(), labels: t.Array(t.String()) }),
  status: 200,
  refuses: [...refusalsOf('rename'), 'limit_reached'],
  example: { add: ['production'] },
  run({ tx, actor, target, body }) {
    mustAllow(target, 'rename')
    const side = actor.kind === 'staff' ? 'staff' : 'owner'
    const gone = [...(body.labels ? labelsOf(tx, target.id, side) : []), ...(body.remove ?? [])]
    for (const label of gone) removeLabel(tx, target.id, side, label)
    for (const label of [...(body.labels ?? []), ...(body.add ?? [])]) addLabel(tx, target.id, side, label.trim())
    const now = labelsOf(tx, target.id, side)
    if (now.length > MOST)
      throw new ApiError('limit_reached', `A server has ${MOST} labels at most. Remove some first.`)
    return { serverId: target.id, labels: now }
  },
})
