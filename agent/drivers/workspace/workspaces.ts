/** The file systems that instances have at /workspace, which stay when their containers are made anew. */
export interface Workspaces {
  /**
   * Makes the file system, which may hold `sizeBytes` and belongs to the instance's user 0. One that exists is kept,
   * and grows if it is smaller, also while it is in use. Throws `pool_full`, `slot_taken`.
   */
  create(workload: string, number: number, sizeBytes: number): Promise<void>
  /** Answers the file that holds the file system, checked and ready to be mounted. Throws `no_workspace`. */
  ready(workload: string): Promise<string>
  /** Deletes it with all that is in it; without one nothing happens. Throws where a container uses it. */
  remove(workload: string): Promise<void>
  /** The workloads that have one here. */
  list(): Promise<string[]>
  /** Sentences for the operator about what the host lacks, each with its remedy. */
  problems(): Promise<string[]>
}
