import type { Seed } from '../../protocol/wire.ts'

/** cloud-init seeds, one per workload, readable by root and the hypervisor alone. */
export interface Seeds {
  /** Writes the seed in one step, replacing what was there. */
  write(seed: Seed): Promise<void>
  /** Where the seed is, or undefined if there is none. */
  path(workload: string): Promise<string | undefined>
  remove(workload: string): Promise<void>
}

/** The three files of a NoCloud seed. They are JSON, which is YAML, so no value can become syntax. */
export const seedFiles = ({ metaData, userData, networkConfig }: Omit<Seed, 'workload'>) => ({
  'meta-data': JSON.stringify(metaData, null, 1) + '\n',
  'user-data': '#cloud-config\n' + JSON.stringify(userData, null, 1) + '\n',
  'network-config': JSON.stringify(networkConfig, null, 1) + '\n',
})
