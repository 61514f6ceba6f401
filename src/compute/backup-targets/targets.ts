import { type TString, Type as t } from 'typebox'
import { type BackupTargetKind, backupAddress } from '../../../agent/protocol/backup.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, done, fields, line, operation, secret } from '../../kernel/api/operation.ts'
import { oneOf } from '../../kernel/api/query.ts'
import { randomToken, type Secrets } from '../../kernel/crypto/secrets.ts'
import type { Clock } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import type { AppConfig } from '../../kernel/register.ts'
import type { Registry } from '../../kernel/registry.ts'
import { count } from '../../kernel/words.ts'
import {
  type BackupTarget,
  backupTarget,
  backupTargetResponse,
  canSeparate,
  checkedReach,
  type Reach,
  reachOf,
  showTarget,
} from '../backup-target-records/model.ts'
import {
  backupTargetById,
  backupTargetsHeld,
  backupTargetsOf,
  deleteBackupTarget,
  encryptedPassword,
  encryptedSecret,
  insertBackupTarget,
  loginsAt,
  pageOfBackupTargets,
  setDefaultBackupTarget,
  updateBackupTarget,
} from '../backup-target-records/queries.ts'
import { planUsingTarget } from '../backups/plans/queries.ts'
import {
  backupById,
  backupsInTarget,
  backupsOfTarget,
  deleteBackup,
  forgetBackupsOf,
  isTargetRead,
  nameOfBackup,
} from '../backups/queries.ts'
import { mayDestroy } from '../brake/brake.ts'
import type { HeldDestruction } from '../brake/cases.ts'

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** In words, such as `The controller stores its backups`, where the feature does so in a target: it then stays. */
    usesBackupTarget?(tx: Db, targetId: string): string | undefined
  }
}

const access = { staff: ['settings:write'] } as const

const address = t.String({ minLength: 1, maxLength: 500 })
const login = t.String({ maxLength: 128 })
const secretText = secret(t.String({ maxLength: 16_384 }))
const trust = t.String({ maxLength: 16_384 })
const filled = <T extends TString>(schema: T): T => ({ ...schema, minLength: 1 })

export const listBackupTargets = operation({
  id: 'backup-targets.list',
  method: 'GET',
  path: '/admin/backup-targets',
  summary: 'The places for backups of servers, each with its last test, without secrets',
  access,
  pages: { usual: 100, most: 200 },
  response: page(backupTargetResponse),
  run: (call) => pageOfBackupTargets(call, (row) => showTarget(call.tx, row)),
})

/** Each kind has an operation of its own: what it needs differs, and a call that lacks something is told all of it. */
const adding = {
  method: 'POST',
  access,
  requiresRecentAuth: true,
  response: backupTargetResponse,
  status: 201,
  refuses: ['name_taken'],
} as const

type Given = { name: string } & Pick<Reach, 'address'> & Partial<Reach>
type Adding = { tx: Tx; body: Given; secrets: Secrets; clock: Clock; config: AppConfig }
const add =
  (kind: BackupTargetKind) =>
  ({ tx, body: { name, ...given }, secrets, clock, config }: Adding) => {
    const { secret: plain, ...reach } = checkedReach(
      kind,
      { login: '', secret: '', trust: '', ...given },
      config.localServices,
    )
    mustBeAlone(tx, kind, reach.address)
    const id = newId('bkt')
    const now = clock()
    const row = {
      ...{ id, name, kind, ...reach, createdAt: now, changedAt: now },
      encryptedSecret: encrypted(secrets, id, plain),
      encryptedPassword: secrets.encrypt(encryptedPassword.about({ id }), randomToken()),
    }
    return showTarget(
      tx,
      named('backup target', () => insertBackupTarget(tx, row)),
    )
  }

export const addRestTarget = operation({
  ...adding,
  id: 'backup-targets.add-rest',
  powers: ['moves_secrets'],
  path: '/admin/backup-targets/rest',
  summary: 'Add a REST server of restic for backups, such as `berth backup-server`; nothing is written there yet',
  past: 'Added a backup target',
  body: fields({
    name: line(80),
    address: described(address, 'Like https://backups.example.com:8000/node1/.'),
    login: t.Optional(login),
    secret: t.Optional(described(secretText, 'Its password.')),
    trust: t.Optional(described(trust, 'The certificate of an authority that not everybody trusts.')),
  }),
  example: {
    name: 'Backups in Oslo',
    address: 'https://backups.example.com:8000/node1/',
    login: 'node1',
    secret: '<password>',
  },
  run: add('rest'),
})

export const addSftpTarget = operation({
  ...adding,
  id: 'backup-targets.add-sftp',
  powers: ['moves_secrets'],
  path: '/admin/backup-targets/sftp',
  summary: 'Add a folder that SFTP reaches for backups; nothing is written there yet',
  past: 'Added a backup target',
  body: fields({
    name: line(80),
    address: described(address, 'Like sftp://backups.example.com:22/home/backups.'),
    login: described(filled(login), 'The user.'),
    secret: described(filled(secretText), 'The private key of SSH, without a passphrase.'),
    trust: described(filled(trust), 'The host key like ssh-ed25519 AAAA…, one a line.'),
  }),
  example: {
    name: 'Backups in Bergen',
    address: 'sftp://backups.example.com/home/backups',
    login: 'backups',
    secret: '<private key>',
    trust: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
  },
  run: add('sftp'),
})

export const addS3Target = operation({
  ...adding,
  id: 'backup-targets.add-s3',
  powers: ['moves_secrets'],
  path: '/admin/backup-targets/s3',
  summary: 'Add a bucket of S3 for backups; nothing is written there yet',
  past: 'Added a backup target',
  body: fields({
    name: line(80),
    address: described(address, 'Like https://s3.example.com/bucket/folder.'),
    login: described(filled(login), 'The access key.'),
    secret: described(filled(secretText), 'The secret key.'),
    trust: t.Optional(described(trust, 'The certificate of an authority that not everybody trusts.')),
  }),
  example: {
    name: 'Backups in S3',
    address: 'https://s3.example.com/backups/berth',
    login: 'AKIAEXAMPLE',
    secret: '<secret>',
  },
  run: add('s3'),
})

export const addLocalTarget = operation({
  ...adding,
  id: 'backup-targets.add-local',
  powers: ['moves_secrets'],
  path: '/admin/backup-targets/local',
  summary: 'Add a folder on nodes for backups; on each node root makes the file .berth-backups in it',
  past: 'Added a backup target',
  body: fields({ name: line(80), address: described(address, 'Like /srv/backups.') }),
  example: { name: 'Second disk', address: '/srv/backups' },
  run: add('local'),
})

/** Two targets of one place would not know of each other's work there, and restic locks each repository. */
function mustBeAlone(tx: Db, kind: BackupTargetKind, address: string, ownId?: string) {
  const other = backupTargetsOf(tx, kind).find(
    (target) => target.id !== ownId && isSamePlace(kind, target.address, address),
  )
  if (other) throw invalid({ field: 'address', message: `is that of the backup target ${other.name} already.` })
}

const isSamePlace = (kind: BackupTargetKind, one: string, other: string) => placeOf(kind, one) === placeOf(kind, other)
function placeOf(kind: BackupTargetKind, address: string): string {
  const { host, port, path } = backupAddress(kind, address)!
  return `${host.toLowerCase()} ${port} ${path.replace(/\/+$/, '')}`
}

const encrypted = (secrets: Secrets, id: string, plain: string) =>
  plain ? secrets.encrypt(encryptedSecret.about({ id }), plain) : null

/** The state that the audit log compares: no secret, also no encrypted one. */
const snapshot = ({ tx, target }: { tx: Db; target: BackupTarget }) => {
  const { test: _, ...shown } = showTarget(tx, target)
  return shown
}

export const changeBackupTarget = operation({
  id: 'backup-targets.update',
  method: 'PATCH',
  path: '/admin/backup-targets/{id}',
  summary:
    'Change a place for backups; without a secret the one that is kept stays, as long as it goes to the same host',
  past: 'Changed a backup target',
  access,
  powers: ['moves_secrets'],
  requiresRecentAuth: true,
  on: backupTarget,
  body: fields({
    name: t.Optional(line(80)),
    address: t.Optional(address),
    login: t.Optional(login),
    secret: t.Optional(secretText),
    trust: t.Optional(trust),
    ownLoginsOnly: t.Optional(described(t.Boolean(), 'A node without a login of its own does not reach it.')),
    moved: t.Optional(
      described(t.Boolean(), 'Its backups lie at the new address already, which is needed while it has some.'),
    ),
  }),
  response: backupTargetResponse,
  refuses: ['name_taken', 'in_use'],
  example: { name: 'Backups in Bergen' },
  auditSnapshot: snapshot,
  run({
    tx,
    target,
    body: { name = target.name, moved = false, ownLoginsOnly = target.ownLoginsOnly, ...given },
    secrets,
    clock,
    config,
  }) {
    if (ownLoginsOnly && !canSeparate(target.kind))
      throw invalid({ field: 'ownLoginsOnly', message: 'is not for a folder, which has no logins.' })
    if (!Object.keys(given).length)
      return showTarget(
        tx,
        named('backup target', () => updateBackupTarget(tx, target, { name, ownLoginsOnly })),
      )
    const before = reachOf(target, secrets)
    const reach = checkedReach(
      target.kind,
      { ...before, ...given, secret: given.secret || before.secret },
      config.localServices,
    )
    const isElsewhere = !isSamePlace(target.kind, before.address, reach.address)
    if (isElsewhere) mustBeAlone(tx, target.kind, reach.address, target.id)
    // A secret is sent only to the host that it was entered for: else a change of the address would disclose it.
    if (reach.secret && !given.secret && !isSameHost(target.kind, before, reach))
      throw invalid({ field: 'secret', message: 'is needed: the one that is kept is for another host or login.' })
    // So it is for the logins of its nodes.
    if (loginsAt(tx, target.id).length && !isSameHost(target.kind, before, { ...reach, login: before.login }))
      throw invalid({ field: 'address', message: 'is another host: remove the logins of its nodes first.' })
    if (isElsewhere) mustLeaveNone(tx, target, moved)
    const { secret: plain, ...rest } = reach
    const change = {
      ...{ name, ownLoginsOnly, ...rest, ...noTest, changedAt: clock() },
      ...(given.secret && { encryptedSecret: encrypted(secrets, target.id, plain) }),
    }
    return showTarget(
      tx,
      named('backup target', () => updateBackupTarget(tx, target, change)),
    )
  },
})

/** At another address its backups could not be restored, unless they were copied there. Throws `in_use`. */
function mustLeaveNone(tx: Db, target: BackupTarget, moved: boolean) {
  const { n, running } = backupsInTarget(tx, target.id)
  if (running || isTargetRead(tx, target.id)) throw atWork(target)
  if (n && !moved)
    throw new ApiError(
      'in_use',
      `${count(n, 'backup lies', 'backups lie')} in ${target.name}: at another address they could not be restored. ` +
        'Copy all of it there first and send moved=true, then test it: the test looks for them. For new backups ' +
        'elsewhere, add another target.',
    )
}

const atWork = ({ name }: BackupTarget) =>
  new ApiError('in_use', `A job is working on a backup in ${name}. Wait until it has ended.`)

const noTest = {
  ...{ testJobId: null, testNodeId: null, testStartedAt: null, testedAt: null, testFinding: null },
  ...{ testDetail: null, testSeconds: null, appendOnly: null },
}

function isSameHost(kind: BackupTargetKind, before: Reach, after: Reach): boolean {
  const hostOf = (reach: Reach) => {
    const { scheme, host, port } = backupAddress(kind, reach.address)!
    return `${scheme} ${host} ${port} ${reach.login} ${reach.trust}`
  }
  return hostOf(before) === hostOf(after)
}

export const makeDefaultTarget = operation({
  id: 'backup-targets.make-default',
  method: 'POST',
  path: '/admin/backup-targets/{id}/actions/make-default',
  summary: 'Let backups that no plan makes go to this target from now on; those that are made stay where they are',
  past: 'Changed the default backup target',
  access,
  powers: ['moves_secrets'],
  on: backupTarget,
  response: backupTargetResponse,
  auditSnapshot: snapshot,
  run: ({ tx, target }) => showTarget(tx, setDefaultBackupTarget(tx, target)),
})

export const removeBackupTarget = operation({
  id: 'backup-targets.remove',
  destroys: ['backups'],
  method: 'DELETE',
  path: '/admin/backup-targets/{id}',
  summary: 'Forget a place for backups; what lies there stays',
  past: 'Removed a backup target',
  access,
  tellsOwners: ({ name }) =>
    `The removal of the backup target ${name} was asked for: backups in it cannot be restored from here then.`,
  powers: ['loses_many'],
  on: backupTarget,
  query: {
    forgetBackups: oneOf(['true', 'false'], 'With true its backups are forgotten with it; the data there stays.'),
  },
  response: done,
  refuses: ['in_use'],
  auditSnapshot: snapshot,
  run({ tx, actor, target, query, registry, clock }) {
    const user = registry.features.flatMap(({ usesBackupTarget }) => usesBackupTarget?.(tx, target.id) ?? [])[0]
    if (user) throw new ApiError('in_use', `${user} in ${target.name}. Choose another target for them first.`)
    const plan = planUsingTarget(tx, target.id)
    if (plan)
      throw new ApiError(
        'in_use',
        `The backup plan ${plan} stores its backups in ${target.name}. Choose another target for it first.`,
      )
    const { n, running } = backupsInTarget(tx, target.id)
    if (running || isTargetRead(tx, target.id)) throw atWork(target)
    if (n && query['forgetBackups'] !== 'true')
      throw new ApiError(
        'in_use',
        `${count(n, 'backup lies', 'backups lie')} in ${target.name}. Delete them first, or send forgetBackups=true: ` +
          'then nobody can restore them from here, and the data there stays.',
      )
    if (target.removalHeld && n)
      throw new ApiError('in_use', `The removal of ${target.name} waits for a second person.`)
    const now = clock()
    const held = backupsOfTarget(tx, target.id).filter((backup) => {
      const disk = { id: backup.id, name: nameOfBackup(backup), ownerId: backup.ownerId }
      return mayDestroy(tx, actor, { kind: 'forget_backup', workloadId: backup.serverId, disk, now }).held
    })
    forgetBackupsOf(tx, target.id, held)
    if (held.length) updateBackupTarget(tx, target, { removalHeld: true })
    else deleteBackupTarget(tx, target.id)
    return {}
  },
})

/** One that somebody uses again, meanwhile, stays. */
function removeIfEmpty(tx: Tx, { features }: Pick<Registry, 'features'>, target: BackupTarget) {
  const { id } = target
  if (backupsOfTarget(tx, id).length) return
  const isUsed =
    planUsingTarget(tx, id) !== undefined ||
    features.some(({ usesBackupTarget }) => usesBackupTarget?.(tx, id) !== undefined)
  if (isUsed) return void updateBackupTarget(tx, target, { removalHeld: false })
  forgetBackupsOf(tx, id)
  deleteBackupTarget(tx, id)
}

/** The brake holds backups that were to be forgotten with their target; the target goes with the last of them. */
export const forgottenBackup: HeldDestruction = {
  kind: 'forget_backup',
  release({ tx, registry }, id) {
    deleteBackup(tx, id)
    for (const target of backupTargetsHeld(tx)) removeIfEmpty(tx, registry, target)
  },
  refuse({ tx }, id) {
    const target = backupTargetById(tx, backupById(tx, id)?.targetId ?? '')
    if (target) updateBackupTarget(tx, target, { removalHeld: false })
  },
}
