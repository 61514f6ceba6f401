import type { ConfigDrive, Seed } from '../../protocol/wire.ts'

/** A config drive with the password of its administrator in the clear, as Windows needs it. */
export type OpenConfigDrive = Omit<ConfigDrive, 'adminPassword'> & { password?: string }
export type AnySeed = Seed | OpenConfigDrive

/** cloud-init seeds, one per workload, readable only by root and the hypervisor. */
export interface Seeds {
  /** Writes the seed atomically and replaces an earlier one. */
  write(seed: AnySeed): Promise<void>
  /** The path of the seed's file; undefined when there is none. */
  path(workload: string): Promise<string | undefined>
  /** Deletes the seed; without one it does nothing. A vm that has it attached must be ejected before. */
  remove(workload: string): Promise<void>
}

/** The label of the seed's medium, by which a guest finds it. */
export const labelOf = (seed: AnySeed) => ('form' in seed ? 'config-2' : 'cidata')

/** The files of a seed by path. */
export const filesOf = (seed: AnySeed): Record<string, string> =>
  'form' in seed ? configDriveFiles(seed) : seedFiles(seed)

/** OpenStack's layout, as cloudbase-init reads it: https://cloudbase-init.readthedocs.io (services, config drive). */
function configDriveFiles({ metaData, networkData, userData, password }: OpenConfigDrive) {
  const withPassword = { ...metaData, ...(password !== undefined && { admin_pass: password }) }
  return {
    'openstack/latest/meta_data.json': JSON.stringify(withPassword, null, 1) + '\n',
    'openstack/latest/network_data.json': JSON.stringify(networkData, null, 1) + '\n',
    ...(userData !== undefined && { 'openstack/latest/user_data': userData }),
  }
}

/** The three files of a NoCloud seed by name. They are JSON, which is valid YAML, so no value can become syntax. */
export function seedFiles({ metaData, userData, networkConfig, ownUserData }: Omit<Seed, 'workload'>) {
  const ours = '#cloud-config\n' + JSON.stringify(userData, null, 1) + '\n'
  return {
    'meta-data': JSON.stringify(metaData, null, 1) + '\n',
    'user-data': ownUserData === undefined ? ours : bothParts(ours, ownUserData),
    'network-config': JSON.stringify(networkConfig, null, 1) + '\n',
  }
}

const BOUNDARY = '==BERTH=='

/**
 * Two parts in the MIME form that cloud-init reads in order. Merging keeps every single value of the first part and
 * appends to its lists, so that the second cannot take away access or network. Base64 cannot contain the boundary.
 */
function bothParts(ours: string, own: string): string {
  const isScript = own.startsWith('#!')
  return [
    `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
    'MIME-Version: 1.0',
    '',
    ...part('text/cloud-config', ours),
    ...part(isScript ? 'text/x-shellscript' : 'text/cloud-config', own, [
      ...(isScript ? [] : ['Merge-Type: list(append)+dict(no_replace,recurse_list)+str()']),
    ]),
    `--${BOUNDARY}--`,
    '',
  ].join('\n')
}

const part = (type: string, text: string, headers: readonly string[] = []): string[] => [
  `--${BOUNDARY}`,
  `Content-Type: ${type}; charset="utf-8"`,
  'MIME-Version: 1.0',
  'Content-Transfer-Encoding: base64',
  ...headers,
  '',
  ...(Buffer.from(text)
    .toString('base64')
    .match(/.{1,76}/g) ?? []),
]
