// Getting into a team as a person does: an invitation, the link in the mail, and what it is for.
import type { Role } from '../../../src/identity/team/role.ts'
import type { Panel, Who } from './panel.ts'

type Person = { id: string } & Who
export const addressOf = (p: Panel, { id }: Person) =>
  p.db.$client.query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?').get(id)!.email

/** The invitation's id, and the token that only the mail holds. */
export async function invite(
  p: Panel,
  owner: Who,
  email: string,
  role: Role = 'view',
  serverId?: string,
): Promise<{ id: string; token: string }> {
  // One account invites ten a minute.
  p.turnClock(10_000)
  const { status, body } = await p.call(owner, 'POST', '/team', { email, role, ...(serverId && { serverId }) })
  if (status !== 201) throw new Error(`invited: ${JSON.stringify(body)}`)
  return { id: body.id, token: linkIn(p.mailed().at(-1)!.text) }
}

export const linkIn = (text: string) => /\/join\?token=([\w-]{43})$/m.exec(text)![1]!

/** Answers the membership's id. */
export async function share(p: Panel, owner: Who, friend: Person, role: Role, serverId?: string): Promise<string> {
  const { token } = await invite(p, owner, addressOf(p, friend), role, serverId)
  const { status, body } = await p.call(friend, 'POST', '/team/accept', { token })
  if (status !== 200) throw new Error(`accepted: ${JSON.stringify(body)}`)
  return body.id
}
