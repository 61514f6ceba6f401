import type { Answers } from '../../../src/kernel/web/page.ts'
import type { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { Note } from '../../components/section.tsx'

/** On the first page of each kind of account. */
export const Announcements = ({ of: { data } }: { of: Answers<{ a: typeof listAnnouncements }>['a'] }) =>
  data.length > 0 ? (
    <section id="announcements" aria-label="Announcements">
      {data.map((a) => (
        <Note level={a.level}>{a.text}</Note>
      ))}
    </section>
  ) : null
