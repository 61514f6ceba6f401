// A change that weakens a protection waits for a day, unless a second owner confirms it. Whoever took over one account
// must not be able to lift, with it, what would have stopped them; the owners are told and have the time to object.
import { nameOf, system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext, RequestContext } from '../../kernel/api/operation.ts'
import { auditLine } from '../../kernel/audit/audit.ts'
import { hour, minuteText } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { mailServer } from '../../kernel/mail/mail-server.ts'
import { tellOwners } from '../../kernel/mail/owner-notice.ts'
import { insertWeakening, updateWeakening, waitingOf, waitingUntil, weakeningById } from './queries.ts'
import type { Weakening } from './tables.ts'

const WAIT_HOURS = 24

/** A protection that a feature has, and how a weaker value of it takes effect. */
export type WeakeningKind = {
  kind: string
  apply(tx: Tx, change: Pick<Weakening, 'name' | 'value'>): void
}
declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    weakenings?: readonly WeakeningKind[]
  }
}

type WeakeningContext = Pick<RequestContext, 'actor' | 'client' | 'clock' | 'owners' | 'secrets'> &
  AppContext & { tx: Tx }
/** `from`, `to`: the values in words. */
type WeakerValue = Pick<Weakening, 'kind' | 'name' | 'title' | 'value'> & { from: string; to: string }

/**
 * Keeps a change that weakens a protection, and tells all owners, before it is made. False: it is to be made at once,
 * because a command on the host of the controller asks for it. Throws `token_not_allowed`.
 */
export function mustWait(call: WeakeningContext, { from, to, ...asked }: WeakerValue): boolean {
  const { tx, actor, client } = call
  if (actor.via.type === 'system') {
    endWait(tx, asked, { decision: 'replaced', by: nameOf(actor), now: call.clock() })
    return false
  }
  if (actor.via.type !== 'session')
    throw new ApiError(
      'token_not_allowed',
      `This weakens a protection, ${asked.title}, so a person has to do it. Sign in to the panel for it.`,
    )
  const now = call.clock()
  endWait(tx, asked, { decision: 'replaced', by: nameOf(actor), now })
  const takesEffectAt = now + WAIT_HOURS * hour
  insertWeakening(tx, {
    id: newId('wkn'),
    ...asked,
    fromWords: from,
    toWords: to,
    askedBy: actor.accountId,
    askedByName: nameOf(actor),
    askedAt: now,
    takesEffectAt,
  })
  tellOwners(tx, call, mailServer(tx, call.secrets), {
    actor,
    from: client.from,
    what:
      `A protection is to be weakened: ${asked.title}, from ${from} to ${to}. It takes effect at ` +
      `${minuteText(takesEffectAt)}. Until then it can be taken back under Settings; ` +
      'an owner who did not ask for it can confirm it at once.',
  })
  return true
}

type Ending = { decision: NonNullable<Weakening['decision']>; by: string; now: number }
/** Ends the wait of a thing's change, if there is one. */
export function endWait(tx: Tx, { kind, name }: Pick<Weakening, 'kind' | 'name'>, ending: Ending) {
  const waiting = waitingOf(tx, kind, name)
  if (waiting) decideWeakening(tx, waiting, ending)
}

export const decideWeakening = (tx: Tx, { id }: Pick<Weakening, 'id'>, { decision, by, now }: Ending) =>
  updateWeakening(tx, id, { decision, decidedByName: by, decidedAt: now })

/** Makes the change. */
export const applyWeakening = ({ registry }: Pick<AppContext, 'registry'>, tx: Tx, change: Weakening) =>
  registry.features
    .flatMap(({ weakenings = [] }) => weakenings)
    .find(({ kind }) => kind === change.kind)
    ?.apply(tx, change)

const TOOK_EFFECT = 'weakenings.take-effect'
/** Makes the changes that have waited long enough. */
export function takeEffect(db: Db, app: AppContext) {
  const now = app.clock()
  for (const { id } of waitingUntil(db, now))
    write(db, (tx) => {
      // Between the two reads somebody may have decided it.
      const change = weakeningById(tx, id)
      if (!change || change.decidedAt !== null) return
      applyWeakening(app, tx, change)
      decideWeakening(tx, change, { decision: 'in_time', by: change.askedByName, now })
      auditLine(tx, app, {
        actor: system,
        operation: TOOK_EFFECT,
        target: id,
        from: '',
        requestId: '',
        result: 'done',
        details: { askedBy: change.askedByName },
        changes: [{ field: change.title, before: change.fromWords, after: change.toWords }],
      })
    })
}
