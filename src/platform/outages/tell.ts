// Staff are told: notices in the panel by incident, and mails by recipient, so that nodes that went away together are
// one mail to each.

import { locationOf } from '../../fleet/locations/reference.ts'
import { isAboutChosen, type Notice, notifyByMail, notifyInPanel } from '../../identity/notices/notify.ts'
import { endNotices } from '../../identity/notices/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { changeOutage, type NodeOutage, nodeNameOf, outagesById, outagesOfIncident } from './queries.ts'
import { type Recipient, recipientsOf } from './recipients.ts'
import { type Absence, awayByMail, awayInPanel, backByMail, overInPanel } from './words.ts'

const absenceOf = (tx: Db, { id, nodeId, locationId, incidentId, since, endedAt, endedAs }: NodeOutage): Absence => ({
  outageId: id,
  incidentId,
  node: { id: nodeId, name: nodeNameOf(tx, nodeId) },
  location: locationOf(tx, { locationId }),
  since,
  endedAt,
  endedAs,
})

/** Those who get the notice or the mail of an outage are noted at it, for the next one who looks. */
function noteTold(tx: Tx, outage: NodeOutage, names: readonly string[]) {
  const told = [...new Set([...outage.told, ...names])]
  if (told.length !== outage.told.length) changeOutage(tx, outage.id, { told })
}

/** Notices in the panel about new outages: one for each incident. */
export function tellInPanel(tx: Tx, app: AppContext, outageIds: readonly string[]) {
  const recipients = recipientsOf(tx, app.registry, 'node_away')
  for (const [incidentId, outages] of Map.groupBy(outagesById(tx, outageIds), (one) => one.incidentId)) {
    const [{ locationId }] = outages as [NodeOutage]
    const notice = awayInPanel(
      { ...app, tx },
      outages.map((one) => absenceOf(tx, one)),
    )
    const to = recipients.filter(({ choice }) => choice.inPanel && isAboutChosen(choice, locationId))
    for (const one of to) notifyInPanel(tx, app, one, 'node_away', notice, incidentId)
    for (const outage of outages)
      noteTold(
        tx,
        outage,
        to.map(({ name }) => name),
      )
  }
}

const closing = (locationIds: readonly string[]) =>
  `You get this because you chose mails about nodes that go away${locationIds.length ? ' in some locations' : ''}. ` +
  'You get one more when they are back. Change it on the page Notices of your account.'

type Mailed = { to: Recipient; outages: readonly NodeOutage[]; words: Notice }
/**
 * The recipients of mails about these outages, each with those in locations of its choice and the words about them,
 * which are the same for everybody who chose the same.
 */
function mailsAbout(
  tx: Tx,
  app: AppContext,
  outages: readonly NodeOutage[],
  wordsAbout: (of: readonly Absence[]) => Notice,
): Mailed[] {
  const absences = new Map(outages.map((one) => [one.id, absenceOf(tx, one)]))
  const known = new Map<string, Notice>()
  return recipientsOf(tx, app.registry, 'node_away').flatMap((to) => {
    const mine = outages.filter(({ locationId }) => to.choice.byMail && isAboutChosen(to.choice, locationId))
    if (!mine.length) return []
    const key = mine.map(({ id }) => id).join()
    const words = known.get(key) ?? wordsAbout(mine.map(({ id }) => absences.get(id)!))
    known.set(key, words)
    return [{ to, outages: mine, words }]
  })
}

/** One mail to each who wants it, about all these outages that are in locations of the recipient's choice. */
export function mailAway(tx: Tx, app: AppContext, outageIds: readonly string[]) {
  const outages = outagesById(tx, outageIds)
  const told = new Map<string, string[]>(outages.map(({ id }) => [id, []]))
  for (const { to, outages: mine, words } of mailsAbout(tx, app, outages, (of) => awayByMail({ ...app, tx }, of))) {
    notifyByMail(tx, app, to, 'node_away', words, { closing: closing(to.choice.locationIds) })
    for (const { id } of mine) told.get(id)!.push(to.name)
  }
  for (const outage of outages) {
    changeOutage(tx, outage.id, { mailedAt: app.clock() })
    noteTold(tx, outage, told.get(outage.id)!)
  }
}

/** The same about nodes that are back. */
export function mailBack(tx: Tx, app: AppContext, outages: readonly NodeOutage[]) {
  for (const { to, words } of mailsAbout(tx, app, outages, backByMail)) notifyByMail(tx, app, to, 'node_away', words)
  for (const { id } of outages) changeOutage(tx, id, { endMailedAt: app.clock() })
}

/** The notices of an incident say that it is over, once all of its nodes are back or gone. */
export function endIncident(tx: Tx, app: AppContext, incidentId: string) {
  const outages = outagesOfIncident(tx, incidentId)
  if (outages.some(({ endedAt }) => endedAt === null)) return
  // A node that went away again has several here: the last one is meant.
  const last = [...new Map(outages.map((one) => [one.nodeId, one])).values()]
  const words = overInPanel(last.map((one) => absenceOf(tx, one)))
  endNotices(tx, incidentId, app.clock(), words)
}
