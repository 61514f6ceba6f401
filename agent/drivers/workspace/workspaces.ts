/** The file systems that instances have at /workspace, which stay when their containers are made anew. */
export interface Workspaces {
  /** Sentences for the operator about what the host lacks, each with its remedy. */
  problems(): Promise<string[]>
  /**
   * Makes the file system, which may hold `sizeBytes` and belongs to the instance's user 0. All of its space is the
   * pool's from then on. One that exists is kept, and grows if it is smaller, also while it is in use. Throws
   * `pool_full`, `no_pool`, `slot_taken`, and `workspace_busy` where the kernel cannot enlarge one in use.
   */
  create(workload: string, number: number, sizeBytes: number): Promise<void>
  /**
   * Answers the path of the file that has the file system, for the container engine to mount. It was checked, unless it
   * is mounted already. Throws `no_workspace`, `workspace_damaged`.
   */
  ready(workload: string): Promise<string>
  /** Deletes it with all that is in it; without one nothing happens. Throws `workspace_busy` while it is mounted. */
  remove(workload: string): Promise<void>
  /** The workloads that have one here, sorted. */
  list(): Promise<string[]>
}
