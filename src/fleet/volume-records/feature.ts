import { feature } from '../../kernel/feature.ts'
import { volumeTarget } from './queries.ts'
import { volumeIntervals, volumes } from './tables.ts'

const ids = { volume: { prefix: 'vol', sample: 'data' } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'volume-records': { ids: typeof ids }
  }
}

/** The records of extra volumes: nodes are compared with them, and quotas and capacity count them. */
export const volumeRecordsFeature = feature({
  name: 'volume-records',
  ids,
  tables: [volumes, volumeIntervals],
  auditTargets: [volumeTarget],
})
