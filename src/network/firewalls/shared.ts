// Firewalls that several servers of one owner share: a change reaches all of them.

import { Type as t } from 'typebox'
import { customer } from '../../identity/account-records/model.ts'
import { changesLibrary, readsLibrary } from '../../identity/account-records/owned.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { done, fields, line, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { count } from '../../kernel/words.ts'
import {
  countFirewalls,
  deleteFirewall,
  insertFirewall,
  pageOfFirewalls,
  serversWith,
  updateFirewall,
} from '../firewall-records/queries.ts'
import { ruleBody, ruleFrom, rulesBody } from '../firewall-records/rule.ts'
import { applyShared } from './apply.ts'
import { FIREWALLS_PER_ACCOUNT, firewall, firewallResponse, mustBeFew, showFirewall } from './model.ts'

const web = {
  name: 'Web',
  direction: 'in' as const,
  action: 'accept' as const,
  protocol: 'tcp' as const,
  ports: ['80', '443'],
}

export const createFirewall = operation({
  id: 'firewalls.create',
  method: 'POST',
  path: '/customers/{id}/firewalls',
  summary: 'Add a firewall that several servers of a customer can share',
  past: 'Added a firewall',
  access: changesLibrary,
  on: customer,
  body: fields({ name: line(60), rules: t.Optional(rulesBody) }),
  response: firewallResponse,
  status: 201,
  refuses: ['limit_reached', 'name_taken'],
  example: { name: 'web-public', rules: [web] },
  run({ tx, target, body: { name, rules = [] }, clock }) {
    if (countFirewalls(tx, target.id) >= FIREWALLS_PER_ACCOUNT)
      throw new ApiError(
        'limit_reached',
        `An account has at most ${FIREWALLS_PER_ACCOUNT} firewalls. Remove one first.`,
      )
    const row = { id: newId('fwl'), ownerId: target.id, name, rules: rules.map(ruleFrom), createdAt: clock() }
    return showFirewall(
      tx,
      named('firewall', () => insertFirewall(tx, row)),
    )
  },
})

export const listFirewalls = operation({
  id: 'firewalls.list',
  method: 'GET',
  path: '/customers/{id}/firewalls',
  summary: 'The firewalls that servers of a customer can share',
  access: readsLibrary,
  on: customer,
  response: page(firewallResponse),
  run: (call) => pageOfFirewalls(call, call.target.id, (row) => showFirewall(call.tx, row)),
})

export const getFirewall = operation({
  id: 'firewalls.get',
  method: 'GET',
  path: '/firewalls/{id}',
  summary: 'A firewall that servers share, with its rules and the servers that have it',
  access: readsLibrary,
  on: firewall,
  response: firewallResponse,
  run: ({ tx, target }) => showFirewall(tx, target),
})

export const changeSharedFirewall = operation({
  id: 'firewalls.update',
  method: 'PATCH',
  path: '/firewalls/{id}',
  summary: 'Change the name or the rules of a shared firewall, on every server that has it',
  past: 'Changed a shared firewall',
  access: changesLibrary,
  on: firewall,
  body: fields({ name: t.Optional(line(60)), rules: t.Optional(rulesBody) }),
  response: firewallResponse,
  refuses: ['name_taken'],
  example: { rules: [web] },
  run({ tx, actor, target, body: { rules, ...given }, clock }) {
    const next = { ...given, ...(rules && { rules: rules.map(ruleFrom) }) }
    const changed = named('firewall', () => updateFirewall(tx, target, next))
    if (rules) applyShared(tx, target.id, { by: actor, now: clock() })
    return showFirewall(tx, changed)
  },
})

export const addSharedRule = operation({
  id: 'firewalls.add-rule',
  method: 'POST',
  path: '/firewalls/{id}/rules',
  summary: 'Add a rule at the end of a shared firewall, on every server that has it',
  past: 'Added a rule to a shared firewall',
  access: changesLibrary,
  on: firewall,
  body: ruleBody,
  response: firewallResponse,
  refuses: ['limit_reached'],
  example: web,
  run({ tx, actor, target, body, clock }) {
    const rules = [...target.rules, ruleFrom(body)]
    mustBeFew(rules)
    const changed = updateFirewall(tx, target, { rules })
    applyShared(tx, target.id, { by: actor, now: clock() })
    return showFirewall(tx, changed)
  },
})

export const removeSharedRule = operation({
  id: 'firewalls.remove-rule',
  destroys: [],
  method: 'DELETE',
  path: '/firewalls/{id}/rules/{ruleId}',
  summary: 'Remove a rule from a shared firewall, on every server that has it',
  access: changesLibrary,
  on: firewall,
  response: firewallResponse,
  refuses: ['rule_not_found'],
  run({ tx, actor, target, params, clock }) {
    const rules = target.rules.filter(({ id }) => id !== params['ruleId'])
    if (rules.length === target.rules.length)
      throw new ApiError('rule_not_found', 'This firewall has no such rule. It may have been removed.')
    const changed = updateFirewall(tx, target, { rules })
    applyShared(tx, target.id, { by: actor, now: clock() })
    return showFirewall(tx, changed)
  },
})

export const removeFirewall = operation({
  id: 'firewalls.remove',
  destroys: [],
  method: 'DELETE',
  path: '/firewalls/{id}',
  summary: 'Remove a shared firewall that no server has',
  past: 'Removed a shared firewall',
  access: changesLibrary,
  on: firewall,
  response: done,
  refuses: ['in_use'],
  run({ tx, target }) {
    const users = serversWith(tx, target.id).length
    if (users)
      throw new ApiError(
        'in_use',
        `${count(users, 'server has', 'servers have')} this firewall. Take it off them first.`,
      )
    deleteFirewall(tx, target.id)
    return {}
  },
})
