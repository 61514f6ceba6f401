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
        {of.map((it) => (
          <div>
            <div class="grow">
              <b>{it.title}</b>
              <small>
                Now: {it.from}. To be: {it.to}, <Time iso={it.takesEffectAt} />.
              </small>
              <small>
                {it.askedBy.name} asked for it <Time iso={it.askedAt} />.
              </small>
            </div>
            <Decide of={it} />
          </div>
        ))}
      </div>
    </Section>
  )

function Decide({ of: it }: { of: Weakening }) {
  const { actor } = useAt()
  return (
    <>
      <Action op={takeBackWeakening} params={{ id: it.id }} label="Take back" of={it.title} done="Taken back" />
      <Action
        op={confirmWeakening}
        params={{ id: it.id }}
        label="Confirm now"
        of={it.title}
        tone="bad"
        title={`${it.title}: ${it.to} from now on?`}
        disabledReason={
          it.own
            ? 'You asked for it yourself. Another owner confirms it, or it waits for its time.'
            : !actor.isOwner && 'Only an owner confirms it.'
        }
        done="It is in force"
        confirm={{ consequences: [`It is ${it.from} now, and ${it.to} at once. All owners are told.`] }}
      />
    </>
  )
}
