// The names that the paths of devices have for LVM and ZFS.

const MAPPER = '/dev/mapper/'

/** `group/volume` of a path such as `/dev/group/volume` and `/dev/mapper/group-volume`, where a dash is doubled. */
export function volumeOfPath(path: string): string | undefined {
  if (!path.startsWith(MAPPER)) return /^\/dev\/([^/]+\/[^/]+)$/.exec(path)?.[1]
  // No name of LVM has a slash.
  const parts = path.slice(MAPPER.length).replaceAll('--', '/').split('-')
  if (parts.length !== 2 || parts.some((part) => part === '')) return undefined
  return parts.map((part) => part.replaceAll('/', '-')).join('/')
}

/** The volume of ZFS of a path such as `/dev/zvol/pool/volume` and `/dev/pool/volume`. */
export function zvolOfPath(path: string): string | undefined {
  const name = /^\/dev\/(?:zvol\/)?([^@]+)$/.exec(path)?.[1]
  const parts = name?.split('/') ?? []
  return parts.length > 1 && parts.every((part) => part !== '') ? name : undefined
}
