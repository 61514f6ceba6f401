// A place for backups of servers: whoever has a node has what reaches it, so a good one is append-only.
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { Type as t } from 'typebox'
import {
  appendOnlyKinds,
  type BackupTargetKind,
  backupAddress,
  backupFindings,
  type BackupTarget as TargetOnWire,
} from '../../../agent/protocol/backup.ts'
import { nodeById, nodeNamesById } from '../../fleet/node-records/queries.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { parseSshKey } from '../../kernel/crypto/ssh-key.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { inside } from '../../kernel/net/cidr.ts'
import { chosenByOperator, disabledReason } from '../../kernel/net/egress.ts'
import { backupTargetById, encryptedLoginSecret, encryptedSecret, loginOfNode, loginsAt } from './queries.ts'
import type { BackupTarget, Finding } from './tables.ts'

export type { BackupTarget, Finding }

export const backupTarget: Resource<BackupTarget> = {
  name: 'backup target',
  notFound: 'backup_target_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? backupTargetById(tx, id) : undefined),
}

export const findings = [...backupFindings, 'not_tested'] as const
/** Each finding in words, with what to do. */
export const findingWords: Readonly<Record<Finding, string>> = {
  works: 'It takes backups and gives them back.',
  restic_missing: 'restic is not installed on the node. Install the package restic there.',
  not_prepared:
    'The folder is not prepared on the node. Mount its disk, and make the file .berth-backups in it as root.',
  unreachable: 'It does not answer the node. Check host, port and firewalls.',
  certificate: 'Its certificate is not trusted. Enter the certificate of its authority, or let it be renewed.',
  host_key: 'Its SSH host key is not the one that was entered. Make sure that it is the right host.',
  login_refused: 'It refuses the login or the secret. Enter both anew.',
  not_writable: 'The login may not write there. Change the permissions of the folder.',
  wrong_password: 'What lies there was made by another installation. Choose another folder.',
  locked: 'A backup that was broken off has left a lock. Run restic unlock there.',
  full: 'It is full. Make space, or remove old backups there.',
  slow: 'It answers too slowly for backups.',
  unreliable: 'It gave back other bytes than it was given. Do not use it before its disks are checked.',
  backups_missing:
    'The backups that were made in it are not there. Copy all of them to the new address, or change the address back.',
  failed: 'The test failed.',
  not_tested: 'The test could not be made.',
}

export const backupTargetResponse = namedSchema('BackupTarget', {
  id: t.String(),
  name: t.String(),
  kind: t.Enum(['local', 'sftp', 's3', 'rest']),
  address: t.String(),
  login: nullable(t.String()),
  trust: described(nullable(t.String()), 'The host key of SFTP, or the certificate of its authority.'),
  isDefault: described(t.Boolean(), 'Backups that no plan makes go to it.'),
  separation: described(
    t.Enum(['logins', 'folders']),
    'How its nodes are told apart. logins: each node can have a login of its own, so that a leaked one is revoked ' +
      'alone, and the target decides what it reaches. folders: each node has its own folder, unless a shared disk is ' +
      'mounted there.',
  ),
  ownLoginsOnly: described(t.Boolean(), 'A node without a login of its own does not reach it.'),
  nodeLogins: described(
    t.Array(
      namedSchema('NodeLogin', {
        node: t.Object({ id: t.String(), name: t.String() }),
        login: t.String(),
        changedAt: time,
      }),
    ),
    'The nodes that have a login of their own.',
  ),
  sharingNodes: described(
    t.Array(t.Object({ id: t.String(), name: t.String() })),
    'The nodes that use the login of the target, or none where ownLoginsOnly is set.',
  ),
  createdAt: time,
  changedAt: time,
  test: described(
    nullable(
      namedSchema('BackupTargetTest', {
        jobId: t.String(),
        node: t.Object({ id: t.String(), name: t.String() }),
        startedAt: time,
        endedAt: described(nullable(time), 'Null while it runs.'),
        finding: nullable(t.Enum(findings)),
        message: described(nullable(t.String()), 'The finding in words, with what to do.'),
        detail: described(nullable(t.String()), 'What the target or restic said.'),
        seconds: nullable(t.Number()),
        appendOnly: described(
          nullable(t.Enum(appendOnlyKinds)),
          'yes: nobody with the login of the nodes can erase a backup. unknown: the target does not tell.',
        ),
      }),
    ),
    'The last test. Null before the first, and after a change.',
  ),
})

/** All that have a login differ by it; a folder on nodes is on each node's own disk. */
export const canSeparate = (kind: BackupTargetKind): boolean => kind !== 'local'

export const showTarget = (tx: Db, row: BackupTarget) => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  address: row.address,
  login: row.login || null,
  trust: row.trust || null,
  isDefault: row.isDefault,
  ...showLogins(tx, row),
  createdAt: iso(row.createdAt),
  changedAt: iso(row.changedAt),
  test: row.testJobId === null ? null : showTest(tx, row),
})

function showLogins(tx: Db, { id, kind, ownLoginsOnly }: BackupTarget) {
  if (!canSeparate(kind)) return { separation: 'folders' as const, ownLoginsOnly, nodeLogins: [], sharingNodes: [] }
  const own = new Map(loginsAt(tx, id).map((row) => [row.nodeId, row]))
  const nodes = nodeNamesById(tx)
  return {
    separation: 'logins' as const,
    ownLoginsOnly,
    nodeLogins: nodes.flatMap((node) => {
      const row = own.get(node.id)
      return row ? [{ node, login: row.login, changedAt: iso(row.changedAt) }] : []
    }),
    sharingNodes: nodes.filter((node) => !own.has(node.id)),
  }
}

const showTest = (tx: Db, row: BackupTarget) => ({
  jobId: row.testJobId!,
  node: { id: row.testNodeId!, name: nodeById(tx, row.testNodeId!)?.name ?? '' },
  startedAt: iso(row.testStartedAt!),
  endedAt: isoOrNull(row.testedAt),
  finding: row.testFinding,
  message: row.testFinding && findingWords[row.testFinding],
  detail: row.testDetail || null,
  seconds: row.testSeconds,
  appendOnly: row.appendOnly,
})

/**
 * A target as this node gets it, with one of its repositories. For commands only: no job may hold it. Throws
 * `CommandFailed` where the node needs a login of its own and has none.
 */
export const targetOnWire = (
  tx: Db,
  target: BackupTarget,
  nodeId: string,
  secrets: Secrets,
  repository: Pick<TargetOnWire, 'repository' | 'password'>,
): TargetOnWire => ({
  kind: target.kind,
  address: target.address,
  ...credentialsFor(tx, target, nodeId, secrets),
  trust: target.trust,
  ...repository,
})

/** Of the node itself where it has some, so that what one node knows is worth nothing at another. */
function credentialsFor(tx: Db, target: BackupTarget, nodeId: string, secrets: Secrets) {
  const own = canSeparate(target.kind) ? loginOfNode(tx, target.id, nodeId) : undefined
  if (own) return { login: own.login, secret: secrets.open(encryptedLoginSecret.about(own), own.encryptedSecret) }
  if (target.ownLoginsOnly)
    throw new CommandFailed(
      'backup_login_refused',
      `${nodeById(tx, nodeId)?.name ?? 'The node'} has no login of its own at the backup target ${target.name}. Give ` +
        'it one on the page Backup targets.',
    )
  const { login, secret } = reachOf(target, secrets)
  return { login, secret }
}

/** The address and the credentials of a target. An empty text is the same as none. */
export type Reach = { address: string; login: string; secret: string; trust: string }

export function reachOf(target: BackupTarget, secrets: Secrets): Reach {
  const { address: at, login: by, trust: with_, encryptedSecret: kept } = target
  const plain = kept === null ? '' : secrets.open(encryptedSecret.about(target), kept)
  return { address: at, login: by, trust: with_, secret: plain }
}

/** A target with what the controller itself needs to use it; undefined where there is none with this id. */
export function targetWithSecret(
  tx: Db,
  secrets: Secrets,
  id: string,
): (Reach & Pick<BackupTarget, 'kind'>) | undefined {
  const target = backupTargetById(tx, id)
  return target && { ...reachOf(target, secrets), kind: target.kind }
}

/** Folders whose files the system or Berth reads, or that are gone after a restart of the node. */
const SYSTEM_FOLDERS =
  /^\/(?:bin|boot|dev|etc|lib|lib32|lib64|proc|root|run|sbin|sys|usr|var\/(?:lib|run|log|cache|tmp|spool))(?:\/|$)/

/** Not the node itself, link-local or multicast, unless the installation allows it. A name is looked up by the node. */
const mayBeAt = (name: string, localServices: readonly string[]) => {
  const host = /(^|\.)localhost$/i.test(name) ? '127.0.0.1' : name
  if (!isIP(host) || inside(host, localServices)) return true
  const url = URL.parse(`https://${host.includes(':') ? `[${host}]` : host}`)
  return url !== null && !disabledReason(url, chosenByOperator)
}

/** Lines as SSH and OpenSSL read them, without spaces around. */
const tidy = (text: string) => text.replaceAll('\r\n', '\n').trim()
const PRINTABLE_LINES = /^[\x20-\x7e\n]*$/

/** Each part in the form that is stored. Throws `validation_failed`, which names the field. */
export function checkedReach(kind: BackupTargetKind, given: Reach, localServices: readonly string[]): Reach {
  const reach = { ...given, secret: tidy(given.secret), trust: tidy(given.trust) }
  const at = backupAddress(kind, reach.address)
  if (!at) throw invalid({ field: 'address', message: addressWords[kind] })
  if (kind === 'local' && SYSTEM_FOLDERS.test(at.path))
    throw invalid({ field: 'address', message: 'is a folder of the system. Mount a disk elsewhere, such as in /srv.' })
  if (kind !== 'local' && !mayBeAt(at.host, localServices))
    throw invalid({
      field: 'address',
      message:
        'is at an address of the node itself, or at one of no host. PANEL_LOCAL_SERVICES can allow a tunnel there.',
    })
  for (const field of ['secret', 'trust'] as const)
    if (!PRINTABLE_LINES.test(reach[field])) throw invalid({ field, message: 'has characters that it cannot have.' })
  checks[kind](reach)
  return reach
}

const addressWords: Readonly<Record<BackupTargetKind, string>> = {
  local: 'must be a folder like /srv/backups. Names in it begin with a letter or digit.',
  sftp: 'must be like sftp://backups.example.com:22/home/backups, without a user.',
  s3: 'must be like https://s3.example.com/bucket/folder. http:// is for this very host only.',
  rest: 'must be like https://backups.example.com:8000/login/. http:// is for this very host only.',
}

const checks: Readonly<Record<BackupTargetKind, (reach: Reach) => void>> = {
  local(reach) {
    for (const field of ['login', 'secret', 'trust'] as const)
      if (reach[field]) throw invalid({ field, message: 'is not for a folder.' })
  },
  sftp({ login, secret, trust }) {
    if (!/^[a-z_][a-z0-9_.-]{0,31}$/.test(login))
      throw invalid({ field: 'login', message: 'must be a user of the host.' })
    if (!isPrivateKey(secret))
      throw invalid({ field: 'secret', message: 'must be a private key of SSH without a passphrase.' })
    if (!trust.split('\n').every(isHostKey))
      throw invalid({ field: 'trust', message: 'must be the host key, like ssh-ed25519 AAAA…, one a line.' })
  },
  s3({ login, secret, trust }) {
    if (!/^[A-Za-z0-9._@+=/-]{1,128}$/.test(login))
      throw invalid({ field: 'login', message: 'must be the access key.' })
    if (!/^[\x21-\x7e]{1,200}$/.test(secret)) throw invalid({ field: 'secret', message: 'must be the secret key.' })
    mustBeAuthority(trust)
  },
  rest({ login, secret, trust }) {
    if (login && !/^[A-Za-z0-9._@-]{1,128}$/.test(login)) throw invalid({ field: 'login', message: 'is no login.' })
    if (!login !== !secret)
      throw invalid({ field: login ? 'secret' : 'login', message: 'is needed: a server has both, or none.' })
    if (secret && !/^[\x21-\x7e]{1,200}$/.test(secret)) throw invalid({ field: 'secret', message: 'is no password.' })
    mustBeAuthority(trust)
  },
}

const isPrivateKey = (text: string) => /PRIVATE KEY-----/.test(text) && !!parseSshKey(`${text}\n`)?.isPrivateKey()
const isHostKey = (text: string) =>
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/]{40,2000}={0,2}$/.test(text) && !!parseSshKey(text)

function mustBeAuthority(pem: string) {
  try {
    if (pem) new X509Certificate(pem)
  } catch {
    throw invalid({ field: 'trust', message: 'must be a certificate: -----BEGIN CERTIFICATE----- and so on.' })
  }
}
