import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import {
  changeAnnouncement,
  createAnnouncement,
  listAllAnnouncements,
  removeAnnouncement,
} from '../../../src/platform/announcements/announcements.ts'
import { audiences } from '../../../src/platform/announcements/model.ts'
import { act } from '../../html/act.ts'
import { empty } from '../../html/card.ts'
import { area, field, select } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { pager, table } from '../../html/table.ts'
import { exact } from '../../html/time.ts'

type Announcement = Answers<{ a: typeof listAllAnnouncements }>['a']['data'][number]

const names = { everybody: 'Everybody', customers: 'Customers', resellers: 'Resellers', staff: 'Staff' } as const
const levels = { info: 'For information', warn: 'Warning', bad: 'Disturbance' } as const

/** As the field of a browser takes it, in UTC. */
const minute = (iso: string | null | undefined) => iso?.slice(0, 16)

const fields = (scope: string, a?: Announcement): Html => html`
  ${area(scope, 'text', { label: 'Text', required: true, rows: 3, value: a?.text, hint: 'What happens, to whom, from when to when. Up to 500 characters on one line.' })}
  <div class="pair">
    ${select(scope, 'audience', { label: 'For', value: a?.audience ?? 'everybody', options: audiences.map((value) => ({ value, label: names[value] })) })}
    ${select(scope, 'level', { label: 'Kind', value: a?.level ?? 'info', options: Object.entries(levels).map(([value, label]) => ({ value, label })) })}
  </div>
  <div class="pair">
    ${field(scope, 'startsAt', { label: 'From (UTC)', as: 'utc', type: 'datetime-local', value: minute(a?.startsAt), hint: a ? '' : 'Empty: from now.' })}
    ${field(scope, 'endsAt', { label: 'Until (UTC)', as: 'utc', nullable: true, type: 'datetime-local', value: minute(a?.endsAt), hint: a ? '' : 'Empty: until it is removed.' })}
  </div>`

const state = (a: Announcement, { now }: At): Html =>
  Date.parse(a.startsAt) > now
    ? pill('idle', 'wait', 'To come')
    : a.endsAt && Date.parse(a.endsAt) <= now
      ? pill('idle', 'tick', 'Over')
      : pill('ok', 'dot', 'Shown')

const start = (words: string) => (words.length > 40 ? `${words.slice(0, 40)}…` : words)

export const announcementsPage = page({
  path: '/admin/announcements',
  reads: { announcements: listAllAnnouncements },
  title: 'Announcements',
  nav: 'announcements',
  view: ({ announcements, at }) => html`
    ${head({
      title: 'Announcements',
      sub: 'Shown on the overview of the people they are for.',
      actions: act(at, createAnnouncement, {}, 'Announce', {
        icon: 'plus',
        tone: 'pri',
        wide: true,
        done: 'Announced',
        fields: fields('announce'),
      }),
    })}
    <section class="sec" aria-label="Announcements">
      ${
        announcements.data.length
          ? table<Announcement>(
              'Announcements',
              announcements.data,
              [
                { title: 'Text', main: true, cell: (a) => html`${a.text}<small>${levels[a.level]}</small>` },
                { title: 'State', cell: (a) => state(a, at) },
                { title: 'For', cell: (a) => names[a.audience] },
                { title: 'From', cell: (a) => exact(a.startsAt, at) },
                { title: 'Until', cell: (a) => (a.endsAt ? exact(a.endsAt, at) : 'No end') },
                {
                  title: 'Actions',
                  actions: true,
                  cell: (a) =>
                    html`<div class="bar">${act(at, changeAnnouncement, { id: a.id }, 'Edit', { of: start(a.text), title: 'Edit announcement', submit: 'Save', done: 'Saved', wide: true, fields: fields(`edit-${a.id}`, a) })}${act(at, removeAnnouncement, { id: a.id }, 'Remove', { of: start(a.text), tone: 'bad', done: 'It is removed', confirm: { keep: 'Keep it', consequences: [html`“${a.text}” is no longer shown.`] } })}</div>`,
                },
              ],
              (a) => a.id,
            )
          : empty('Nothing has been announced yet.')
      }
      ${pager(at, announcements)}
    </section>`,
})
