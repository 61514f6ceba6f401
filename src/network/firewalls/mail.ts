import { Type as t } from 'typebox'
import { server } from '../../compute/server-records/model.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { isSmtpAllowed } from '../firewall-records/policy.ts'
import { changeServerFirewall, serverFirewall } from '../firewall-records/queries.ts'
import { send } from './apply.ts'
import { firewallActions } from './states.ts'

export const setSmtp = operation({
  id: 'servers.smtp',
  method: 'PUT',
  path: '/servers/{id}/smtp',
  summary: 'Let a server connect to mail servers, or not; null is what its package says',
  past: 'Changed access to mail servers',
  access: { staff: ['servers:resize'] },
  on: server,
  body: fields({ allowed: nullable(t.Boolean()) }),
  response: namedSchema('SmtpChanged', {
    jobId: described(nullable(t.String()), 'Null: nothing is installed.'),
    smtpAllowed: t.Boolean(),
  }),
  status: 202,
  idempotent: true,
  refuses: firewallActions.refusalsOf('smtp'),
  example: { allowed: true },
  auditSnapshot: ({ tx, target }) => ({ smtpAllowed: serverFirewall(tx, target.id).smtpAllowed }),
  run({ tx, actor, target, body, clock }) {
    firewallActions.mustAllow(target, 'smtp')
    changeServerFirewall(tx, target.id, { smtpAllowed: body.allowed })
    const jobId = send(tx, target, { by: actor, now: clock() })
    return { jobId, smtpAllowed: isSmtpAllowed(tx, target) }
  },
})
