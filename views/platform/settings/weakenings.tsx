// The changes that weaken a protection and wait, whatever asked for them.

import {
  confirmWeakening,
  type listWeakenings,
  takeBackWeakening,
} from '../../../src/identity/weakenings/weakenings.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'

type Weakening = Answers<{ w: typeof listWeakenings }>['w']['data'][number]

export const Weakenings = ({ of }: { of: readonly Weakening[] }) =>
  of.length > 0 && (
    <Section
      id="weakenings"
      title="Protections that are about to be weakened"
      words="Each takes effect at its time, unless somebody takes it back. Another owner can confirm it at once."
      flush
    >
      <div class="rows wrap">
        {of.map((weakening) => (
          <div>
            <div class="grow">
              <b>{weakening.title}</b>
              <small>
                Now: {weakening.from}. To be: {weakening.to}, <Time iso={weakening.takesEffectAt} />.
              </small>
              <small>
                {weakening.askedBy.name} asked for it <Time iso={weakening.askedAt} />.
              </small>
            </div>
            <Decide of={weakening} />
          </div>
        ))}
      </div>
    </Section>
  )

function Decide({ of: weakening }: { of: Weakening }) {
  const { actor } = useAt()
  return (
    <>
      <Action
        op={takeBackWeakening}
        params={{ id: weakening.id }}
        label="Take back"
        of={weakening.title}
        done="Taken back"
      />
      <Action
        op={confirmWeakening}
        params={{ id: weakening.id }}
        label="Confirm now"
        of={weakening.title}
        tone="bad"
        title={`${weakening.title}: ${weakening.to} from now on?`}
        disabledReason={
          weakening.own
            ? 'You asked for it yourself. Another owner confirms it, or it waits for its time.'
            : !actor.isOwner && 'Only an owner confirms it.'
        }
        done="It is in force"
        confirm={{ consequences: [`It is ${weakening.from} now, and ${weakening.to} at once. All owners are told.`] }}
      />
    </>
  )
}
