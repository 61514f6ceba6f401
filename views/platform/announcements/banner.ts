import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { notice } from '../../components/card.ts'

/** On top of the first page of each kind of account. */
export const announced = ({ data }: Answers<{ a: typeof listAnnouncements }>['a']): Html =>
  data.length
    ? html`<section class="card" id="announcements" aria-label="Announcements">${data.map((a) => notice(a.level, html`${a.text}`))}</section>`
    : html``
