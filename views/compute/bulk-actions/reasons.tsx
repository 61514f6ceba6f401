import { Section } from '../../components/section.tsx'
import { count } from '../../components/words.ts'

type Reason = { code: string; reason: string; count: number; names: readonly string[] }
type ReasonsProps = { of: { reasons: readonly Reason[] }; title: string; words: string }
/** Why an action is refused for some, grouped by the reason, with the first names of each. */
export const Reasons = ({ of: { reasons }, title, words }: ReasonsProps) =>
  reasons.length ? (
    <Section id="reasons" title={title} words={words}>
      <ul class="rows wrap">
        {reasons.map(({ reason, count: n, names }) => (
          <li>
            <div class="grow">
              <b>{reason}</b>
              <small>
                {names.join(', ')}
                {n > names.length && ` and ${count(n - names.length, 'other')}`}
              </small>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  ) : null
