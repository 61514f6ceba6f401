// A new root password, set in the running guest by its agent. Where none answers, a new seed has it: with another
// instance-id the guest runs its first-boot work again at its next start, and files stay.

import { Type as t } from 'typebox'
import { type ConfigDrive, nodeCommand, type Seed, type Vm } from '../../../../agent/protocol/wire.ts'
import { administratorOf } from '../../../catalog/images/hardware.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { described, fields, namedSchema, operation } from '../../../kernel/api/operation.ts'
import { newRootPassword, sha512Crypt } from '../../../kernel/crypto/sha512-crypt.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { addressesOf } from '../../../network/ip-pools/allocate.ts'
import { passwordOn } from '../install/order.ts'
import { vmOf, volumeOf } from '../install/plan.ts'
import { withPrivateCards } from '../install/private-cards.ts'
import { networkSeed, passwordSeedFor } from '../install/seed.ts'
import { load, server, serverJob } from '../model.ts'
import { updateServer } from '../queries.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'
import { lookAtPower } from '../vm-steps.ts'
import { guestOf } from './queries.ts'

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
  refuses: [...refusalsOf('reset_password'), 'server_busy'],
  example: {},
  prepare: async () => {
    const tell = newRootPassword()
    return { tell, hash: sha512Crypt(tell) }
  },
  run({ tx, actor, target, clock, prepared: password }) {
    mustAllowFor(tx, actor, target, 'reset_password')
    const user = administratorOf(target.os)
    const input = {
      serverId: target.id,
      nodeId: target.nodeId,
      user,
      passwordHash: passwordOn(tx, target.os, target, password),
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

type Resetting = { serverId: string; nodeId: string; user?: string; passwordHash: string }
/** `before`: the seed and the definition to which an undo leads; no seed where none was pending. */
type AnySeed = Seed | ConfigDrive
type Plan = {
  seed: AnySeed
  vm: Vm
  before: { seed: AnySeed | null; vm: Vm }
  isPending: boolean
  withoutPassword: AnySeed
}

function plan(tx: Tx, { serverId, passwordHash }: Resetting, jobId: string): Plan {
  const target = load(tx, serverId)
  const volume = volumeOf(target, target.diskGeneration!)
  const held = addressesOf(tx, serverId)
  const seed = withPrivateCards(tx, passwordSeedFor(target, held, passwordHash, jobId))
  return {
    seed,
    vm: vmOf(tx, target, volume, true),
    before: {
      seed: target.pendingSeed === null ? null : withPrivateCards(tx, networkSeed(target, held, `${jobId}-before`)),
      vm: vmOf(tx, target, volume, false),
    },
    isPending: target.pendingPasswordHash !== null,
    // Windows would make up a password of its own: there the seed has the new one.
    withoutPassword:
      target.os === 'windows'
        ? seed
        : withPrivateCards(tx, networkSeed({ ...target, pendingPasswordHash: null }, held, `${jobId}-without`)),
  }
}

export const resettingPassword = saga<Resetting>('password', { cancelWith: 'servers:settings' })
  .record('plan', 'Preparing the password', { do: (tx, { input, jobId }) => plan(tx, input, jobId) })
  .command('now', 'Setting it by the guest agent', {
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'guest.set-password', {
        workload: input.serverId,
        user: input.user ?? 'root',
        hash: input.passwordHash,
      }),
  })
  .command('look', ...lookAtPower)
  .command('seed', 'Writing the data for its next start', {
    do: ({ input, out }) => {
      if (!out.now.set) return nodeCommand(input.nodeId, 'seed.write', out.plan.seed)
      // The seed of an earlier reset would bring that password back.
      return out.plan.isPending ? nodeCommand(input.nodeId, 'seed.write', out.plan.withoutPassword) : undefined
    },
    undo: ({ input, out }) => {
      if (out.now.set && !out.plan.isPending) return undefined
      return out.plan.before.seed
        ? nodeCommand(input.nodeId, 'seed.write', out.plan.before.seed)
        : nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId })
    },
  })
  .command('define', 'Attaching it', {
    do: ({ input, out }) => (out.now.set ? undefined : nodeCommand(input.nodeId, 'vm.define', out.plan.vm)),
    undo: ({ input, out }) => (out.now.set ? undefined : nodeCommand(input.nodeId, 'vm.define', out.plan.before.vm)),
  })
  .record('note', 'Recording it', {
    do: (tx, { input, out, log }) => {
      const isOff = out.look.power === 'stopped' || out.look.power === 'crashed'
      updateServer(
        tx,
        input.serverId,
        out.now.set
          ? { pendingPasswordHash: null }
          : { pendingSeed: isOff ? 'next_start' : 'next_stop', pendingPasswordHash: input.passwordHash },
      )
      if (!out.now.set)
        log(
          'No guest agent set it, so the password applies when the server is started or restarted in the panel. ' +
            'A reboot from inside is not enough.',
          'warning',
        )
    },
  })
