// The sessions of the own account.
import {
  endOneSession,
  endOtherSessions,
  type listSessions,
} from '../../../../src/identity/auth/sessions/own-sessions.ts'
import type { Answers } from '../../../../src/kernel/web/page.ts'
import { Action } from '../../../components/action.tsx'
import { Section } from '../../../components/section.tsx'
import { State } from '../../../components/state.tsx'
import { Table } from '../../../components/table.tsx'
import { MomentCell } from '../../../components/time.tsx'
import { count } from '../../../components/words.ts'

type Session = Answers<{ s: typeof listSessions }>['s']['data'][number]

export const Sessions = ({ of: sessions }: { of: readonly Session[] }) => (
  <Section
    id="sessions"
    title="Where you are signed in"
    words={
      <>
        Every sign-in, including refused ones, is listed under <a href="/account/activity">Activity</a>.
      </>
    }
    actions={sessions.length > 1 && <EndOthers others={sessions.length - 1} />}
    flush
  >
    <Table
      label="Sessions"
      rows={sessions}
      idOf={(s) => s.id}
      flow
      columns={[
        {
          title: 'Device',
          kind: 'name',
          cell: (s) => (
            <>
              <b>{s.device}</b>{' '}
              {s.current && (
                <State tone="ok" shape="dot">
                  This device
                </State>
              )}
            </>
          ),
        },
        { title: 'Address', kind: 'addr', cell: (s) => <span class="mono">{s.from}</span> },
        { title: 'Signed in', kind: 'wide', cell: (s) => <MomentCell iso={s.createdAt} /> },
        { title: 'Last seen', kind: 'wide', cell: (s) => <MomentCell iso={s.seenAt} /> },
        { title: 'Actions', kind: 'more', cell: (s) => <End session={s} /> },
      ]}
    />
  </Section>
)

const EndOthers = ({ others }: { others: number }) => (
  <Action
    op={endOtherSessions}
    label="Sign out everywhere else"
    done="All other sessions are ended"
    confirm={{
      consequences: [
        `${count(others, 'session')} on other devices ${others === 1 ? 'ends' : 'end'} at once. This one stays.`,
      ],
    }}
  />
)

const End = ({ session: s }: { session: Session }) =>
  s.current ? null : (
    <Action
      op={endOneSession}
      params={{ id: s.id }}
      label="Sign out"
      of={`the session of ${s.device}`}
      small
      done="The session is ended"
    />
  )
