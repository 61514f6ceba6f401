import { Type as t } from 'typebox'
import { directions } from '../../../agent/protocol/firewall.ts'
import type { Server } from '../../compute/server-records/model.ts'
import { accountResource } from '../../identity/account-records/owned.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { isSmtpAllowed, isSshOpen } from '../firewall-records/policy.ts'
import {
  firewallById,
  isInForce,
  ownerOfFirewall,
  type ServerFirewall,
  type SharedFirewall,
  serverFirewall,
  serversWith,
  sharedOn,
} from '../firewall-records/queries.ts'
import { RULES_EACH, ruleResponse } from '../firewall-records/rule.ts'

/** Shared firewalls of one account, and of one server. */
export const FIREWALLS_PER_ACCOUNT = 50
export const SHARED_PER_SERVER = 5

export const firewall = accountResource(
  { name: 'firewall', notFound: 'firewall_not_found' },
  ownerOfFirewall,
  firewallById,
)

export const firewallResponse = namedSchema('Firewall', {
  id: t.String(),
  ownerId: t.String(),
  name: t.String(),
  rules: t.Array(ruleResponse),
  serverIds: described(t.Array(t.String()), 'The servers that have it.'),
  createdAt: time,
})
export const showFirewall = (tx: Db, { createdAt, ...row }: SharedFirewall) => ({
  ...row,
  serverIds: serversWith(tx, row.id),
  createdAt: iso(createdAt),
})

const count = t.Integer()
export const serverFirewallResponse = namedSchema('ServerFirewall', {
  serverId: t.String(),
  enabled: t.Boolean(),
  defaultIn: t.Enum(['accept', 'drop']),
  defaultOut: t.Enum(['accept', 'drop']),
  rules: described(
    t.Array(ruleResponse),
    'The first rule that fits decides; those of the shared firewalls come after.',
  ),
  shared: t.Array(
    namedSchema('SharedFirewall', {
      id: t.String(),
      name: t.String(),
      rules: t.Array(ruleResponse),
      otherServers: described(t.Integer(), 'How many other servers have it.'),
    }),
  ),
  inForce: described(t.Boolean(), 'False while the last change is on its way to the node.'),
  smtpAllowed: described(t.Boolean(), 'It may connect to mail servers, on TCP port 25.'),
  counters: described(
    nullable(
      namedSchema('FirewallCounters', {
        at: time,
        rules: t.Array(t.Object({ id: t.String(), packets: count, bytes: count })),
        dropped: t.Array(t.Object({ reason: t.String(), packets: count })),
        drops: t.Array(
          t.Object({
            direction: t.Enum([...directions]),
            remote: t.String(),
            protocol: count,
            port: nullable(count),
            packets: count,
            secondsAgo: count,
          }),
        ),
      }),
    ),
    'The latest answer of the node; null: never.',
  ),
})

export function showServerFirewall(tx: Db, server: Server) {
  const firewall = serverFirewall(tx, server.id)
  const { report, reportedAt, enabled, defaultIn, defaultOut, rules } = firewall
  return {
    serverId: server.id,
    enabled,
    defaultIn,
    defaultOut,
    rules,
    shared: sharedOn(tx, server.id).map((shared) => ({
      id: shared.id,
      name: shared.name,
      rules: shared.rules,
      otherServers: serversWith(tx, shared.id).length - 1,
    })),
    inForce: isInForce(tx, firewall),
    smtpAllowed: isSmtpAllowed(tx, server),
    counters: report && { at: iso(reportedAt!), ...report },
  }
}

/** Throws `limit_reached`. */
export function mustBeFew(rules: readonly unknown[]) {
  if (rules.length > RULES_EACH)
    throw new ApiError('limit_reached', `A firewall has at most ${RULES_EACH} rules. Join some, or use a shared one.`)
}

/** Throws `ssh_closed` when nobody could begin an SSH connection any more although somebody could before. */
export function mustKeepSsh(tx: Db, before: ServerFirewall, wasOpen: boolean, accepted: boolean | undefined) {
  if (accepted || !wasOpen || isSshOpen(tx, before.id)) return
  throw new ApiError(
    'ssh_closed',
    'Nobody could sign in by SSH any more: no rule accepts TCP port 22. Add one first, or confirm that you want this.',
  )
}
/** Throws `validation_failed` for shared firewalls that are not the owner's. */
export function mustBeOwners(tx: Db, ownerId: string, ids: readonly string[]) {
  if (ids.some((id) => ownerOfFirewall(tx, id) !== ownerId))
    throw invalid({ field: 'firewallIds', message: 'must be firewalls of the server’s owner.' })
}
