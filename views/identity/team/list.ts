// Both sides of sharing: who has access to the own servers, and what others share.

import { listServers } from '../../../src/compute/servers/list.ts'
import { inviteMember, resendInvitation } from '../../../src/identity/team/invite.ts'
import { changeMember, listTeam, removeMember } from '../../../src/identity/team/members.ts'
import { leaveTeam, listMemberships } from '../../../src/identity/team/memberships.ts'
import { roles } from '../../../src/identity/team/share.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading, readingAll } from '../../../src/kernel/web/page.ts'
import { areaOf } from '../../components/area.ts'
import { act } from '../../html/act.ts'
import { card, empty } from '../../html/card.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { pager, table } from '../../html/table.ts'
import { time } from '../../html/time.ts'
import { inviteFields, roleChoice, roleTitles } from './fields.ts'

const reads = {
  team: listTeam,
  memberships: readingAll(listMemberships),
  servers: reading(listServers, ({ actor }) => ({ query: { ownerId: actor.accountId, limit: '100' } })),
}
type Data = Answers<typeof reads> & { at: At }
type Member = Data['team']['data'][number]
export type Membership = Data['memberships']['data'][number]

const invite = ({ servers, at }: Data): Html =>
  act(at, inviteMember, {}, 'Invite somebody', {
    icon: 'plus',
    tone: 'pri',
    wide: true,
    title: 'Invite somebody',
    submit: 'Send invitation',
    done: 'An invitation is on its way to {email}',
    fields: inviteFields(
      'invite',
      servers.data.map((s) => ({ value: s.id, label: s.name })),
    ),
  })

const who = (m: Member) => m.name ?? m.email
const what = (m: Pick<Member, 'server'>, at: At) =>
  m.server ? html`<a href="${areaOf(at)}/servers/${m.server.id}">${m.server.name}</a>` : 'All servers'

const state = (m: Member, at: At): Html =>
  m.state === 'member'
    ? html`${pill('ok', 'tick', 'Member')}${m.acceptedAt && html`<small>since ${time(m.acceptedAt, at)}</small>`}`
    : m.state === 'invited'
      ? html`${pill('warn', 'wait', 'Invited')}${m.expiresAt && html`<small>ends ${time(m.expiresAt, at)}</small>`}`
      : html`${pill('idle', 'fail', 'Expired')}${m.expiresAt && html`<small>${time(m.expiresAt, at)}</small>`}`

const change = (m: Member, at: At): Html =>
  act(at, changeMember, { id: m.id }, 'Change role', {
    of: `of ${who(m)} on ${m.server?.name ?? 'all servers'}`,
    wide: true,
    title: `Role of ${who(m)}`,
    submit: 'Save',
    done: 'Saved. It applies from now on',
    fields: roleChoice(`role-${m.id}`, m.role),
  })

const resend = (m: Member, at: At): Html =>
  m.state === 'member'
    ? html``
    : act(at, resendInvitation, { id: m.id }, 'Send again', {
        of: `to ${m.email}`,
        title: `Send the invitation to ${m.email} again?`,
        done: 'A new invitation is on its way to {email}',
        confirm: { consequences: ['They get a new link for another seven days.', 'The link they have ends.'] },
      })

const remove = (m: Member, at: At, others: boolean): Html => {
  const joined = m.state === 'member'
  const from = m.server ? m.server.name : 'all servers'
  return act(at, removeMember, { id: m.id }, joined ? 'Remove' : 'Take back', {
    of: joined ? `${who(m)} from ${from}` : `the invitation of ${m.email} to ${from}`,
    tone: 'bad',
    title: joined ? `Remove ${who(m)} from ${from}?` : `Take the invitation of ${m.email} back?`,
    done: joined ? `${who(m)} is removed from ${from}` : 'The invitation is taken back',
    confirm: {
      keep: joined ? 'Keep access' : 'Keep invitation',
      consequences: joined
        ? [
            html`They lose ${m.server ? m.server.name : 'all your servers'} at once, in open pages and with their API tokens.`,
            others && 'Other servers that you share with them have their own line and stay shared.',
            'Jobs that they started go on.',
            'They may still know root passwords and have SSH keys on the servers: change and remove those.',
          ]
        : ['The link in the mail stops working.'],
    },
  })
}

export const leave = (m: Membership, at: At, leadsTo?: string): Html =>
  act(at, leaveTeam, { id: m.id }, 'Leave', {
    icon: 'out',
    of: m.server ? m.server.name : `all servers of ${m.owner.name}`,
    title: m.server ? `Leave ${m.server.name}?` : `Leave all servers of ${m.owner.name}?`,
    done: 'You have left',
    ...(leadsTo && { leadsTo }),
    confirm: {
      keep: 'Stay',
      consequences: [
        html`You do not see ${m.server ? m.server.name : html`the servers of ${m.owner.name}`} any more, at once.`,
        html`Only ${m.owner.name} can invite you again.`,
      ],
    },
  })

const rights = (role: Member['role']) => html`${roleTitles[role]}<small>${roles[role].words}</small>`

export const teamPage = page({
  path: '/team',
  reads,
  title: 'Team',
  nav: 'team',
  view: (data) => {
    const { team, memberships, at } = data
    return html`
      ${head({ title: 'Team', actions: invite(data), sub: 'Give other people access to your servers, with the role you choose. You can end it at any time.' })}
      <section class="sec" aria-label="Your team">
        ${
          team.data.length
            ? table<Member>(
                'Your team',
                team.data,
                [
                  {
                    title: 'Person',
                    main: true,
                    cell: (m) => html`<strong>${who(m)}</strong>${m.name && html`<small>${m.email}</small>`}`,
                  },
                  { title: 'State', cell: (m) => state(m, at) },
                  { title: 'Servers', cell: (m) => what(m, at) },
                  { title: 'May', cell: (m) => rights(m.role) },
                  {
                    title: 'Actions',
                    actions: true,
                    cell: (m) =>
                      html`<div class="bar">${resend(m, at)}${change(m, at)}${remove(
                        m,
                        at,
                        team.data.some((o) => o.id !== m.id && o.email === m.email),
                      )}</div>`,
                  },
                ],
                (m) => m.id,
              )
            : empty('Nobody but you has access to your servers.')
        }
        ${pager(at, team)}
      </section>
      ${
        memberships.data.length > 0 &&
        card(
          { id: 'shared', title: 'Shared with you', count: memberships.total },
          table<Membership>(
            'Shared with you',
            memberships.data,
            [
              { title: 'Servers', main: true, cell: (m) => what(m, at) },
              { title: 'Of', cell: (m) => m.owner.name },
              { title: 'You may', cell: (m) => rights(m.role) },
              { title: 'Since', cell: (m) => time(m.since, at) },
              { title: 'Actions', actions: true, cell: (m) => html`<div class="bar">${leave(m, at)}</div>` },
            ],
            (m) => m.id,
          ),
        )
      }`
  },
})
