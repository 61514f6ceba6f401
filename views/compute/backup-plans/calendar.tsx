// The backups of a server as the days of a month.
import type { getBackupCalendar } from '../../../src/compute/backups/plans/calendar.ts'
import { weeksOf } from '../../../src/compute/backups/plans/calendar.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { MonthTabs, nameOfMonth } from '../../billing/usage/month.tsx'
import { Icon } from '../../components/icon.tsx'
import { Section } from '../../components/section.tsx'
import { list } from '../../components/words.ts'

type Calendar = Answers<{ c: typeof getBackupCalendar }>['c']
type Day = Calendar['days'][number]

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export const BackupCalendar = ({ of }: { of: Calendar }) => (
  <Section id="calendar" title={nameOfMonth(of.month)} count={of.timeZone}>
    <MonthTabs />
    <table width="100%">
      <caption class="sr">Backups by day</caption>
      <colgroup>
        {weekdays.map(() => (
          <col width="14%" />
        ))}
      </colgroup>
      <thead>
        <tr>
          {weekdays.map((day) => (
            <th scope="col" class="muted">
              {day.slice(0, 3)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeksOf(of.month).map((week) => (
          <tr>
            {week.map((date) => (
              <td align="center" height="40">
                {date && <Cell date={date} of={of} />}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Section>
)

function Cell({ date, of }: { date: string; of: Calendar }) {
  const day = of.days.find((one) => one.date === date)
  const isNext = of.nextDate === date
  const number = Number(date.slice(8))
  const words = [...(day ? wordsOf(day) : []), ...(isNext ? ['the next by plan'] : [])]
  return (
    <span title={words.length ? list(words) : undefined}>
      {date === of.today ? <b>{number}</b> : <span class={day || isNext ? undefined : 'muted'}>{number}</span>}{' '}
      {day && day.failed > 0 && <Icon name="fail" class="bad" />}
      {day && day.ready > 0 && <Icon name="tick" class="ok" />}
      {day && day.running > 0 && <Icon name="work" class="work" />}
      {isNext && <Icon name="wait" class="muted" />}
      {words.length > 0 && <span class="sr"> {list(words)}</span>}
    </span>
  )
}

const wordsOf = ({ ready, failed, running }: Day): string[] => [
  ...(ready ? [ready === 1 ? 'one backup' : `${ready} backups`] : []),
  ...(failed ? [failed === 1 ? 'one failed' : `${failed} failed`] : []),
  ...(running ? [running === 1 ? 'one at work' : `${running} at work`] : []),
]
