import { Type as t } from 'typebox'
import { type Server, server } from '../../compute/server-records/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { type Call, described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { isSshOpen } from '../firewall-records/policy.ts'
import {
  changeServerFirewall,
  putShared,
  type ServerFirewall,
  serverFirewall,
  sharedOn,
} from '../firewall-records/queries.ts'
import {
  hasService,
  type RuleBody,
  ruleBody,
  ruleFields,
  ruleFrom,
  rulesBody,
  type Service,
  serviceNames,
  services,
} from '../firewall-records/rule.ts'
import { send } from './apply.ts'
import {
  mustBeFew,
  mustBeOwners,
  mustKeepSsh,
  SHARED_PER_SERVER,
  serverFirewallResponse,
  showServerFirewall,
} from './model.ts'
import { firewallActions } from './states.ts'

const changes = {
  access: everybody('servers:settings'),
  on: server,
  auditSnapshot: ({ tx, target }: { tx: Db; target: Server }) => snapshot(tx, target.id),
} as const
const changed = namedSchema('FirewallChanged', {
  jobId: described(nullable(t.String()), 'The job that brings it to the node; null: nothing is installed.'),
  firewall: serverFirewallResponse,
})
const acceptClosedSsh = t.Optional(
  described(t.Boolean(), 'True: the change is made although nobody can begin an SSH connection afterwards.'),
)
const refusals = [...firewallActions.refusalsOf('firewall'), 'limit_reached', 'ssh_closed'] as const

/** The part of the firewall that people change, for the audit log. */
function snapshot(tx: Db, id: string): Record<string, unknown> {
  const { enabled, defaultIn, defaultOut, rules } = serverFirewall(tx, id)
  const shared = sharedOn(tx, id).map(({ name }) => name)
  return { enabled, defaultIn, defaultOut, rules, shared }
}

export const getServerFirewall = operation({
  id: 'servers.firewall',
  method: 'GET',
  path: '/servers/{id}/firewall',
  summary: 'The firewall of a server: its rules, those of shared firewalls, and what they counted',
  access: everybody('servers:read'),
  on: server,
  response: serverFirewallResponse,
  run: ({ tx, target }) => showServerFirewall(tx, target),
})

export const changeFirewall = operation({
  ...changes,
  id: 'servers.change-firewall',
  method: 'PATCH',
  path: '/servers/{id}/firewall',
  summary: 'Change the firewall of a server: switch it on or off, set its defaults, rules and shared firewalls',
  body: fields({
    enabled: t.Optional(t.Boolean()),
    defaultIn: t.Optional(t.Enum(['accept', 'drop'])),
    defaultOut: t.Optional(t.Enum(['accept', 'drop'])),
    rules: t.Optional(described(rulesBody, 'All rules in their order; they replace the present ones.')),
    firewallIds: t.Optional(
      described(
        t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: SHARED_PER_SERVER }),
        'Shared firewalls, in order.',
      ),
    ),
    acceptClosedSsh,
  }),
  response: changed,
  status: 202,
  idempotent: true,
  refuses: refusals,
  example: { enabled: true, rules: [{ direction: 'in', action: 'accept', protocol: 'tcp', ports: ['22'] }] },
  run(call) {
    const { body, tx, target } = call
    const { firewallIds, rules, acceptClosedSsh: accepted, ...given } = body
    if (firewallIds) mustBeOwners(tx, target.ownerId, firewallIds)
    const next = { ...given, ...(rules && { rules: rules.map(ruleFrom) }) }
    return change(call, next, { accepted, ...(firewallIds && { shared: [...new Set(firewallIds)] }) })
  },
})

export const addFirewallRule = operation({
  ...changes,
  id: 'servers.add-firewall-rule',
  method: 'POST',
  path: '/servers/{id}/firewall/rules',
  summary: 'Add a firewall rule to a server; at the end, or at a given place',
  body: fields({
    ...ruleFields,
    place: t.Optional(described(t.Integer({ minimum: 1, maximum: 50 }), '1 is the first; the end without it.')),
    acceptClosedSsh,
  }),
  response: changed,
  status: 202,
  idempotent: true,
  refuses: refusals,
  example: {
    name: 'Web',
    direction: 'in' as const,
    action: 'accept' as const,
    protocol: 'tcp' as const,
    ports: ['80', '443'],
  },
  run(call) {
    const { place, acceptClosedSsh: accepted, ...given } = call.body
    const { rules } = serverFirewall(call.tx, call.target.id)
    return change(call, { rules: rules.toSpliced((place ?? rules.length + 1) - 1, 0, ruleFrom(given)) }, { accepted })
  },
})

export const changeFirewallRule = operation({
  ...changes,
  id: 'servers.change-firewall-rule',
  method: 'PUT',
  path: '/servers/{id}/firewall/rules/{ruleId}',
  summary: 'Change a firewall rule of a server; it can also move to another place',
  body: fields({
    ...ruleBody.properties,
    place: t.Optional(described(t.Integer({ minimum: 1, maximum: 50 }), '1 is the first; the present one without it.')),
    acceptClosedSsh,
  }),
  response: changed,
  status: 202,
  refuses: [...refusals, 'rule_not_found'],
  example: {
    direction: 'in' as const,
    action: 'accept' as const,
    protocol: 'tcp' as const,
    ports: ['22'],
    remotes: ['192.0.2.0/24'],
  },
  run(call) {
    const { place, acceptClosedSsh: accepted, ...given } = call.body
    const { at, rules } = find(call.tx, call.target, call.params['ruleId'])
    const next = { ...ruleFrom(given as RuleBody), id: rules[at]!.id }
    return change(call, { rules: rules.toSpliced(at, 1).toSpliced((place ?? at + 1) - 1, 0, next) }, { accepted })
  },
})

export const removeFirewallRule = operation({
  ...changes,
  id: 'servers.remove-firewall-rule',
  destroys: [],
  method: 'DELETE',
  path: '/servers/{id}/firewall/rules/{ruleId}',
  summary: 'Remove a firewall rule from a server; 409 where it was the last that let SSH in',
  response: changed,
  status: 202,
  refuses: [...refusals, 'rule_not_found'],
  run(call) {
    const { at, rules } = find(call.tx, call.target, call.params['ruleId'])
    return change(call, { rules: rules.toSpliced(at, 1) }, { accepted: false })
  },
})

export const allowServices = operation({
  ...changes,
  id: 'servers.allow-services',
  method: 'POST',
  path: '/servers/{id}/firewall/actions/allow-services',
  summary: 'Let everybody reach services of a server: adds ready-made rules and switches its firewall on',
  past: 'Opened services in the firewall',
  body: fields({ services: t.Array(t.Enum(serviceNames), { minItems: 1, maxItems: serviceNames.length }) }),
  response: changed,
  status: 202,
  idempotent: true,
  refuses: refusals,
  example: { services: ['ssh', 'http', 'https'] as Service[] },
  run(call) {
    const { rules } = serverFirewall(call.tx, call.target.id)
    const added = serviceNames.filter((name) => call.body.services.includes(name) && !hasService(rules, name))
    const ready = added.map((name) => {
      const { ports = [], ...rest }: { name: string; protocol: RuleBody['protocol']; ports?: readonly string[] } =
        services[name]
      return ruleFrom({ direction: 'in', action: 'accept', ...rest, ports: [...ports] } as RuleBody)
    })
    return change(call, { enabled: true, rules: [...rules, ...ready] }, { accepted: false })
  },
})

function find(tx: Db, target: Server, ruleId: string | undefined) {
  const { rules } = serverFirewall(tx, target.id)
  const at = rules.findIndex(({ id }) => id === ruleId)
  if (at < 0)
    throw new ApiError('rule_not_found', 'The firewall of this server has no such rule. It may have been removed.')
  return { at, rules }
}

/** Throws what the server's state refuses, `limit_reached` and `ssh_closed`. */
function change(
  { tx, actor, target, clock }: Pick<Call<Server>, 'tx' | 'actor' | 'target' | 'clock'>,
  next: Partial<ServerFirewall>,
  { accepted, shared }: { accepted?: boolean | undefined; shared?: string[] },
) {
  firewallActions.mustAllowFor(tx, actor, target, 'firewall')
  mustBeFew(next.rules ?? [])
  const before = serverFirewall(tx, target.id)
  const wasOpen = isSshOpen(tx, target.id)
  if (shared) putShared(tx, target.id, shared)
  changeServerFirewall(tx, target.id, next)
  mustKeepSsh(tx, before, wasOpen, accepted)
  const jobId = send(tx, target, { by: actor, now: clock() })
  return { jobId, firewall: showServerFirewall(tx, target) }
}
