// Official cloud images, as their distributions publish them. The checksum is read from the distribution's own list
// when an image is added and again from then on, over HTTPS from the same host, and its signature is verified where
// there is one: distributions publish new builds under the same address within weeks.

import type { NetworkConfigVersion } from '../hardware.ts'
import { type SigningKey, signingKeys } from './signing-keys.ts'

export type CatalogueEntry = {
  id: string
  name: string
  file: Location
  /** The list of checksums; a function: the file of the checksum beside the image. */
  sums: string | ((url: string) => string)
  algorithm: 'sha256' | 'sha512'
  signature: Signing
  /** The name of the file in a signed list, where it is not that of the address. */
  listedAs?: RegExp
  minDiskGb: number
  /** The form in which its system reads its network best. */
  networkConfig: NetworkConfigVersion
}

/**
 * Where the signature of the list is: inside it (clearsigned), or at another address. `unsigned`: why none is verified,
 * as a part of a sentence.
 */
export type Signing = { key: SigningKey; at: 'inside' | ((list: string) => string) } | { unsigned: string }
const beside = (ending: string) => (list: string) => `${list}${ending}`

/** A file whose name stays, or the newest of a directory's files, whose names carry a version. */
export type Location = string | { directory: string; name: RegExp }

const debian = (number: number, word: string): CatalogueEntry => ({
  id: `debian-${number}`,
  name: `Debian ${number}`,
  file: `https://cloud.debian.org/images/cloud/${word}/latest/debian-${number}-genericcloud-amd64.qcow2`,
  sums: `https://cloud.debian.org/images/cloud/${word}/latest/SHA512SUMS`,
  algorithm: 'sha512',
  signature: { unsigned: 'Debian does not sign the checksums of its cloud images' },
  minDiskGb: 3,
  // Debian 11 has ifupdown, later ones netplan.
  networkConfig: number < 12 ? 'v1' : 'v2',
})
const ubuntu = (number: string): CatalogueEntry => ({
  id: `ubuntu-${number}`,
  name: `Ubuntu ${number} LTS`,
  file: `https://cloud-images.ubuntu.com/releases/${number}/release/ubuntu-${number}-server-cloudimg-amd64.img`,
  sums: `https://cloud-images.ubuntu.com/releases/${number}/release/SHA256SUMS`,
  algorithm: 'sha256',
  signature: { key: signingKeys['ubuntu-cloud-images'], at: beside('.gpg') },
  minDiskGb: 4,
  networkConfig: 'v2',
})
const alma = (number: 8 | 9 | 10): CatalogueEntry => ({
  id: `almalinux-${number}`,
  name: `AlmaLinux ${number}`,
  file:
    `https://repo.almalinux.org/almalinux/${number}/cloud/x86_64/images/` +
    `AlmaLinux-${number}-GenericCloud-latest.x86_64.qcow2`,
  sums: `https://repo.almalinux.org/almalinux/${number}/cloud/x86_64/images/CHECKSUM`,
  algorithm: 'sha256',
  signature: { key: signingKeys[`almalinux-${number}`], at: beside('.asc') },
  minDiskGb: 10,
  networkConfig: 'v1',
})
const rocky = (number: number): CatalogueEntry => ({
  id: `rocky-${number}`,
  name: `Rocky Linux ${number}`,
  file:
    `https://dl.rockylinux.org/pub/rocky/${number}/images/x86_64/` +
    `Rocky-${number}-GenericCloud-Base.latest.x86_64.qcow2`,
  sums: (url) => `${url}.CHECKSUM`,
  algorithm: 'sha256',
  signature: { unsigned: 'Rocky Linux does not sign the checksums of its cloud images' },
  minDiskGb: 10,
  networkConfig: 'v1',
})
const centosStream = (number: number): CatalogueEntry => ({
  id: `centos-stream-${number}`,
  name: `CentOS Stream ${number}`,
  file:
    `https://cloud.centos.org/centos/${number}-stream/x86_64/images/` +
    `CentOS-Stream-GenericCloud-${number}-latest.x86_64.qcow2`,
  sums: (url) => `${url}.SHA256SUM`,
  algorithm: 'sha256',
  signature: { unsigned: 'CentOS is not known to sign the checksums of its cloud images' },
  minDiskGb: 10,
  networkConfig: 'v1',
})
/** Fedora builds the image of a release once, and names its list after the build. */
const fedora = (number: 43 | 44, build: string): CatalogueEntry => {
  const directory = `https://download.fedoraproject.org/pub/fedora/linux/releases/${number}/Cloud/x86_64/images`
  return {
    id: `fedora-${number}`,
    name: `Fedora ${number}`,
    file: `${directory}/Fedora-Cloud-Base-Generic-${number}-${build}.x86_64.qcow2`,
    sums: `${directory}/Fedora-Cloud-${number}-${build}-x86_64-CHECKSUM`,
    algorithm: 'sha256',
    signature: { key: signingKeys[`fedora-${number}`], at: 'inside' },
    minDiskGb: 5,
    networkConfig: 'v1',
  }
}
const leap = (number: string, file: string): CatalogueEntry => ({
  id: `opensuse-leap-${number}`,
  name: `openSUSE Leap ${number}`,
  file: `https://download.opensuse.org/distribution/leap/${number}/appliances/${file}-Minimal-VM.x86_64-Cloud.qcow2`,
  sums: (url) => `${url}.sha256`,
  algorithm: 'sha256',
  signature: { key: signingKeys.opensuse, at: beside('.asc') },
  minDiskGb: 10,
  networkConfig: 'v1',
})
const alpine = (number: string): CatalogueEntry => ({
  id: `alpine-${number}`,
  name: `Alpine Linux ${number}`,
  file: {
    directory: `https://dl-cdn.alpinelinux.org/alpine/v${number}/releases/cloud/`,
    name: new RegExp(
      `\\bnocloud_alpine-${number.replaceAll('.', '\\.')}\\.\\d{1,3}-x86_64-bios-cloudinit-r\\d{1,3}\\.qcow2`,
    ),
  },
  sums: (url) => `${url}.sha512`,
  algorithm: 'sha512',
  signature: { unsigned: 'Alpine Linux signs its image files, not their checksums, and Berth does not carry its key' },
  minDiskGb: 1,
  networkConfig: 'v1',
})

export const catalogue: readonly CatalogueEntry[] = [
  debian(13, 'trixie'),
  debian(12, 'bookworm'),
  debian(11, 'bullseye'),
  ubuntu('26.04'),
  ubuntu('24.04'),
  ubuntu('22.04'),
  alma(10),
  alma(9),
  alma(8),
  rocky(10),
  rocky(9),
  rocky(8),
  centosStream(10),
  centosStream(9),
  fedora(44, '1.7'),
  fedora(43, '1.6'),
  leap('16.0', 'Leap-16.0'),
  leap('15.6', 'openSUSE-Leap-15.6'),
  alpine('3.24'),
  alpine('3.23'),
  {
    id: 'arch',
    name: 'Arch Linux',
    file: 'https://geo.mirror.pkgbuild.com/images/latest/Arch-Linux-x86_64-cloudimg.qcow2',
    sums: (url) => `${url}.SHA256`,
    algorithm: 'sha256',
    signature: { key: signingKeys['arch-boxes'], at: beside('.sig') },
    listedAs: /^Arch-Linux-x86_64-cloudimg(-[\d.]+)?\.qcow2$/,
    minDiskGb: 3,
    networkConfig: 'v1',
  },
]

/** The entry of an image; undefined: the catalogue had it in an earlier release, or it is not from there. */
export const entryOf = (catalogueId: string | null): CatalogueEntry | undefined =>
  catalogue.find(({ id }) => id === catalogueId)
