// A seed for the next start, with a root password or addresses, stays attached until the guest has booted with it, and
// is removed then: it may hold a password's hash. A guest reads it only when it is started anew, which the trigger of
// the power notes (0021_setup.sql).
import { nodeCommand, type OsFamily } from '../../../agent/protocol/wire.ts'
import { system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { minute } from '../../kernel/db/clock.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import { load, serverJob } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { noteSeedSeen, noteSeedTry, startedWithSeed } from './queries.ts'

/** Seconds that one try waits for the guest while it holds the server. */
const WAIT_SECONDS = 60
const AGAIN_MS = 10 * minute
/** Windows installs itself, restarts, and reads its data within this time. */
const WINDOWS_READS_MS = 30 * minute

/** Starts a job for each server that runs with such a seed. One that a job holds waits for the next turn. */
export function removeReadSeeds(db: Db, { clock, nodes }: Pick<AppContext, 'clock' | 'nodes'>) {
  const now = clock()
  for (const { id, nodeId, os, seenAt } of startedWithSeed(db, now - AGAIN_MS))
    if (os === 'windows' && (seenAt === null || now < seenAt + WINDOWS_READS_MS)) {
      if (seenAt === null) write(db, (tx) => noteSeedSeen(tx, id, now))
    } else if (nodes.connected(nodeId))
      write(db, (tx) => {
        const target = load(tx, id)
        const address = addressesOf(tx, id).find(({ version }) => version === 4)?.address ?? null
        noteSeedTry(tx, id, now)
        const about = serverJob(target, { by: system, title: `Remove the start data of ${target.hostname}`, now })
        try {
          startJob(tx, removingSeed, { serverId: id, nodeId, address, os }, about)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
        }
      })
}

type Removing = { serverId: string; nodeId: string; address: string | null; os?: OsFamily }
/** The time since the start of Windows says enough: it may have neither a guest agent nor SSH. */
export const removingSeed = saga<Removing>('remove_seed', {
  title: 'Start data removal',
  cancelWith: 'servers:settings',
})
  .command('boot', 'Waiting until it answers', {
    abandonable: true,
    do: ({ input: { serverId, nodeId, address, os } }) =>
      os === 'windows'
        ? undefined
        : nodeCommand(nodeId, 'vm.await', { workload: serverId, address, limitSeconds: WAIT_SECONDS }),
  })
  .command('remove', 'Removing the data of its start', {
    do: ({ input, out }) =>
      input.os === 'windows' || out.boot.answered === 'agent' || out.boot.answered === 'ssh'
        ? nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId })
        : undefined,
  })
  .record('note', 'Recording it', {
    do: (tx, { input, out }) => {
      if (out.remove) updateServer(tx, input.serverId, { pendingSeed: null, pendingPasswordHash: null })
    },
  })
