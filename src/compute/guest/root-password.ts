// A new root password, set in the running guest by its agent: nothing of it is stored then. Where no agent answers, a
// new seed has its hash: with another instance-id the guest runs its first-boot work again at its next start, and files
// stay. Until that start the hash is in the record of the server, because the seed may have to be written anew.

import { Type as t } from 'typebox'
import { nodeCommand, type Vm } from '../../../agent/protocol/wire.ts'
import { administratorOf } from '../../catalog/images/hardware.ts'
import { everybody } from '../../kernel/api/access.ts'
import { described, fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import { newRootPassword, sha512Crypt } from '../../kernel/crypto/sha512-crypt.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { type CommandSource, saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import { load, server, serverJob } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { vmOf, volumeOf } from '../server-vm/definition.ts'
import { seedForNextStart } from '../server-vm/next-start.ts'
import { withPrivateCards } from '../server-vm/private-cards.ts'
import { passwordOn } from '../server-vm/root-password.ts'
import { passwordSeedFor } from '../server-vm/seed.ts'
import { lookAtPower } from '../server-vm/steps.ts'
import { guestOf } from './queries.ts'
import { guestActions } from './states.ts'

export const resetPassword = operation({
  id: 'servers.reset-password',
  method: 'POST',
  path: '/servers/{id}/actions/reset-password',
  summary: 'Reset the root password of a server: at once where its guest agent answers, else at its next start',
  access: everybody('servers:settings'),
  requiresRecentAuth: true,
  on: server,
  body: fields({}),
  response: namedSchema('PasswordReset', {
    jobId: t.String(),
    serverId: t.String(),
    rootPassword: described(t.String(), 'In this answer only.'),
    user: described(t.String(), 'The user whose password it is.'),
    applies: described(
      t.Enum(['now', 'next_boot']),
      'now: its guest agent answers. next_boot: when it is started or restarted in the panel or by `servers.power`. ' +
        'The log of the job says what was done.',
    ),
  }),
  status: 202,
  idempotent: true,
  refuses: [...guestActions.refusalsOf('reset_password'), 'server_busy'],
  example: {},
  prepare: async () => {
    const tell = newRootPassword()
    return { tell, hash: sha512Crypt(tell) }
  },
  run({ tx, actor, target, clock, prepared: password }) {
    guestActions.mustAllowFor(tx, actor, target, 'reset_password')
    const user = administratorOf(target.os)
    const input = {
      serverId: target.id,
      nodeId: target.nodeId,
      user,
      unstored: { passwordHash: passwordOn(tx, target.os, target, password) },
    }
    const title = `Reset the ${user} password of ${target.hostname}`
    const about = serverJob(target, { by: actor, title, now: clock() })
    const jobId = startJob(tx, resettingPassword, input, about)
    const answers = target.power === 'running' && (guestOf(tx, target.id)?.agentAnswers ?? false)
    return {
      jobId,
      serverId: target.id,
      rootPassword: password.tell,
      user,
      applies: answers ? ('now' as const) : ('next_boot' as const),
    }
  },
})

type Resetting = { serverId: string; nodeId: string; user?: string; unstored: { passwordHash: string } }
/** `hadSeed`: a seed waits for the next start, and an undo leads back to it. `isPending`: it has a password. */
type Plan = { before: Vm; after: Vm; hadSeed: boolean; isPending: boolean; isWindows: boolean }

function plan(tx: Tx, serverId: string): Plan {
  const target = load(tx, serverId)
  const volume = volumeOf(target, target.diskGeneration!)
  return {
    before: vmOf(tx, target, volume, false),
    after: vmOf(tx, target, volume, true),
    hadSeed: target.pendingSeed !== null,
    isPending: target.pendingPasswordHash !== null,
    isWindows: target.os === 'windows',
  }
}

// Seeds are made when they are sent: the output of a step is stored, and they hold a hash.
const seedWith = (db: Db, serverId: string, hash: string, instance: string) =>
  withPrivateCards(db, passwordSeedFor(load(db, serverId), addressesOf(db, serverId), hash, instance))
const seedWithout = (source: CommandSource, serverId: string, instance: string) =>
  seedForNextStart(source, { ...load(source.db, serverId), pendingPasswordHash: null }, instance)

export const resettingPassword = saga<Resetting>('password', {
  title: 'Password reset',
  cancelWith: 'servers:settings',
})
  .record('plan', 'Preparing the password', { do: (tx, { input }) => plan(tx, input.serverId) })
  .command('now', 'Setting it by the guest agent', {
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'guest.set-password', {
        workload: input.serverId,
        user: input.user ?? 'root',
        hash: input.unstored.passwordHash,
      }),
  })
  .command('look', ...lookAtPower)
  .command('seed', 'Writing the data for its next start', {
    do: ({ input, out: { now, plan }, jobId }, source) => {
      const { nodeId, serverId } = input
      if (now.set && !plan.isPending) return undefined
      // The seed of an earlier reset would bring that password back. Windows would make up one of its own.
      const seed =
        now.set && !plan.isWindows
          ? seedWithout(source, serverId, `${jobId}-without`)
          : seedWith(source.db, serverId, input.unstored.passwordHash, jobId)
      return nodeCommand(nodeId, 'seed.write', seed)
    },
    undo: ({ input, out, jobId }, source) => {
      if (out.now.set && !out.plan.isPending) return undefined
      const before = load(source.db, input.serverId)
      return out.plan.hadSeed
        ? nodeCommand(input.nodeId, 'seed.write', seedForNextStart(source, before, `${jobId}-before`))
        : nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId })
    },
  })
  .command('define', 'Attaching it', {
    do: ({ input, out }) => (out.now.set ? undefined : nodeCommand(input.nodeId, 'vm.define', out.plan.after)),
    undo: ({ input, out }) => (out.now.set ? undefined : nodeCommand(input.nodeId, 'vm.define', out.plan.before)),
  })
  .record('note', 'Recording it', {
    do: (tx, { input, out, log }) => {
      const isOff = out.look.power === 'stopped' || out.look.power === 'crashed'
      updateServer(
        tx,
        input.serverId,
        out.now.set
          ? { pendingPasswordHash: null }
          : { pendingSeed: isOff ? 'next_start' : 'next_stop', pendingPasswordHash: input.unstored.passwordHash },
      )
      if (!out.now.set)
        log(
          'No guest agent set it, so the password applies when the server is started or restarted in the panel. ' +
            'A reboot from inside is not enough.',
          'warning',
        )
    },
  })
