// A member of a team, or somebody invited to it: as the owner sees the entry, and as the member does.
import { Type as t } from 'typebox'
import { type Workload, workloadById } from '../../fleet/workloads/queries.ts'
import type { Scope } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import {
  described,
  mustHave,
  namedSchema,
  nullable,
  type ReadContext,
  type Resource,
  time,
} from '../../kernel/api/operation.ts'
import { digest, randomToken } from '../../kernel/crypto/secrets.ts'
import { day, iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import type { Account } from '../account-records/model.ts'
import { accountById } from '../account-records/queries.ts'
import { canSee } from './access.ts'
import { memberByTokenHash, ownMember, updateMember } from './queries.ts'
import { opens, type Role, role, roleNames } from './role.ts'
import type { TeamMember } from './tables.ts'

/** People per account; a person with three servers counts once. */
export const PEOPLE_PER_ACCOUNT = 50
export const INVITATION_MS = 7 * day

/** Only the holder of an account manages its team; staff do not. */
const holder = <S extends Scope>(scope: S) => ({ access: { reseller: [scope], customer: [scope] } }) as const
export const reads = holder('account:read')
export const changes = holder('account:write')

/** The owner's view: entries of the own team. */
export const member: Resource<TeamMember> = {
  name: 'team member',
  notFound: 'team_member_not_found',
  find: ownMember,
}

/** A workload that the actor owns: one that is shared with the actor, or in its care, cannot be shared further. */
export const ownWorkload: Resource<Workload> = {
  name: 'server',
  notFound: 'server_not_found',
  find: (tx, actor, id) => {
    const found = workloadById(tx, id)
    return found?.ownerId === actor.accountId && canSee(tx, actor, found) ? found : undefined
  },
}

/** Throws `scope_not_allowed`: a token cannot give others a scope that it lacks. */
export const mustHold = (call: Pick<ReadContext, 'actor' | 'registry'>, wanted: Role) => mustHave(call, opens(wanted))

/** The scopes that an operation gives with a role. */
export const grantsRole = {
  grants: ({ role }: { role?: Role }) => (role && roleNames.includes(role) ? opens(role) : []),
}

const state = t.Enum(['invited', 'expired', 'member'])
export const memberResponse = namedSchema('TeamMember', {
  id: t.String(),
  email: t.String(),
  name: described(nullable(t.String()), 'Once they have accepted.'),
  state,
  role,
  server: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'Null: all servers.'),
  invitedBy: t.String(),
  createdAt: time,
  expiresAt: nullable(time),
  acceptedAt: nullable(time),
})

export function showMember(tx: Db, member: TeamMember, now: number) {
  const waits = member.acceptedAt === null
  return {
    id: member.id,
    email: member.email,
    name: member.memberId && (accountById(tx, member.memberId)?.name ?? null),
    state: !waits ? ('member' as const) : member.expiresAt > now ? ('invited' as const) : ('expired' as const),
    role: member.role,
    server: workloadNamed(tx, member.workloadId),
    invitedBy: member.invitedBy,
    createdAt: iso(member.createdAt),
    expiresAt: waits ? iso(member.expiresAt) : null,
    acceptedAt: isoOrNull(member.acceptedAt),
  }
}

/** The workload that a share is limited to; null for a share of all. */
export function workloadNamed(tx: Db, id: string | null) {
  const workload = id === null ? undefined : workloadById(tx, id)
  return workload ? { id: workload.id, name: workload.name } : null
}

// ---------------------------------------------------------------- the link in the mail
/** The token of a new link, and the columns that are stored of it. */
export function newLink(now: number) {
  const token = randomToken()
  return { token, stored: { tokenHash: digest(token), expiresAt: now + INVITATION_MS } }
}

export type Invitation = { member: TeamMember; owner: Account }

/**
 * Throws `invitation_not_valid`, with one text for an invitation that was used, withdrawn, expired or never existed.
 */
export function invitationBy(tx: Db, token: string, now: number): Invitation {
  const member = memberByTokenHash(tx, digest(token))
  const owner = member && accountById(tx, member.ownerId)
  if (!member || !owner || member.expiresAt <= now)
    throw new ApiError(
      'invitation_not_valid',
      'This invitation is no longer valid: it was used, withdrawn, or its seven days are over. Ask whoever ' +
        'sent it for a new one.',
    )
  return { member, owner }
}

/** Makes the account a member; the link is invalid from then on. */
export const becomeMember = (tx: Tx, member: TeamMember, memberId: string, now: number) =>
  void updateMember(tx, member, { memberId, acceptedAt: now, tokenHash: null })
