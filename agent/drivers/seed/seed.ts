import type { Seed } from '../../protocol/wire.ts'

/** cloud-init seeds, one per workload, readable only by root and the hypervisor. */
export interface Seeds {
  /** Writes the seed atomically and replaces an earlier one. */
  write(seed: Seed): Promise<void>
  /** The path of the seed's file; undefined when there is none. */
  path(workload: string): Promise<string | undefined>
  /** Deletes the seed; without one it does nothing. A vm that has it attached must be ejected before. */
  remove(workload: string): Promise<void>
}

/** The three files of a NoCloud seed by name. They are JSON, which is valid YAML, so no value can become syntax. */
export const seedFiles = ({ metaData, userData, networkConfig }: Omit<Seed, 'workload'>) => ({
  'meta-data': JSON.stringify(metaData, null, 1) + '\n',
  'user-data': '#cloud-config\n' + JSON.stringify(userData, null, 1) + '\n',
  'network-config': JSON.stringify(networkConfig, null, 1) + '\n',
})
