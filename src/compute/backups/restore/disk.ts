import { nodeCommand, type Volume } from '../../../../agent/protocol/wire.ts'
import type { CommandSource } from '../../../kernel/jobs/saga.ts'
import { repositoryIn } from '../keys.ts'
import { backupById } from '../queries.ts'

type Reading<Plan> = { input: { nodeId: string; backupId: string }; out: { plan: Plan } }

/**
 * The step `disk` of a job that restores a backup, after its step `plan`. `into`: the volume of the plan that is made.
 * Secrets are read when the command is sent: no job holds them.
 */
export const readDisk = <Plan extends { snapshot: string; sizeBytes: number }>(into: (plan: Plan) => Volume) =>
  [
    'Reading the disk from the backup',
    {
      do: ({ input: { nodeId, backupId }, out: { plan } }: Reading<Plan>, { db, secrets }: CommandSource) =>
        nodeCommand(nodeId, 'backup.restore', {
          snapshot: plan.snapshot,
          volume: into(plan),
          sizeBytes: plan.sizeBytes,
          target: repositoryIn(db, secrets, nodeId, backupById(db, backupId)!),
        }),
      undo: ({ input, out }: Reading<Plan>) => nodeCommand(input.nodeId, 'volume.remove', into(out.plan)),
    },
  ] as const
