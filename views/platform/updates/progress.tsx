import { withdrawUpdate } from '../../../src/platform/updates/start.ts'
import { Action } from '../../components/action.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import type { Updated } from './updated.ts'

type Upgrade = NonNullable<Updated['upgrade']>
type State = Upgrade['state']

/** The steps in their order; the states in which each is the current one. */
const steps: readonly { states: readonly State[]; words: (upgrade: Upgrade) => string }[] = [
  { states: ['waiting'], words: () => 'This machine takes the request' },
  { states: ['checking'], words: ({ to }) => `${to} is verified once more` },
  { states: ['switching'], words: () => 'Changes stop, the database is copied, and the program is replaced' },
  { states: ['trying'], words: ({ to }) => `${to} runs on trial: reading goes on, and changes wait` },
]

/** An update under way. */
export function Progress({ upgrade }: { upgrade: Upgrade }) {
  const { state, from, to, by, since } = upgrade
  const at = steps.findIndex(({ states }) => states.includes(state))
  const isBack = state === 'going_back'
  return (
    <Section
      id="progress"
      title={isBack ? `Going back to ${from}` : `Update to ${to}`}
      words={
        <>
          Begun by {by} <Time iso={since} />. You may leave this page: the update goes on without it.
        </>
      }
      actions={
        state === 'waiting' && <Action op={withdrawUpdate} label="Withdraw" done="The update is withdrawn" small />
      }
    >
      {isBack ? (
        <p role="status">
          Something was wrong with {to}. Program and database of before are being put back; the history says why then.
        </p>
      ) : (
        <ol class="steps" role="status">
          {steps.map(({ words }, n) => (
            <li class={n < at ? 'done' : n === at ? 'now' : undefined} aria-current={n === at ? 'step' : undefined}>
              {words(upgrade)}
            </li>
          ))}
        </ol>
      )}
      {state === 'waiting' && (
        <p class="hint">
          If it is not taken within a minute, run <code>sudo berth upgrade FILE</code> on the machine of the controller.
        </p>
      )}
    </Section>
  )
}
