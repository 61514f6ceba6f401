import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { done, operation } from '../../kernel/api/operation.ts'
import { forwardSaga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { drivesWith, ownIso } from './model.ts'
import { forgetCopy, nodesWith, updateIso } from './queries.ts'

export const removeIso = operation({
  id: 'isos.remove',
  destroys: [],
  method: 'DELETE',
  path: '/isos/{id}',
  summary: 'Remove an ISO that is in no server; nodes delete their copies',
  past: 'Removed an ISO',
  access: { staff: ['images:write'], reseller: ['servers:settings'], customer: ['servers:settings'] },
  on: ownIso,
  response: done,
  refuses: ['in_use'],
  run({ tx, target, clock, registry }) {
    const used = drivesWith({ tx, registry }, target.id)
    if (used)
      throw new ApiError(
        'in_use',
        `${target.name} is in the drive of ${used === 1 ? 'a server' : `${used} servers`}. Take it out there first.`,
      )
    const now = clock()
    updateIso(tx, target.id, { removedAt: now })
    for (const nodeId of nodesWith(tx, target.id)) {
      const about = { by: system, title: `Delete the ISO ${target.name}`, nodeId, now }
      startJob(tx, removingIso, { isoId: target.id, nodeId }, { ...about, subject: { type: 'iso', id: target.id } })
    }
    return {}
  },
})

export const removingIso = forwardSaga<{ isoId: string; nodeId: string }>('remove_iso', {
  title: 'ISO deletion',
  forStaff: true,
})
  .command('delete', 'Deleting the copy', {
    do: ({ input }) => nodeCommand(input.nodeId, 'iso.remove', { id: input.isoId }),
  })
  .record('forget', 'Recording it', { do: (tx, { input }) => forgetCopy(tx, input.isoId, input.nodeId) })
