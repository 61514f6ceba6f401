import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { fields, line, operation, rightsInWords } from '../../kernel/api/operation.ts'
import { cancelJob as cancel } from '../../kernel/jobs/start.ts'
import { job, jobRecord, mayCancel, notCancellable, sagaOf, showJob } from './model.ts'
import { jobRow, visibleJobs } from './queries.ts'

/** The scopes with which sagas say that they may be cancelled; `run` asks for the one of the job at hand. */
const cancelScopes = ['servers:power', 'servers:reinstall'] as const

export const cancelJob = operation({
  id: 'jobs.cancel',
  method: 'POST',
  path: '/jobs/{jobId}/actions/cancel',
  summary: 'Cancel a job: it stops before its next step, what it did is undone, and it ends as failed',
  access: { staff: cancelScopes, reseller: cancelScopes, customer: cancelScopes },
  on: job,
  body: fields({ reason: t.Optional(line(200, 0)) }),
  response: jobRecord,
  status: 202,
  refuses: ['job_ended', 'job_not_cancellable'],
  example: { reason: 'The wrong image was chosen' },
  run({ tx, actor, target, body, clock, registry }) {
    const refused = notCancellable(target)
    if (refused) throw refused
    if (!mayCancel(tx, actor, target))
      throw actor.via.type === 'token'
        ? new ApiError(
            'missing_scope',
            `Cancelling this job needs ${rightsInWords(registry, target.cancelScope ? [target.cancelScope] : [])}.`,
            {
              scopes: [target.cancelScope],
            },
          )
        : new ApiError('forbidden', 'Only somebody who may start such a job may cancel it.')
    cancel(tx, target.id, { by: actor, reason: body.reason ?? '', now: clock() })
    const row = jobRow(tx, visibleJobs(tx, actor), target.id)!
    return showJob(tx, actor, row, registry.failures, sagaOf(registry, row))
  },
})
