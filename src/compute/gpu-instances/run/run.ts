// One list of steps leads to a running container: it sets up, starts, restarts, makes anew from another image, and
// unsuspends. The node gets the whole container each time and converges on it, so that a start also brings what was
// changed since.
import type { CardCheck } from '../../../../agent/protocol/gpu.ts'
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { gpuOfferById } from '../../../catalog/gpu-offers/queries.ts'
import { changeBroken, noteCheck } from '../../../fleet/gpus/queries.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { CommandFailed } from '../../../kernel/jobs/failures.ts'
import { isAnotherWaiting } from '../../../kernel/jobs/queries.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { list } from '../../../kernel/words.ts'
import { load, tell } from '../model.ts'
import { updateInstance } from '../queries.ts'
import { cardsOf, containerOf, imageFor } from './container.ts'
import { type FailedAction, noteFailed, noteStarted } from './state-changes.ts'

const GIB = 1024 ** 3
/** The command of a container has this long to end by itself. */
export const GRACE_SECONDS = 30
/** An image whose SSH does not answer in this time may still do what it should. */
const ANSWER_LIMIT_SECONDS = 120
const NO_ANSWER =
  `It runs, but its SSH did not answer within ${ANSWER_LIMIT_SECONDS} seconds. The image may need longer, or not ` +
  'allow it.'

export type RunAction = FailedAction | 'unsuspend'
/** `imageId`: the image of which it is made anew; left out: its own. */
export type Running = { instanceId: string; nodeId: string; action: RunAction; imageId?: string }
type Planned = { isNew: boolean; isRunning: boolean; imageId: string }

function plan(tx: Tx, { instanceId, action, imageId }: Running): Planned {
  const instance = load(tx, instanceId)
  changeWorkload(tx, instanceId, {
    wantedPower: 'running',
    ...(action === 'create' && { lifecycle: 'provisioning' as const, failure: null }),
  })
  return {
    isNew: instance.spell === null,
    isRunning: instance.lifecycle === 'active' && instance.power === 'running',
    imageId: imageId ?? instance.imageId,
  }
}

/** The cards that failed a check, those that took their place, and how many the instance still lacks. */
type Mended = { broken: string[]; taken: string[]; lacking: number }

/** Records the check of its cards. Broken ones are given back, and free ones of its host take their place. */
function noteAndMend(tx: Tx, { instanceId, nodeId }: Running, checked: readonly CardCheck[], now: number): Mended {
  const instance = load(tx, instanceId)
  noteCheck(tx, nodeId, [...checked], now)
  const broken = checked.flatMap(({ uuid, sellable, problems }) =>
    sellable ? [] : [`${uuid} (${problems.join(' ')})`],
  )
  return {
    broken,
    ...changeBroken(tx, instance, { model: gpuOfferById(tx, instance.offerId)!.model, wanted: instance.gpus }),
  }
}

/** Throws `card_broken` where cards failed their check and its host has no others for it. */
function mustHaveCards({ checked, rechecked }: { checked?: Mended | undefined; rechecked?: Mended | undefined }) {
  const { lacking = 0 } = rechecked ?? checked ?? {}
  if (!lacking) return
  const broken = [checked, rechecked].flatMap((mended) => mended?.broken ?? [])
  const why = broken.length ? `Cards did not pass their check: ${list(broken)}. ` : ''
  throw new CommandFailed('card_broken', `${why}Its host has no free card of the model for it.`)
}

const of = ({ instanceId }: Running) => ({ workload: instanceId })

/** Sets up, starts, restarts, or makes anew from another image. */
export const runningInstance = saga<Running, { begin: true }>('gpu_instance', {
  title: 'GPU instance start',
  lane: 'build',
  cancelWith: 'servers:reinstall',
  retry: ({ action }: Running) => (action === 'create' ? 'rebuild' : action),
})
  .record('plan', 'Planning', {
    do: (tx, { input }) => plan(tx, input),
    // Its holdings stay: it can be started again, or deleted, which gives it back.
    undo: (tx, { input: { instanceId, action }, out, error, now, jobId }) => {
      const instance = load(tx, instanceId)
      // Another job, such as that of a suspension, decides what becomes of it.
      if (instance.lifecycle === 'terminated') return
      if (error?.code === 'cancelled' && isAnotherWaiting(tx, jobId, instanceId)) return
      const began = out.begin === true
      const stays = out.plan?.isRunning === true && !began
      if (action !== 'unsuspend') noteFailed(tx, instanceId, { action, error, stays, now })
    },
    undoAtOnce: true,
  })
  .command('check', 'Checking its cards and clearing their memory', {
    do: ({ input, out }, { db }) => {
      // None are left where all were broken and its setup is tried again.
      const cards = out.plan.isNew ? cardsOf(db, { id: input.instanceId, nodeId: input.nodeId }) : []
      return cards.length ? nodeCommand(input.nodeId, 'cards.check', { cards }) : undefined
    },
  })
  .record('checked', 'Recording the check', {
    do: (tx, { input, out, now, log }) => {
      if (!out.plan.isNew) return undefined
      const mended = noteAndMend(tx, input, out.check?.cards ?? [], now)
      for (const words of mended.broken) log(`A card did not pass its check: ${words}`, 'warning')
      return mended
    },
  })
  .command('recheck', 'Checking cards that take the place of broken ones', {
    do: ({ input, out }) =>
      out.checked?.taken.length ? nodeCommand(input.nodeId, 'cards.check', { cards: out.checked.taken }) : undefined,
  })
  .record('rechecked', 'Recording that check', {
    do: (tx, { input, out, now }) => (out.recheck ? noteAndMend(tx, input, out.recheck.cards, now) : undefined),
  })
  .command('image', 'Getting the image', {
    abandonable: true,
    // The result of the check stays recorded when the job fails here.
    do: ({ input, out }, source) => {
      mustHaveCards(out)
      return nodeCommand(input.nodeId, 'container-image.ensure', imageFor(source, input.nodeId, out.plan.imageId))
    },
  })
  // Until here nothing of an instance that runs was touched.
  .record('begin', 'Beginning with the container', { do: () => true as const })
  .command('stop', 'Stopping it', {
    do: ({ input, out }) =>
      out.plan.isRunning && (input.action === 'restart' || input.action === 'rebuild')
        ? nodeCommand(input.nodeId, 'container.stop', { ...of(input), graceSeconds: GRACE_SECONDS })
        : undefined,
  })
  .command('workspace', 'Making /workspace', {
    do: ({ input }, { db }) => {
      const { number, diskGb } = load(db, input.instanceId)
      return nodeCommand(input.nodeId, 'workspace.create', { ...of(input), number, sizeBytes: diskGb * GIB })
    },
    undo: ({ input, out }) => (out.plan.isNew ? nodeCommand(input.nodeId, 'workspace.remove', of(input)) : undefined),
  })
  .command('create', 'Making the container', {
    do: ({ input, out }, source) =>
      nodeCommand(input.nodeId, 'container.create', containerOf(source, input.instanceId, out.plan.imageId)),
    undo: ({ input, out }) => (out.plan.isNew ? nodeCommand(input.nodeId, 'container.remove', of(input)) : undefined),
  })
  .command('start', 'Starting it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'container.start', of(input)),
    undo: ({ input }) => nodeCommand(input.nodeId, 'container.stop', { ...of(input), graceSeconds: 0 }),
  })
  .command('await', 'Waiting until it answers', {
    abandonable: true,
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'container.await', { ...of(input), limitSeconds: ANSWER_LIMIT_SECONDS }),
  })
  // The last step: nothing can fail after the events, so it needs no undo.
  .record('tell', 'Ready', {
    do: (tx, { input: { instanceId, action }, out, now, log }) => {
      // Its node was removed or lost, and the instance with it.
      if (!out.await) return
      // An unsuspension is not undone: that it ended is told as it is of one that ran for long.
      if (out.await.answered === 'off' && action !== 'unsuspend')
        throw new CommandFailed('container_ended', 'The container ended as soon as it was started.')
      if (out.await.answered === 'no') log(NO_ANSWER, 'warning')
      changeWorkload(tx, instanceId, { lifecycle: 'active', failure: null, power: 'running', wantedPower: 'running' })
      if (action === 'rebuild') {
        updateInstance(tx, instanceId, { imageId: out.plan.imageId })
        tell(tx, now, 'gpu_instance.image_changed', instanceId, {})
      }
      noteStarted(tx, instanceId, now, action === 'unsuspend' ? 'unsuspended' : 'requested')
    },
  })

/** Starts one that is no longer suspended, or whose deletion was refused. */
export const unsuspendingInstance = runningInstance.promised('gpu_unsuspend', 'GPU instance unsuspension')
