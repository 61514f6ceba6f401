import type { StoragePool } from './tables.ts'

/** From this share on a pool takes no more disks: of its data, or of its space for metadata. */
export const FULL_PERCENT = 90
/** From this share on staff are warned. */
export const WARN_PERCENT = 80

type Space = Pick<StoragePool, 'totalBytes' | 'freeBytes' | 'metadataTotalBytes' | 'metadataFreeBytes'>

const percent = (total: number | null, free: number | null): number | null =>
  total === null || free === null || total <= 0 ? null : Math.max(0, ((total - free) / total) * 100)

/** How full a pool is; null before its node has reported. */
export const usedPercent = ({ totalBytes, freeBytes }: Space) => percent(totalBytes, freeBytes)
/** The same of its space for metadata; null where it has none of its own. */
export const metadataPercent = ({ metadataTotalBytes, metadataFreeBytes }: Space) =>
  percent(metadataTotalBytes, metadataFreeBytes)
