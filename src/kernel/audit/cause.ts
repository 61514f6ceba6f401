/** The maker of a change. `action`: the id of an operation or the kind of a job. `by`: the name of who asked for it. */
export type Cause = { action: string; by: string; jobId: string | null }
