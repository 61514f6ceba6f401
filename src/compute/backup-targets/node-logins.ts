// A login of each node at a target: what a node knows is then worth nothing at another node, and is revoked alone.
import { Type as t } from 'typebox'
import { node } from '../../fleet/node-records/model.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, fields, operation, secret, see } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import {
  type BackupTarget,
  backupTarget,
  backupTargetResponse,
  canSeparate,
  checkedReach,
  reachOf,
  showTarget,
} from '../backup-target-records/model.ts'
import { deleteLogin, encryptedLoginSecret, loginsAt, setLogin } from '../backup-target-records/queries.ts'

const nodeId = t.String({ minLength: 1, maxLength: 60 })
const changing = {
  method: 'POST',
  access: { staff: ['settings:write'] },
  requiresRecentAuth: true,
  on: backupTarget,
  response: backupTargetResponse,
  /** The state that the audit log compares: no secret, also no encrypted one. */
  auditSnapshot: ({ tx, target }: { tx: Db; target: BackupTarget }) => ({
    logins: loginsAt(tx, target.id).map(({ nodeId: id, login }) => `${id} ${login}`),
  }),
} as const

export const setNodeLogin = operation({
  ...changing,
  id: 'backup-targets.set-node-login',
  path: '/admin/backup-targets/{id}/actions/set-node-login',
  summary: 'Give a node a login of its own at a place for backups: its commands use that one from now on',
  past: 'Changed the login of a node to a backup target',
  body: fields({
    nodeId,
    login: described(t.String({ minLength: 1, maxLength: 128 }), 'The user, the access key, or the login.'),
    secret: described(
      secret(t.String({ minLength: 1, maxLength: 16_384 })),
      'The private key, the secret key, or the password. It reaches the same repositories as the login of the target.',
    ),
  }),
  refuses: ['not_possible'],
  example: { nodeId: '<node_id>', login: 'fra-01', secret: '<password>' },
  run({ tx, actor, target, body, secrets, clock, config }) {
    const to = see(tx, actor, node, body.nodeId, 'nodeId')
    if (!canSeparate(target.kind))
      throw new ApiError(
        'not_possible',
        `${target.name} is a folder on each node, which has no logins. Use a target of another kind.`,
      )
    const reach = checkedReach(
      target.kind,
      { ...reachOf(target, secrets), login: body.login, secret: body.secret },
      config.localServices,
    )
    if (reach.login === target.login)
      throw invalid({ field: 'login', message: 'is the one that the nodes share. Make one for this node alone.' })
    if (loginsAt(tx, target.id).some((one) => one.login === reach.login && one.nodeId !== to.id))
      throw invalid({ field: 'login', message: 'is that of another node. Make one for this node alone.' })
    const id = `${target.id} ${to.id}`
    setLogin(tx, {
      ...{ id, targetId: target.id, nodeId: to.id, login: reach.login, changedAt: clock() },
      encryptedSecret: secrets.encrypt(encryptedLoginSecret.about({ id }), reach.secret),
    })
    return showTarget(tx, target)
  },
})

export const removeNodeLogin = operation({
  ...changing,
  id: 'backup-targets.remove-node-login',
  path: '/admin/backup-targets/{id}/actions/remove-node-login',
  summary: 'Forget the login that a node has of its own: it uses that of the target again, where it may',
  past: 'Removed the login of a node to a backup target',
  body: fields({ nodeId }),
  refuses: ['already_done'],
  example: { nodeId: '<node_id>' },
  run({ tx, actor, target, body }) {
    const { id, name } = see(tx, actor, node, body.nodeId, 'nodeId')
    if (!deleteLogin(tx, target.id, id))
      throw new ApiError('already_done', `${name} has no login of its own at ${target.name}.`)
    return showTarget(tx, target)
  },
})
