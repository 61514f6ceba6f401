// A panel whose nodes go away and come back, and the notices to staff about that.
import { watchStorage } from '../../../src/platform/outages/storage.ts'
import { START_GRACE_MS, watchNodes } from '../../../src/platform/outages/watch.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

/** The controller has run for long enough that nodes are no longer given time to come back after its start. */
export async function outageWorld() {
  const p = await world()
  await known(p)
  p.turnClock(START_GRACE_MS)
  return p
}

/** Every node has said what is on it: it is set up. */
export async function known(p: World) {
  await p.reported()
  p.db.$client.run('UPDATE nodes SET inventory_at = coalesce(inventory_at, ?)', [p.now()])
}

/** One turn of the work that the clock starts every few seconds. */
export async function watch(p: World) {
  await p.reported()
  const { db, hub, app } = p.controller
  watchNodes({ db, hub, app })
  watchStorage({ db, app })
}
/** Time goes by, in the steps in which the clock looks. */
export async function pass(p: World, seconds: number) {
  for (let left = seconds; left > 0; left -= 5) {
    p.turnClock(Math.min(5, left) * 1000)
    await watch(p)
  }
}

export const events = (p: World, type: RegExp) =>
  p.db.$client
    .query<{ type: string; data: string }, []>('SELECT type, data FROM events ORDER BY seq')
    .all()
    .filter((one) => type.test(one.type))
    .map(({ type, data }) => ({ type, data: JSON.parse(data) }))

const addressOf = (p: World, id: string) =>
  p.db.$client.query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?').get(id)!.email
/** The subjects of the mails to this account about nodes and storage. */
export const mailsTo = (p: World, { id }: { id: string }) =>
  p
    .mailed()
    .filter(({ to, subject }) => to === addressOf(p, id) && /answer|back after|almost full|metadata/.test(subject))
export const subjectsTo = (p: World, who: { id: string }) => mailsTo(p, who).map(({ subject }) => subject)

/** The notices of the account, the newest first: `●` unread, `✓` over. */
export const noticesOf = async (p: World, who: Who) =>
  (await p.call(who, 'GET', '/notices?limit=100')).body.data.map(
    ({ subject, readAt, overAt }: { subject: string; readAt: string | null; overAt: string | null }) =>
      `${readAt ? '' : '● '}${overAt ? '✓ ' : ''}${subject}`,
  ) as string[]
