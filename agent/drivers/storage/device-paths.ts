// The names that the paths of devices have for LVM and ZFS.

/** `group/volume` of a path such as `/dev/group/volume` and `/dev/mapper/group-volume`, where a dash is doubled. */
export function volumeOfPath(path: string): string | undefined {
  const mapped = /^\/dev\/mapper\/((?:[^-]|--)+)-((?:[^-]|--)+)$/.exec(path)
  if (mapped)
    return mapped
      .slice(1)
      .map((part) => part.replaceAll('--', '-'))
      .join('/')
  return /^\/dev\/([^/]+\/[^/]+)$/.exec(path)?.[1]
}

/** The volume of ZFS of a path such as `/dev/zvol/pool/volume` and `/dev/pool/volume`. */
export const zvolOfPath = (path: string): string | undefined =>
  /^\/dev\/(?:zvol\/)?([^/@]+(?:\/[^/@]+)+)$/.exec(path)?.[1]
