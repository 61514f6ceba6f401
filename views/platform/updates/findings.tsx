import type { IconName } from '../../components/icon.tsx'
import { Icon } from '../../components/icon.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import type { Updated } from './updated.ts'

type Check = NonNullable<Updated['check']>
type Result = Check['findings'][number]['result']

const appearances: Record<Result, { icon: IconName; tone: 'ok' | 'muted' | 'warn' | 'bad'; words: string }> = {
  ok: { icon: 'check', tone: 'ok', words: 'Good' },
  info: { icon: 'info', tone: 'muted', words: 'Note' },
  warn: { icon: 'warning', tone: 'warn', words: 'Note' },
  bad: { icon: 'close', tone: 'bad', words: 'In the way' },
}

/** The last check of a release: what an update would do, and what is in its way. */
export const Findings = ({ check }: { check: Check }) => (
  <Section
    id="check"
    title={`What an update to ${check.version} would do`}
    words={
      <>
        Checked by {check.by} <Time iso={check.at} />.
      </>
    }
  >
    <ul class="rows">
      {check.findings.map(({ result, what, words }) => (
        <li>
          <Icon name={appearances[result].icon} class={appearances[result].tone} />
          <div class="grow">
            <b>
              <span class="sr">{appearances[result].words}: </span>
              {what}
            </b>
            <small>{words}</small>
          </div>
        </li>
      ))}
    </ul>
  </Section>
)
