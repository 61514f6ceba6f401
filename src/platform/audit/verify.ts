import { Type as t } from 'typebox'
import { nullable, operation } from '../../kernel/api/operation.ts'
import { checkChain } from '../../kernel/audit/chain.ts'

export const verifyAudit = operation({
  id: 'audit.verify',
  method: 'GET',
  path: '/admin/audit/verify',
  summary: 'Check that the audit log is as it was written; names the first line that is not',
  access: { staff: ['audit:read'] },
  response: t.Object({ lines: t.Integer(), ok: t.Boolean(), brokenAt: nullable(t.String()) }),
  prepare: ({ db }) => checkChain(db),
  run: ({ prepared }) => prepared,
})
