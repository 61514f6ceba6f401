import { monthAfter, monthOf } from '../../../src/billing/usage/period.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Tabs } from '../../components/table.tsx'

let names: Intl.DateTimeFormat | undefined
/** `November 2026` for `2026-11`. */
export function nameOfMonth(month: string): string {
  // Made with the first page: it loads the names of a language, and each start would wait for it.
  names ??= new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
  return names.format(Date.parse(`${month}-01T00:00:00Z`))
}

/** This month, the two before, and an older one that the address names. */
export function MonthTabs() {
  const { now, query } = useAt()
  const [present, asked] = [monthOf(now), query['month']]
  const recent = [-1, -2].map((by) => monthAfter(present, by))
  const older = asked && asked !== present && !recent.includes(asked) ? [asked] : []
  return (
    <Tabs
      label="Month"
      name="month"
      options={[
        ['', `${nameOfMonth(present)}, so far`],
        ...[...recent, ...older].map((m) => [m, nameOfMonth(m)] as const),
      ]}
    />
  )
}

/** The month of the page, as other pages and files are asked for it. */
export function useMonth(): Readonly<Record<string, string>> {
  const { month } = useAt().query
  return month ? { month } : {}
}

const days = (seconds: number) =>
  (seconds / 86_400).toLocaleString('en', { maximumFractionDigits: 2, minimumFractionDigits: 2 })
const hours = (seconds: number) => (seconds / 3600).toLocaleString('en', { maximumFractionDigits: 1 })

type DaysProps = { seconds: number; inText?: boolean; unit?: string }
/**
 * Days to two decimals; the title has the seconds. `inText`: with their unit, where no column names it; less than a
 * day is in hours then.
 */
export const Days = ({ seconds, inText, unit = 'days' }: DaysProps) => (
  <span title={`${seconds.toLocaleString('en', { maximumFractionDigits: 3 })} seconds`}>
    {inText && seconds < 86_400 ? hours(seconds) : days(seconds)}
    {inText ? ` ${seconds < 86_400 ? unit.replace('days', 'h') : unit}` : <span class="per"> {unit}</span>}
  </span>
)
