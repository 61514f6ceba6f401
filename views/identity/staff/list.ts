import { listRoles } from '../../../src/identity/accounts/staff/roles.ts'
import {
  changeStaff,
  createStaff,
  disableStaff,
  enableStaff,
  listStaff,
} from '../../../src/identity/accounts/staff/staff.ts'
import { resetStaffFactors } from '../../../src/identity/auth/second-factors/reset-factors.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, readingAll } from '../../../src/kernel/web/page.ts'
import { act } from '../../html/act.ts'
import { field, select } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { pager, table } from '../../html/table.ts'
import { time } from '../../html/time.ts'
import { lostFactor } from '../sign-in/lost-factor.ts'

const reads = { staff: listStaff, roles: readingAll(listRoles) }
type Data = Answers<typeof reads> & { at: At }
type Member = Data['staff']['data'][number]

const roleChoice = (scope: string, { roles }: Data, value?: string) =>
  select(scope, 'role', {
    label: 'Role',
    hint: 'What they may do. You cannot give a role that may do more than your own.',
    value,
    options: roles.data.map((r) => ({ value: r.name, label: r.name })),
  })

const add = (data: Data): Html =>
  act(data.at, createStaff, {}, 'Add member', {
    icon: 'plus',
    tone: 'pri',
    title: 'Add a member of staff',
    done: '{name} is added',
    fields: html`
      ${field('staff', 'name', { label: 'Name', required: true, autocomplete: 'off' })}
      ${field('staff', 'email', { label: 'E-mail address', type: 'email', required: true, hint: 'They sign in with it.' })}
      ${roleChoice('staff', data, data.roles.data.find((r) => !r.isOwner)?.name)}
      ${field('staff', 'password', { label: 'First password', type: 'password', autocomplete: 'new-password', hint: 'Empty: they are mailed a link to choose one.' })}`,
  })

const edit = (data: Data, m: Member): Html =>
  act(data.at, changeStaff, { id: m.id }, 'Edit', {
    of: m.name,
    title: `Edit ${m.name}`,
    submit: 'Save',
    done: 'Saved',
    fields: html`
      ${field(`edit-${m.id}`, 'name', { label: 'Name', required: true, value: m.name })}
      ${field(`edit-${m.id}`, 'email', { label: 'E-mail address', type: 'email', required: true, value: m.email })}
      ${roleChoice(`edit-${m.id}`, data, m.role?.name)}
      <p class="muted">With another role they are signed out and sign in anew.</p>`,
  })

const lost = ({ at }: Data, m: Member): Html =>
  act(at, resetStaffFactors, { id: m.id }, 'Take away', lostFactor(m.name, `lost-${m.id}`))

const disable = ({ at }: Data, m: Member): Html =>
  m.disabledAt
    ? act(at, enableStaff, { id: m.id }, 'Enable', { of: m.name, done: `${m.name} may sign in again` })
    : act(at, disableStaff, { id: m.id }, 'Disable', {
        of: m.name,
        tone: 'bad',
        title: `Disable ${m.name}?`,
        done: `${m.name} is disabled`,
        disabledReason: m.id === at.actor.accountId && 'You cannot disable your own account.',
        confirm: {
          keep: 'Keep enabled',
          consequences: [
            'They are signed out everywhere at once, and cannot sign in.',
            'Their API tokens are revoked for good. Programs that use them stop working.',
            'What they did stays in the audit log. They can be enabled again, and make new tokens then.',
          ],
        },
      })

export const staffPage = page({
  path: '/admin/staff',
  reads,
  title: 'Staff',
  nav: 'staff',
  view: (data) => {
    const { staff, at } = data
    return html`
    ${head({ title: 'Staff', actions: html`<a class="btn" href="/admin/roles">Roles</a>${add(data)}`, sub: 'The people who run this installation. What each may do is their role.' })}
    <section class="sec" aria-label="Staff">
      ${table<Member>(
        'Staff',
        staff.data,
        [
          { title: 'Name', main: true, cell: (m) => html`<strong>${m.name}</strong><small>${m.email}</small>` },
          { title: 'Role', cell: (m) => m.role?.name ?? 'None' },
          {
            title: 'Second factor',
            cell: (m) =>
              m.secondFactor ? html`${pill('ok', 'tick', 'On')} ${lost(data, m)}` : pill('idle', 'stop', 'Off'),
          },
          {
            title: 'State',
            cell: (m) => (m.disabledAt ? pill('hold', 'hold', 'Disabled') : pill('ok', 'dot', 'Active')),
          },
          { title: 'Last seen', cell: (m) => (m.seenAt ? time(m.seenAt, at) : 'Not signed in') },
          { title: 'Since', cell: (m) => time(m.createdAt, at) },
          {
            title: 'Actions',
            actions: true,
            cell: (m) => html`<div class="bar">${edit(data, m)}${disable(data, m)}</div>`,
          },
        ],
        (m) => m.id,
      )}
      ${pager(at, staff)}
    </section>`
  },
})
