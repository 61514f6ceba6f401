export type { Snapshot } from './tables.ts'
