// The subjects of jobs in the API: each kind has its own field in a job, null in a job about another kind.
import { type TSchema, Type as t } from 'typebox'
import { nullable } from '../../kernel/api/operation.ts'
import type { Job } from '../../kernel/jobs/queries.ts'

type SubjectKind = { type: string; field: 'serverId' | 'instanceId' }

export const subjectKinds = [
  { type: 'server', field: 'serverId' },
  { type: 'gpu_instance', field: 'instanceId' },
] as const satisfies readonly SubjectKind[]

export const subjectSchema = {
  serverId: nullable(t.String()),
  instanceId: nullable(t.String()),
} satisfies Record<(typeof subjectKinds)[number]['field'], TSchema>

/** The id of the job's subject in the field of its kind. */
export const subjectFields = ({ subjectType, subjectId }: Pick<Job, 'subjectType' | 'subjectId'>) =>
  Object.fromEntries(subjectKinds.map(({ type, field }) => [field, type === subjectType ? subjectId : null])) as Record<
    (typeof subjectKinds)[number]['field'],
    string | null
  >
