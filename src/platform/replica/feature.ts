import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { replicaBehind, restoredLately } from './attention.ts'
import { Replica } from './service.ts'
import { getReplica } from './show.ts'

declare module '../../kernel/register.ts' {
  interface Services {
    replica: Replica
  }
}

/** It stands last in the list of features: at a stop it ships what all others have written. */
export const replicaFeature = feature({
  name: 'replica',
  operations: [getReplica],
  services: ({ config, db, wallClock }) => ({ replica: new Replica(config.replica, config.dataDir, db, wallClock) }),
  attention: [replicaBehind, restoredLately],
  schedule: [
    {
      everyMs: second,
      words: 'copying changes to the replica',
      work: ({ app }) => app.replica.tick(),
      atStop: ({ app }) => app.replica.finish(),
    },
  ],
  figures({ app: { replica, wallClock } }) {
    const { shippedAt } = replica.state
    const behind = (at: number) => Math.max(0, Math.round((wallClock() - at) / second))
    return [
      {
        name: 'berth_replica_behind_seconds',
        help: 'Age of the newest change that may not be in the replica.',
        type: 'gauge',
        samples: shippedAt === null ? [] : [{ value: behind(shippedAt) }],
      },
    ]
  },
})
