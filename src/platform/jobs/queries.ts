import { workloadReference } from '../../compute/workloads/queries.ts'
import type { Db } from '../../kernel/db/open.ts'
import { LIKE, type Where } from '../../kernel/db/rows.ts'
import { fromNewestJobs, isJobGone } from '../../kernel/jobs/queries.ts'
import type { AuditTarget } from '../audit/target.ts'

export const jobTarget: AuditTarget = { prefix: 'job', isGone: isJobGone }

/** A search by title reads only the newest jobs; an older one is found by its id. */
const JOBS_SEARCHED = 2000

type Found = { id: string; title: string; detail: string }
/** Jobs with this in their title, or with this id, the newest first; `part` is `partOf(id)`, `where` is `seen`. */
export const searchJobs = (tx: Db, { where, values }: Where, part: string, id: string, limit: number): Found[] =>
  tx.$client
    .query<Found, (string | number)[]>(
      `SELECT j.id, j.title, j.state AS detail ${fromNewestJobs('j')} ${workloadReference.leftJoin('w', 'j.subject_id')}
       WHERE (${where}) AND (j.title ${LIKE} OR j.id = ?) ORDER BY j.id DESC LIMIT ?`,
    )
    .all(id, JOBS_SEARCHED, ...values, part, id, limit)
