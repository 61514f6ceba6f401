// How far the reading of a panel is.
import { Meter } from '../../components/figures.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { type Import, type ListName, listWords } from './words.tsx'

type Progress = Import['progress'][number]

export const Reading = ({ of }: { of: Import }) => (
  <Section
    id="progress"
    title="Reading"
    count={of.phase === 'applying' ? 'compared with what is here' : undefined}
    first
    words={`Nothing is changed on ${of.panel}. You may leave this page: the reading goes on, also after a restart.`}
  >
    <p class="sr" role="status">
      {of.phase === 'applying' ? 'Everything was read.' : 'The panel is being read.'}
    </p>
    <ul class="rows">
      {(Object.keys(listWords) as ListName[]).map((list) => (
        <Row
          list={list}
          progress={of.progress.find((one) => one.list === list)}
          isLast={of.progress.at(-1)?.list === list && of.phase !== 'applying'}
        />
      ))}
    </ul>
  </Section>
)

type RowProps = { list: ListName; progress: Progress | undefined; isLast: boolean }
function Row({ list, progress, isLast }: RowProps) {
  const look: { tone: Tone; shape: IconName; words: string } = !progress
    ? { tone: 'idle', shape: 'wait', words: 'Waiting' }
    : isLast
      ? { tone: 'work', shape: 'work', words: 'Reading' }
      : { tone: 'ok', shape: 'tick', words: 'Read' }
  return (
    <li>
      <div class="grow">
        {progress?.total ? (
          <Meter
            label={listWords[list][1]}
            value={progress.read}
            total={progress.total}
            words={`${progress.read.toLocaleString('en')} of ${progress.total.toLocaleString('en')}`}
            mayBeFull
          />
        ) : (
          <>
            <b>{listWords[list][1]}</b>
            {progress && <small>{progress.read.toLocaleString('en')}</small>}
          </>
        )}
      </div>
      <span class="end">
        <State tone={look.tone} shape={look.shape}>
          {look.words}
        </State>
      </span>
    </li>
  )
}
