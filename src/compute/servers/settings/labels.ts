import { Type as t } from 'typebox'
import { namedSchema } from '../../../kernel/api/operation.ts'
import { labelling } from '../../workloads/labels.ts'
import { actingServer } from '../states.ts'

export const labelServer = labelling(actingServer, {
  answer: {
    schema: namedSchema('Labels', { serverId: t.String(), labels: t.Array(t.String()) }),
    of: (serverId, labels) => ({ serverId, labels }),
  },
})
