import { Type as t } from 'typebox'
import { MOST_HELD } from '../../../agent/protocol/backup.ts'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { node } from '../../fleet/node-records/model.ts'
import { fields, operation, see } from '../../kernel/api/operation.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import type { Db } from '../../kernel/db/open.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import type { BackupTarget } from '../backup-target-records/model.ts'
import { backupTarget, targetOnWire } from '../backup-target-records/model.ts'
import { backupTargetById, encryptedPassword, updateBackupTarget } from '../backup-target-records/queries.ts'
import { openBackupKey } from '../backups/keys.ts'
import { newestBackupsIn } from '../backups/queries.ts'

export const testBackupTarget = operation({
  id: 'backup-targets.test',
  method: 'POST',
  path: '/admin/backup-targets/{id}/actions/test',
  summary:
    'Try a place for backups from a node: look for the backups that it made, store a few bytes, ' +
    'read them back, find whether they could be erased',
  past: 'Tested a backup target',
  access: { staff: ['settings:write'] },
  powers: ['moves_secrets'],
  on: backupTarget,
  body: fields({ nodeId: t.String({ minLength: 1, maxLength: 60 }) }),
  response: t.Object({ jobId: t.String() }),
  status: 202,
  idempotent: true,
  refuses: ['in_use'],
  example: { nodeId: '<node_id>' },
  run({ tx, actor, target, body, clock }) {
    const { id: nodeId } = see(tx, actor, node, body.nodeId, 'nodeId')
    const about = { by: actor, title: `Test the backup target ${target.name}`, holds: target.id, nodeId, now: clock() }
    return { jobId: startJob(tx, testingBackupTarget, { targetId: target.id, nodeId }, about) }
  },
})

type Input = { targetId: string; nodeId: string }
/** A change takes the earlier test away; a result that comes later is of the target before it. */
const isStill = (target: BackupTarget | undefined, jobId: string) => target?.testJobId === jobId

export const testingBackupTarget = saga<Input>('test_backup_target', {
  title: 'Backup target test',
  forStaff: true,
  cancelWith: 'settings:write',
})
  .record('begin', 'Recording the test', {
    do(tx, { input, jobId, now }) {
      const target = backupTargetById(tx, input.targetId)
      const begun = { testJobId: jobId, testNodeId: input.nodeId, testStartedAt: now, testedAt: null }
      const unknown = { testFinding: null, testDetail: null, testSeconds: null, appendOnly: null }
      if (target) updateBackupTarget(tx, target, { ...begun, ...unknown })
    },
    undo(tx, { input, jobId, now, error }) {
      const target = backupTargetById(tx, input.targetId)
      const detail = error?.message.slice(0, 300) ?? null
      if (isStill(target, jobId))
        updateBackupTarget(tx, target!, { testedAt: now, testFinding: 'not_tested', testDetail: detail })
    },
    undoAtOnce: true,
  })
  .command('test', 'Storing a few bytes and reading them back', {
    abandonable: true,
    // Secrets are read when the command is sent: no job holds them.
    do({ input, jobId }, { db, secrets }) {
      const target = backupTargetById(db, input.targetId)
      return isStill(target, jobId) ? commandFor(db, target!, input.nodeId, secrets) : undefined
    },
  })
  .record('note', 'Recording the result', {
    do(tx, { input, out, jobId, now, log }) {
      const target = backupTargetById(tx, input.targetId)
      if (!out.test || !isStill(target, jobId)) return
      const { finding, detail, seconds, appendOnly } = out.test
      log(`Found: ${finding}`, finding === 'works' ? 'info' : 'warning')
      updateBackupTarget(tx, target!, {
        ...{ testedAt: now, testFinding: finding, testDetail: detail, testSeconds: seconds, appendOnly },
      })
    },
  })

const commandFor = (db: Db, target: BackupTarget, nodeId: string, secrets: Secrets) =>
  nodeCommand(nodeId, 'backup-target.test', {
    ...targetOnWire(db, target, nodeId, secrets, {
      repository: target.id,
      password: secrets.open(encryptedPassword.about(target), target.encryptedPassword),
    }),
    // Such as after a change of its address.
    holds: newestBackupsIn(db, target.id, nodeId, MOST_HELD).map(({ ownerId, snapshot }) => ({
      repository: ownerId,
      password: openBackupKey(db, secrets, ownerId)!,
      snapshot: snapshot!,
    })),
  })
