// Lighting a lamp is a job of two steps: it warms up, then it is on.
import { eq } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { ApiError } from '../../../src/kernel/api/errors.ts'
import { operation } from '../../../src/kernel/api/operation.ts'
import type { Tx } from '../../../src/kernel/db/open.ts'
import { emit } from '../../../src/kernel/jobs/outbox.ts'
import { saga } from '../../../src/kernel/jobs/saga.ts'
import { startJob } from '../../../src/kernel/jobs/start.ts'
import { changing } from './lamps.ts'
import { lamp } from './model.ts'
import { lamps } from './tables.ts'

type Lighting = { lampId: string; ownerId: string; name: string }

const turn = (tx: Tx, { lampId }: Lighting, state: 'off' | 'warming' | 'on') =>
  void tx.update(lamps).set({ state }).where(eq(lamps.id, lampId)).run()

export const lighting = saga<Lighting>('light-lamp')
  .record('warm', 'Warming up', {
    do: (tx, { input }) => turn(tx, input, 'warming'),
    undo: (tx, { input }) => turn(tx, input, 'off'),
  })
  .record('light', 'Lighting', {
    do(tx, { input, now }) {
      turn(tx, input, 'on')
      const concerning = { subject: { type: 'lamp', id: input.lampId }, customerId: input.ownerId, resellerId: null }
      emit(tx, now, 'lamp.lit', concerning, { id: input.lampId, name: input.name })
    },
    undo: (tx, { input }) => turn(tx, input, 'warming'),
  })

const lock = (id: string) => ({
  holds: id,
  busy: () => new ApiError('lamp_busy', 'This lamp is being lit. Wait until that has ended.'),
})

export const lightLamp = operation({
  id: 'lamps.light',
  method: 'POST',
  path: '/lamps/{id}/actions/light',
  summary: 'Light a lamp',
  access: changing,
  on: lamp,
  response: t.Object({ jobId: t.String(), lampId: t.String() }),
  status: 202,
  refuses: ['lamp_burning', 'lamp_busy'],
  run({ tx, actor, target, clock }) {
    if (target.state === 'on') throw new ApiError('lamp_burning', 'This lamp is on already.')
    const input = { lampId: target.id, ownerId: target.ownerId, name: target.name }
    const title = `Light ${target.name}`
    return {
      jobId: startJob(tx, lighting, input, { by: actor, title, ...lock(target.id), now: clock() }),
      lampId: target.id,
    }
  },
})
