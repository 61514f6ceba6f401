import { Type as t } from 'typebox'
import { described, nullable, operation, time } from '../../kernel/api/operation.ts'
import { checkChain } from '../../kernel/audit/chain.ts'

export const verifyAudit = operation({
  id: 'audit.verify',
  method: 'GET',
  path: '/admin/audit/verify',
  summary: 'Check that the audit log is as it was written and ends where it ended; names the first line that is not',
  access: { staff: ['audit:read'] },
  response: t.Object({
    lines: t.Integer(),
    ok: t.Boolean(),
    brokenAt: nullable(t.String()),
    anchor: described(
      nullable(
        t.Object({
          line: t.Integer(),
          at: nullable(time),
          state: described(
            t.Enum(['matches', 'differs', 'not_signed']),
            '`differs`: lines are missing at the end, or were replaced. `not_signed`: its signature is of no key ' +
              'of the ' +
              'key file.',
          ),
        }),
      ),
      'The newest line as it was written to a signed file outside the database, at most a minute ago; null before ' +
        'there is one.',
    ),
  }),
  atReader: true,
  prepare: ({ db }) => checkChain(db),
  run({ tx, auditAnchor, secrets, prepared: chain }) {
    const found = auditAnchor.state(tx, secrets)
    const anchor = found ? { line: found.line, at: found.at || null, state: found.state } : null
    return { ...chain, ok: chain.ok && (anchor === null || anchor.state === 'matches'), anchor }
  },
})
