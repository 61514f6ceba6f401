import { Icon } from '../../components/icon.tsx'
import { Empty, Facts, Section } from '../../components/section.tsx'
import { dayOf } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { notesFrom } from './notes.ts'
import type { Updated } from './updated.ts'

type Release = Updated['releases'][number]
type Props = { release: Release; updates: Updated }

/** Facts and notes of the release that is available, or of the one that runs. */
export const ReleaseFacts = ({ release: r, updates: u }: Props) => (
  <Section id="release" title={r.version} count={r.version === u.version ? 'runs here' : undefined}>
    <div class="stack">
      <Facts
        pairs
        of={[
          ['Released', dayOf(r.date)],
          ['Signed by', <>key {r.key}</>],
          ['From', `${r.minimumVersion} or later`],
          ['Size', `${bytes(r.sizeBytes)}, ${bytes(r.fileBytes)} as a release`],
          ['Changes stop for', r.version !== u.version && `about ${u.stopsSeconds} s; reading goes on`],
          [
            'Agents',
            r.version !== u.version &&
              (r.protocol === u.protocol ? `${u.version} goes on working` : 'are updated before they can be used'),
          ],
          ['File', <code>{r.file}</code>],
        ]}
      />
      {notesFrom(r.notes).map(({ title, entries }) => (
        <div>
          {title && <h3>{title}</h3>}
          <ul class="rows">
            {entries.map(({ what, words }) => (
              <li>
                <Icon
                  name={/^before/i.test(title) ? 'warning' : 'dot'}
                  class={/^before/i.test(title) ? 'warn' : 'muted'}
                />
                <div class="grow">
                  <b>{what}</b>
                  {words && <small>{words}</small>}
                </div>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  </Section>
)

export const NoRelease = ({ updates: { folder, version } }: { updates: Updated }) => (
  <Section id="release" title="No newer release is here">
    <Empty>
      {version} runs. Put the file of a release into <code>{folder}</code>, or set an address where Berth may look for
      one.
    </Empty>
  </Section>
)
