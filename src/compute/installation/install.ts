// The first installation of a server, at its order or when its owner sets it up. The two differ in the state to which a
// failure returns the server. A reinstallation is a saga of its own (reinstall.ts), because there a system exists that
// must survive a failure.
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { noteStartupScript, watchGuest } from '../guest/queries.ts'
import { noteSeen } from '../guest/seen.ts'
import { inEvent, load } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { startVm } from '../server-vm/steps.ts'
import { tellFailed } from './failed.ts'
import { type Installing, NO_ANSWER, planInstallation, secretsIn, startupScriptIn } from './plan.ts'
import {
  awaitBoot,
  defineNew,
  fetchImage,
  loadNetworkRules,
  makeDisk,
  readsLater,
  removeSeed,
  writeSeed,
} from './steps.ts'

const firstInstallation = (kind: string, title: string, afterFailure: 'failed' | 'pending_setup') =>
  saga<Installing>(kind, {
    title,
    lane: 'build',
    cancelWith: 'servers:reinstall',
    secrets: secretsIn,
    retry: () => (afterFailure === 'failed' ? 'reinstall' : 'setup'),
  })
    .record('plan', 'Planning the installation', {
      do: (tx, { input, jobId }) => {
        changeWorkload(tx, input.serverId, { lifecycle: 'provisioning', failure: null })
        updateServer(tx, input.serverId, { ...input.hardware, bootFirst: 'disk' })
        return planInstallation(tx, load(tx, input.serverId), input, jobId)
      },
      // The server keeps its addresses: it can be installed again, or terminated, which gives them back.
      // A termination that was recorded meanwhile stays.
      undo: (tx, { input, error, now, jobId }) => {
        if (load(tx, input.serverId).lifecycle === 'terminated') return
        const reason = error?.cause ?? null
        changeWorkload(tx, input.serverId, { lifecycle: afterFailure, failure: reason, power: null })
        tellFailed(tx, { serverId: input.serverId, jobId, reason, now })
      },
      undoAtOnce: true,
    })
    .command('image', ...fetchImage)
    .command('disk', 'Making the disk', makeDisk)
    .command('seed', ...writeSeed)
    .command('firewall', ...loadNetworkRules)
    .command('define', ...defineNew)
    .command('start', ...startVm)
    .command('boot', ...awaitBoot)
    .command('unseed', ...removeSeed)
    // The last step: nothing can fail after the event, so it needs no undo.
    .record('tell', 'Ready', {
      do: (tx, { input, out, now, log, jobId }) => {
        if (out.boot.answered === 'no' || out.boot.answered === 'off') log(NO_ANSWER, 'warning')
        changeWorkload(tx, input.serverId, {
          lifecycle: 'active',
          power: 'running',
          wantedPower: 'running',
          diskGeneration: out.plan.volume.generation,
        })
        updateServer(tx, input.serverId, {
          provisionedAt: now,
          imageChecksum: out.disk.checksum ?? null,
          ...(readsLater(input) && { pendingSeed: 'next_start' }),
        })
        watchGuest(tx, input.serverId, now)
        noteSeen(tx, input.serverId, { jobId, boot: out.boot, look: out.plan.look, access: input.access, now, log })
        noteStartupScript(tx, input.serverId, startupScriptIn(input, jobId, now))
        const { concerning, data } = inEvent(tx, load(tx, input.serverId))
        emit(tx, now, 'server.provisioned', concerning, data)
      },
    })

/** Installs a new server when it is ordered with an image. */
export const installing = firstInstallation('install', 'Installation', 'failed')
/** Installs a server that waited for its owner. When it fails the server waits again. */
export const settingUp = firstInstallation('setup', 'Setup', 'pending_setup')
