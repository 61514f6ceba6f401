// The members of staff who may see nodes learn of outages, each as chosen.
import { Type as t } from 'typebox'
import { allLocations } from '../../fleet/locations/queries.ts'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { locationsWithNodes } from '../../fleet/node-records/queries.ts'
import { activeStaffWith } from '../../identity/account-records/staff-with.ts'
import { isAboutChosen, type NoticeDeclaration } from '../../identity/notices/notify.ts'
import { choiceOf, type NoticeChoice } from '../../identity/notices/queries.ts'
import type { Rights } from '../../kernel/api/access.ts'
import { described, mayCall, namedSchema, operation } from '../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import type { Db } from '../../kernel/db/open.ts'

export const outageNotices = {
  node_away: {
    when: 'a node goes away, and when it is back',
    kinds: ['staff'],
    right: 'nodes:read',
    mail: 'optional',
    byLocation: true,
    isOutage: true,
  },
  storage_nearly_full: {
    when: 'the storage of a node is nearly full',
    kinds: ['staff'],
    right: 'nodes:read',
    mail: 'optional',
    byLocation: true,
  },
} as const satisfies Record<string, NoticeDeclaration>
export type OutageNotice = keyof typeof outageNotices
const noticeKinds = Object.keys(outageNotices) as OutageNotice[]

export type Recipient = { id: string; email: string; name: string; choice: NoticeChoice }
/** The members of staff who may get notices of this kind, with what each has chosen. */
export const recipientsOf = (tx: Db, registry: Rights, kind: OutageNotice): Recipient[] =>
  activeStaffWith(tx, registry, outageNotices[kind].right).map(({ id, email, name }) => ({
    ...{ id, email, name },
    choice: choiceOf(tx, id, kind),
  }))

export const listRecipients = operation({
  id: 'outages.recipients',
  method: 'GET',
  path: '/admin/outage-recipients',
  summary: 'Which members of staff are told when a node goes away and when storage is nearly full',
  access: { staff: ['staff.write'] },
  response: t.Object({
    kinds: t.Array(
      namedSchema('OutageRecipients', {
        kind: t.Enum(noticeKinds),
        when: described(t.String(), 'Completes "Is told when …".'),
        staff: t.Array(
          t.Object({
            id: t.String(),
            name: t.String(),
            inPanel: t.Boolean(),
            byMail: t.Boolean(),
            locations: described(t.Array(locationReferred), 'Empty: all of them, also later ones.'),
          }),
        ),
        withoutMail: described(t.Array(locationReferred), 'Locations with nodes of which nobody gets a mail.'),
      }),
    ),
  }),
  run: ({ tx, registry }) => ({
    kinds: noticeKinds.map((kind) => ({
      kind,
      when: outageNotices[kind].when,
      staff: recipientsOf(tx, registry, kind).map(({ id, name, choice: { inPanel, byMail, locationIds } }) => ({
        ...{ id, name, inPanel, byMail },
        locations: locationIds.map((locationId) => locationOf(tx, { locationId })),
      })),
      withoutMail: locationsWithoutMail(tx, registry, kind),
    })),
  }),
})

/** Locations with nodes of which nobody gets a mail of this kind, by name. */
function locationsWithoutMail(tx: Db, registry: Rights, kind: OutageNotice) {
  const mailed = recipientsOf(tx, registry, kind).filter(({ choice }) => choice.byMail)
  const used = new Set(locationsWithNodes(tx))
  return allLocations(tx).flatMap(({ id, name }) =>
    used.has(id) && !mailed.some(({ choice }) => isAboutChosen(choice, id)) ? [{ id, name }] : [],
  )
}

/** Locations of whose nodes nobody would learn at night. */
export const nobodyIsTold: Source = ({ tx, actor, registry }) =>
  mayCall(listRecipients, actor)
    ? locationsWithoutMail(tx, registry, 'node_away')
        .slice(0, MOST_SHOWN)
        .map(
          ({ name }): Attention => ({
            level: 'warn',
            what: `Nobody gets a mail when a node in ${name} goes away.`,
            effect: 'Each member of staff who may see nodes chooses this under Notices.',
            since: null,
            action: 'Who is told',
            href: '/admin/staff#told',
          }),
        )
    : []
