// Official cloud images, as their distributions publish them. The checksum is read from the distribution's own list
// when an image is added, over HTTPS from the same host: a copy kept here would be stale within weeks.

export type CatalogueEntry = {
  id: string
  name: string
  url: string
  sums: string
  algorithm: 'sha256' | 'sha512'
  minDiskGb: number
}

const debian = (number: number, word: string): CatalogueEntry => ({
  id: `debian-${number}`,
  name: `Debian ${number}`,
  url: `https://cloud.debian.org/images/cloud/${word}/latest/debian-${number}-genericcloud-amd64.qcow2`,
  sums: `https://cloud.debian.org/images/cloud/${word}/latest/SHA512SUMS`,
  algorithm: 'sha512',
  minDiskGb: 3,
})
const ubuntu = (number: string): CatalogueEntry => ({
  id: `ubuntu-${number}`,
  name: `Ubuntu ${number} LTS`,
  url: `https://cloud-images.ubuntu.com/releases/${number}/release/ubuntu-${number}-server-cloudimg-amd64.img`,
  sums: `https://cloud-images.ubuntu.com/releases/${number}/release/SHA256SUMS`,
  algorithm: 'sha256',
  minDiskGb: 4,
})

export const catalogue: readonly CatalogueEntry[] = [
  debian(13, 'trixie'),
  debian(12, 'bookworm'),
  ubuntu('26.04'),
  ubuntu('24.04'),
  {
    id: 'almalinux-9',
    name: 'AlmaLinux 9',
    url: 'https://repo.almalinux.org/almalinux/9/cloud/x86_64/images/AlmaLinux-9-GenericCloud-latest.x86_64.qcow2',
    sums: 'https://repo.almalinux.org/almalinux/9/cloud/x86_64/images/CHECKSUM',
    algorithm: 'sha256',
    minDiskGb: 10,
  },
  {
    id: 'rocky-9',
    name: 'Rocky Linux 9',
    url: 'https://dl.rockylinux.org/pub/rocky/9/images/x86_64/Rocky-9-GenericCloud.latest.x86_64.qcow2',
    sums: 'https://dl.rockylinux.org/pub/rocky/9/images/x86_64/Rocky-9-GenericCloud.latest.x86_64.qcow2.CHECKSUM',
    algorithm: 'sha256',
    minDiskGb: 10,
  },
]

/**
 * Finds a file's checksum in a list as `sha256sum` prints it, or in the BSD form `SHA256 (file) = …`. Undefined when it
 * is not there.
 */
export function checksumIn(list: string, file: string, algorithm: 'sha256' | 'sha512'): string | undefined {
  const digits = algorithm === 'sha256' ? 64 : 128
  for (const text of list.slice(0, 1_000_000).split('\n')) {
    if (!text.includes(file)) continue
    const [first = '', second = ''] = text.trim().split(/\s+\*?/)
    if (second === file && first.length === digits && /^[0-9a-f]+$/i.test(first))
      return `${algorithm}:${first.toLowerCase()}`
    const after = text.startsWith(`${algorithm.toUpperCase()} (${file}) = `) ? text.split(' = ')[1]?.trim() : undefined
    if (after?.length === digits && /^[0-9a-f]+$/i.test(after)) return `${algorithm}:${after.toLowerCase()}`
  }
  return undefined
}
