// The worth of each right of staff in the hand of a token, alone and with another: a list that a person reviews. A new
// operation of these rights changes the list.
import { describe, expect, test } from 'bun:test'
import { operations, registry } from '../../../src/app/features.ts'
import type { Scope } from '../../../src/kernel/api/access.ts'
import { needsPerson, type Operation, type Power, powers } from '../../../src/kernel/api/operation.ts'
import { golden } from '../../support/golden.ts'

/** Everything that changes what is not the caller's own; a right that is added comes into the list by its name. */
const rights = [
  ...(Object.keys(registry.scopes) as Scope[]).filter((name) => name.endsWith(':write') && name !== 'account:write'),
  'servers:terminate' as const,
].toSorted()

const opens = (op: Operation, right: Scope) => op.access !== 'anyone' && !!op.access.staff?.includes(right)
const changes = operations.filter((op) => op.method !== 'GET' && !op.localOnly)
const ofToken = (right: Scope) => changes.filter((op) => opens(op, right) && !needsPerson(op, 'staff'))
const ofPeople = (right: Scope) => changes.filter((op) => opens(op, right) && needsPerson(op, 'staff'))
const powersOf = (op: Operation): readonly Power[] => op.powers ?? []
const idsOf = (ops: readonly Operation[]) => ops.map(({ id }) => id).toSorted()
const wrapped = (words: string, ids: readonly string[]) => `  ${words}: ${ids.join(', ') || 'none'}`

/** `moves_secrets (webhooks.create); …` for the operations that a token with these rights can call. */
function worth(held: readonly Scope[]): string[] {
  const ops = [...new Set(held.flatMap(ofToken))]
  return (Object.keys(powers) as Power[]).flatMap((power) => {
    const ids = idsOf(ops.filter((op) => powersOf(op).includes(power)))
    return ids.length ? [`  ${powers[power]}: ${ids.join(', ')}`] : []
  })
}

const alone = rights.flatMap((right) => [
  right,
  ...worth([right]),
  wrapped('no power of these', idsOf(ofToken(right).filter((op) => !powersOf(op).length))),
  wrapped('for a person only', idsOf(ofPeople(right))),
  '',
])
const pairs = rights.flatMap((one, i) => rights.slice(i + 1).map((other) => [one, other] as const))
/** The worth of two powers together. A pair that no two rights had before needs a sentence here. */
const meaning: Readonly<Record<string, string>> = {
  'brings_machine + gives_access': 'orders as a customer onto a machine of its own: no guest and no secret of others',
  'brings_machine + lifts_protection': 'neither helps the other: what is kept lies on nodes that keep their places',
  'brings_machine + moves_secrets':
    'tests a backup target from a machine of its own, which gets the login that nodes share, and no customer’s ' +
    'password; a target where each node has a login of its own gives it none',
  'brings_machine + runs_code': 'owns new guests on its machine, as the machine alone does; existing guests stay',
  'lifts_protection + gives_access': 'acts as a customer while less is kept; the brake counts what it destroys',
  'lifts_protection + moves_secrets': 'neither helps the other: what is sent is not what is kept shorter',
  'lifts_protection + runs_code': 'an image of the caller starts when an owner chooses it, with less kept meanwhile',
  'moves_secrets + gives_access': 'acts as a customer and hears of it elsewhere; it saw the same before',
  'moves_secrets + runs_code': 'neither helps the other: an image sees no secret of the controller',
  'runs_code + gives_access': 'reinstalls a customer’s server with its image; acting as the customer gives as much',
}
const order = Object.keys(powers)
/** The kinds of power that meet in one hand where neither right has both. */
const together = pairs.flatMap(([one, other]) => {
  const kinds = (right: Scope) => new Set(ofToken(right).flatMap(powersOf))
  const [a, b] = [kinds(one), kinds(other)]
  const met = [...a].flatMap((x) =>
    [...b].flatMap((y) =>
      x === y || b.has(x) || a.has(y)
        ? []
        : [[x, y].toSorted((p, q) => order.indexOf(p) - order.indexOf(q)).join(' + ')],
    ),
  )
  return met.length ? [`${one} with ${other}`, ...met.toSorted().map((pair) => `  ${pair}: ${meaning[pair]}`)] : []
})

test('has a sentence for every two powers that meet in one hand', () =>
  expect(together.filter((text) => text.endsWith('undefined'))).toEqual([]))
test('changes only with a line in infrastructure-rights.txt', () =>
  golden(
    'test/every/rights/infrastructure-rights.txt',
    [
      'Each right alone in the hand of a token',
      '=======================================',
      ...alone,
      'Each pair: the kinds of power that meet in one hand',
      '===================================================',
      ...together,
      '',
    ].join('\n'),
  ))

describe('what takes the place of a node, or ends more than one workload,', () => {
  const grave = changes.filter((op) => powersOf(op).some((power) => power === 'takes_place' || power === 'loses_many'))
  test('is declared by the operations that do it', () =>
    expect(idsOf(grave)).toEqual([
      'backup-targets.remove',
      'nodes.declare-lost',
      'nodes.remove',
      'nodes.remove-with-workloads',
      'nodes.renew-enrollment',
      'nodes.revoke-credential',
    ]))
  for (const op of grave)
    test(`${op.id}: is for a person who confirmed recently, and all owners are told`, () => {
      expect([op.requiresSession, op.requiresRecentAuth, !!op.tellsOwners]).toEqual([true, true, true])
      expect(rights.some((right) => ofToken(right).includes(op))).toBe(false)
    })
})
