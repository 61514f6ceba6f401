import type { Answers } from '../../../src/kernel/web/page.ts'
import type { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { Note } from '../../components/section.tsx'

type Listed = Answers<{ a: typeof listAnnouncements }>['a']

/** On the first page of each kind of account. `urgent`: warnings only, or only the others; undefined: all. */
export function Announcements({ of, urgent }: { of: Listed; urgent?: boolean }) {
  const shown = of.data.filter(({ level }) => urgent === undefined || urgent === (level !== 'info'))
  return shown.length > 0 ? (
    <section aria-label={urgent ? 'Warnings' : 'Announcements'}>
      {shown.map((a) => (
        <Note level={a.level}>{a.text}</Note>
      ))}
    </section>
  ) : null
}
