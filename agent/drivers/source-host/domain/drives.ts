// Reads what a drive of a server is: its holder, its format and sizes, and whether it counts as a disk of the server.
import { basename } from 'node:path'
import type { SourceDrive } from '../../../protocol/values/source-hosts.ts'
import { volumeOfPath, zvolOfPath } from '../../storage/device-paths.ts'
import type { NamedDrive } from './definition.ts'
import { type Header, qcow2Header } from './qcow2-header.ts'
import { MOST_SEED_BYTES } from './script.ts'

/** The sections about a drive, by their names without its number. */
export type Found = (name: 'path' | 'real' | 'stat' | 'head' | 'label') => string | undefined
/** A volume of LVM or ZFS. */
type Volume = { pool: string; bytes: number; usedBytes: number; snapshots: number }
export type Volumes = { lvm: ReadonlyMap<string, Volume>; zfs: ReadonlyMap<string, Volume> }

const SEED_LABEL = /^(cidata|config-2)$/i
const SEED_NAME = /cloud-init|cloudinit|cidata|config|seed/i

export function driveFrom(named: NamedDrive, found: Found, volumes: Volumes, told: readonly string[]): SourceDrive {
  const path = lineOf(found('path')) ?? named.path
  const holding = named.isNetwork
    ? { ...nowhere, holder: 'network' as const, trouble: `it is on ${named.protocol ?? 'a network'}` }
    : heldAt(path, lineOf(found('real')), found, volumes)
  const head = bytesOf(found('head'))
  const checked = formatOf(named, head, holding.bytes)
  const { target, device, bus, isReadOnly } = named
  const drive = {
    ...{ target, device, bus, isReadOnly, path, holder: holding.holder, pool: holding.pool },
    format: checked.format,
    virtualBytes: checked.header?.virtualBytes ?? (checked.format === 'raw' ? holding.bytes : null),
    allocatedBytes: holding.usedBytes,
    backing: checked.header?.backing ?? null,
    snapshots: holding.snapshots + (checked.header?.snapshots ?? 0),
    trouble: holding.trouble ?? checked.trouble,
  }
  const isKnown = told.some((one) => one === path || one === lineOf(found('real')))
  return { ...drive, isSeed: isSeed(drive, { label: labelsIn(head, bytesOf(found('label'))), isKnown, told }) }
}

type Evidence = { label: readonly string[]; isKnown: boolean; told: readonly string[] }
/** A drive that the other panel names as a disk is one, unless the server can only read it. */
function isSeed(drive: Omit<SourceDrive, 'isSeed'>, { label, isKnown, told }: Evidence): boolean {
  if (drive.device === 'cdrom' || drive.isReadOnly) return true
  if (isKnown) return false
  if (label.some((one) => SEED_LABEL.test(one))) return true
  const isSmall = drive.virtualBytes !== null && drive.virtualBytes <= MOST_SEED_BYTES
  return isSmall && (told.length > 0 || SEED_NAME.test(basename(drive.path ?? '')))
}

type Holding = Pick<SourceDrive, 'holder' | 'pool' | 'trouble' | 'snapshots'> & {
  bytes: number | null
  usedBytes: number | null
}
const nowhere = { holder: 'none', pool: null, trouble: null, snapshots: 0, bytes: null, usedBytes: null } as const

function heldAt(path: string | null, real: string | undefined, found: Found, { lvm, zfs }: Volumes): Holding {
  if (path === null) return nowhere
  const [kind, first, blocks, blockBytes] = (found('stat') ?? '').trim().split(' ')
  const size = numberOf(first)
  if (size === null) return { ...nowhere, trouble: 'there is no such file or device' }
  if (kind === 'file') {
    const [many, each] = [numberOf(blocks), numberOf(blockBytes)]
    const usedBytes = many === null || each === null ? null : Math.min(many * each, Number.MAX_SAFE_INTEGER)
    return { ...nowhere, holder: 'file', bytes: size, usedBytes }
  }
  for (const [holder, volumes, name] of [
    ['zfs', zfs, zvolOfPath(path)],
    ['lvm', lvm, volumeOfPath(path)],
  ] as const) {
    const volume = name === undefined ? undefined : volumes.get(name)
    if (volume)
      return {
        ...nowhere,
        holder,
        pool: volume.pool,
        bytes: size,
        usedBytes: volume.usedBytes,
        snapshots: volume.snapshots,
      }
  }
  const isRbd = /^\/dev\/rbd(\/|\d)/.test(path) || /^\/dev\/rbd\d/.test(real ?? '')
  return { ...nowhere, holder: isRbd ? 'rbd' : 'device', bytes: size, usedBytes: null }
}

type Checked = { format: string | null; header?: Header; trouble: string | null }
/** Never by the content of a raw disk: its guest writes that. */
function formatOf({ driver, isEncrypted, isNetwork }: NamedDrive, head: Buffer, fileBytes: number | null): Checked {
  const format = driver ?? 'raw'
  if (isEncrypted) return { format, trouble: 'it is encrypted' }
  if (format !== 'qcow2' || isNetwork) return { format, trouble: null }
  if (fileBytes === null) return { format: null, trouble: null }
  const header = qcow2Header(head)
  return typeof header === 'string'
    ? { format: null, trouble: `it is no qcow2 disk as its definition says: ${header}` }
    : { format, header, trouble: header.trouble }
}

/** The labels of FAT, at the two places that it has, and of ISO 9660. */
const labelsIn = (head: Buffer, sector: Buffer): readonly string[] =>
  [
    head.subarray(43, 54),
    head.subarray(71, 82),
    ...(sector.subarray(1, 6).toString('latin1') === 'CD001' ? [sector.subarray(40, 72)] : []),
  ].map((bytes) => bytes.toString('latin1').trim())

/** Volumes from the lists of LVM and ZFS. */
export function volumesIn(lvs: string, zfs: string, zfsSnapshots: string): Volumes {
  const rows = lvs.split('\n').map((line) => line.trim().split('|'))
  const ofZfs = zfsSnapshots.split('\n').map((line) => line.split('@')[0]!)
  const counts = (names: readonly string[]) => Map.groupBy(names, (name) => name)
  const origins = counts(
    rows.flatMap(([group, , , origin]) => (origin ? [`${group}/${origin.replace(/[[\]]/g, '')}`] : [])),
  )
  const snapshots = counts(ofZfs)
  return {
    lvm: new Map(
      rows.flatMap(([group, name, size, , percent]) => {
        const bytes = numberOf(size)
        if (!group || !name || bytes === null) return []
        const share = percent && /^\d{1,3}(\.\d{1,4})?$/.test(percent) ? Number(percent) / 100 : 1
        const usedBytes = Math.round(bytes * Math.min(1, share))
        const key = `${group}/${name}`
        return [
          [key, { pool: group.slice(0, 120), bytes, usedBytes, snapshots: origins.get(key)?.length ?? 0 }] as const,
        ]
      }),
    ),
    zfs: new Map(
      zfs.split('\n').flatMap((line) => {
        const [name, size, used] = line.trim().split('\t')
        const [bytes, usedBytes] = [numberOf(size), numberOf(used)]
        if (!name || bytes === null || usedBytes === null) return []
        const volume = { pool: name.split('/')[0]!.slice(0, 120), bytes, usedBytes }
        return [[name, { ...volume, snapshots: snapshots.get(name)?.length ?? 0 }] as const]
      }),
    ),
  }
}

const lineOf = (text: string | undefined) => text?.split('\n')[0] || undefined
/** A whole number that a database can hold. */
function numberOf(text: string | undefined): number | null {
  const words = text?.trim() ?? ''
  return /^\d{1,16}$/.test(words) && Number(words) <= Number.MAX_SAFE_INTEGER ? Number(words) : null
}
const bytesOf = (hex: string | undefined) => Buffer.from((hex ?? '').replace(/[^0-9a-f]/g, ''), 'hex')
