import { feature } from '../../kernel/feature.ts'
import { snapshotTarget } from '../snapshot-records/queries.ts'
import { deletingSnapshot, removeSnapshot } from './delete.ts'
import { changeSnapshotWords, listSnapshots } from './list.ts'
import { droppingLayer, restoreSnapshot, restoringSnapshot } from './restore.ts'
import { snapshotActions } from './states.ts'
import { takeSnapshot, takingSnapshot } from './take.ts'

const errors = {
  snapshot_not_found: {
    status: 404,
    when: 'The server has no such snapshot.',
    remedy: 'Check the id.',
  },
  snapshot_limit: {
    status: 409,
    when: 'The server has as many snapshots as its package allows, or its package has none.',
    remedy: 'Delete one first.',
  },
  snapshot_in_use: {
    status: 409,
    when: 'More than one of the disk and the other snapshots build on the snapshot.',
    remedy: 'Delete one of the snapshots that the message names first.',
  },
} as const

const ids = { snapshot: { prefix: 'snp', sample: 'before-update' } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    snapshots: { ids: typeof ids; errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  layer_in_use: 'The part of the disk is still needed.',
} as const

export const snapshotsFeature = feature({
  name: 'snapshots',
  workloadActions: [snapshotActions],
  failures,
  ids,
  errors,
  samples: { notRestorable: null, notDeletable: null, notTakeable: null },
  jobs: [takingSnapshot, restoringSnapshot, droppingLayer, deletingSnapshot],
  operations: [listSnapshots, takeSnapshot, changeSnapshotWords, restoreSnapshot, removeSnapshot],
  auditTargets: [snapshotTarget],
})
