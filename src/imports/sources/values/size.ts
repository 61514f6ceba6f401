// Sizes in our units, with bounds that no machine exceeds.
import { number, whole } from './scalars.ts'

const MOST_VCPUS = 4096
/** 64 TiB. */
const MOST_MEMORY_MB = 67_108_864
/** 1 PiB. */
const MOST_DISK_GB = 1_048_576
const MOST_MBPS = 10_000_000
/** Bytes that are still a whole number. */
const MOST_BYTES = Number.MAX_SAFE_INTEGER

const MIB = 1024 ** 2

/** Null for none, which is no number of processors. */
export const vcpus = (value: unknown): number | null => whole(value, MOST_VCPUS) || null
export const memoryMb = (value: unknown): number | null => whole(value, MOST_MEMORY_MB) || null
export const memoryMbOfBytes = (value: unknown): number | null => {
  const bytes = number(value, MOST_MEMORY_MB * MIB)
  return bytes === null ? null : Math.round(bytes / MIB) || null
}
export const swapMb = (value: unknown): number | null => whole(value, MOST_MEMORY_MB)
export const swapMbOfBytes = (value: unknown): number | null => {
  const bytes = number(value, MOST_MEMORY_MB * MIB)
  return bytes === null ? null : Math.round(bytes / MIB)
}
export const diskGb = (value: unknown): number | null => number(value, MOST_DISK_GB) || null

/** Null for no limit, and for one that is none. */
export const trafficBytes = (amount: unknown, unitBytes: number): number | null => {
  const units = number(amount, MOST_BYTES / unitBytes)
  return units ? Math.round(units * unitBytes) : null
}
/** Mbit/s, at least 1; null for no limit. */
export const speedMbps = (amount: unknown, unitMbps: number): number | null => {
  const units = number(amount, MOST_MBPS / unitMbps)
  return units ? Math.max(1, Math.round(units * unitMbps)) : null
}

export const countOf = (value: unknown): number | null => whole(value, 1_000_000)
