// The restart policy of a workload: its node follows it when the workload ends although nobody stopped it.
import type { Static, TSchema } from 'typebox'
import { RestartPolicy } from '../../../agent/protocol/wire.ts'
import { changeWorkload, type Workload } from '../../fleet/workloads/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import type { Code } from '../../kernel/api/errors.ts'
import { type Call, fields, operation } from '../../kernel/api/operation.ts'
import type { ActingKind } from './acting.ts'

type Own<Row, A extends TSchema> = {
  summary: string
  /** `jobId`: the job that tells the node; null where there is none. */
  answer: { schema: A; of(id: string, jobId: string | null): Static<A> }
  /**
   * For a kind whose nodes are told at once: starts the job that tells the node and records it. Answers its id; null:
   * the node hears of it with the next start. Left out: it always does.
   */
  tell?(call: Call<Row, { restartPolicy: RestartPolicy }>): string | null
  refuses?: readonly Code[]
}

export const settingRestartPolicyOf = <Row extends Workload, A extends TSchema>(
  { prefix, path, resource, states }: ActingKind<Row, 'restart_policy'>,
  { summary, answer, tell, refuses = [] }: Own<Row, A>,
) =>
  operation({
    id: `${prefix}.restart-policy`,
    method: 'PUT',
    path: `${path}/restart-policy`,
    summary,
    past: 'Changed what happens after a crash',
    access: everybody('servers:settings'),
    on: resource,
    body: fields({ restartPolicy: RestartPolicy }),
    response: answer.schema,
    ...(tell && { status: 202, idempotent: true }),
    refuses: [...states.refusalsOf('restart_policy'), ...refuses],
    example: { restartPolicy: 'always' },
    run(call) {
      const { tx, actor, target, body } = call
      states.mustAllowFor(tx, actor, target, 'restart_policy')
      const jobId = body.restartPolicy === target.restartPolicy ? null : (tell?.(call) ?? null)
      // A job records it when the node knows it.
      if (jobId === null) changeWorkload(tx, target.id, { restartPolicy: body.restartPolicy })
      return answer.of(target.id, jobId)
    },
  })
