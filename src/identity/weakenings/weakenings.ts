// The changes that weaken a protection and wait: another owner confirms one, or somebody takes it back.
import { Type as t } from 'typebox'
import { idOf, nameOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { newest, page } from '../../kernel/api/list.ts'
import { described, namedSchema, operation, type Resource, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { waits, weakeningById } from './queries.ts'
import { type Weakening, weakenings } from './tables.ts'
import { applyWeakening, decideWeakening } from './wait.ts'

const access = { staff: ['settings:write', 'staff.write'] } as const

const weakening: Resource<Weakening> = {
  name: 'weakening',
  notFound: 'weakening_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? weakeningById(tx, id) : undefined),
}

const answer = namedSchema('Weakening', {
  id: t.String(),
  title: described(t.String(), 'The setting, or what else is weakened.'),
  from: described(t.String(), 'The value that is in force, in words.'),
  to: described(t.String(), 'The value that is to be.'),
  askedBy: t.Object({ id: t.String(), name: t.String() }),
  askedAt: time,
  takesEffectAt: time,
  own: described(t.Boolean(), 'You asked for it yourself: another owner confirms it.'),
})
type Reader = { actor: Parameters<typeof idOf>[0] }
const show = ({ actor }: Reader, weakening: Weakening) => ({
  id: weakening.id,
  title: weakening.title,
  from: weakening.fromWords,
  to: weakening.toWords,
  askedBy: { id: weakening.askedBy, name: weakening.askedByName },
  askedAt: iso(weakening.askedAt),
  takesEffectAt: iso(weakening.takesEffectAt),
  own: weakening.askedBy === idOf(actor),
})

export const listWeakenings = operation({
  id: 'weakenings.list',
  method: 'GET',
  path: '/admin/weakenings',
  summary: 'The changes that weaken a protection and wait, the newest first',
  access,
  response: page(answer),
  run: (call) =>
    newest({ call, name: 'weakenings', table: weakenings, where: waits, show: (weakening) => show(call, weakening) }),
})

function mustWaitStill({ decidedAt }: Weakening) {
  if (decidedAt !== null) throw new ApiError('already_done', 'This was decided already.')
}

export const confirmWeakening = operation({
  id: 'weakenings.confirm',
  method: 'POST',
  path: '/admin/weakenings/{id}/actions/confirm',
  summary: 'Confirm a change that weakens a protection and that another person asked for: it takes effect at once',
  past: 'Confirmed a weaker protection',
  access,
  ownerOnly: 'A change that weakens a protection was confirmed by a second owner, and is in force.',
  on: weakening,
  response: answer,
  refuses: ['forbidden', 'already_done'],
  run(call) {
    const { tx, actor, target, clock } = call
    if (target.askedBy === idOf(actor))
      throw new ApiError(
        'forbidden',
        'You asked for this yourself. Another owner confirms it, or it waits for its time.',
      )
    mustWaitStill(target)
    applyWeakening(call, tx, target)
    decideWeakening(tx, target, { decision: 'confirmed', by: nameOf(actor), now: clock() })
    return show(call, target)
  },
})

export const takeBackWeakening = operation({
  id: 'weakenings.take-back',
  destroys: [],
  method: 'DELETE',
  path: '/admin/weakenings/{id}',
  summary: 'Take back a change that weakens a protection and that waits; the protection stays as it is',
  past: 'Took back a weaker protection',
  access,
  on: weakening,
  response: answer,
  refuses: ['already_done'],
  run(call) {
    const { tx, actor, target, clock } = call
    mustWaitStill(target)
    decideWeakening(tx, target, { decision: 'taken_back', by: nameOf(actor), now: clock() })
    return show(call, target)
  },
})
