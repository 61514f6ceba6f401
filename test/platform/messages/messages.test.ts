import { expect, test } from 'bun:test'
import { sendMessages } from '../../../src/platform/messages/send.ts'
import { open, ordered } from '../../compute/drains/world.ts'
import type { World } from '../../support/world/panel.ts'

const HOUR_MS = 3_600_000
const turn = (p: World) => sendMessages(p.db, p.controller.app)
async function played(p: World, id: string) {
  for (let i = 0; i < 20; i++) {
    turn(p)
    await p.settle()
    const message = await p.admin('GET', `/admin/messages/${id}`)
    if (message.finishedAt !== null) return message
  }
  throw new Error('the message is not sent')
}
const orderFor = async (p: World, who: { id: string }, hostname: string, nodeId = p.node.id) => {
  await p.admin('POST', '/admin/servers', { ...p.order, ownerId: who.id, hostname, nodeId })
  await p.settle()
}
const mailsOf = (p: World, subject: string) => p.mailed().filter((mail) => mail.subject === subject)

test('each owner with servers on a node gets one mail and one notice, about the own servers there', async () => {
  using p = await open()
  await ordered(p, 'web01')
  await ordered(p, 'web02')
  const dana = p.account('customer', 'Dana')
  await orderFor(p, dana, 'dana01')
  const elsewhere = p.account('customer', 'Elsa')
  const other = [...p.agents.keys()].find((id) => id !== p.node.id)!
  await orderFor(p, elsewhere, 'elsa01', other)
  const draft = await p.admin('POST', '/admin/messages', {
    audience: { nodeId: p.node.id },
    subject: 'Work on {node}',
    text: 'Concerned: {servers}.',
  })
  expect(draft.counts).toMatchObject({ recipients: 2, servers: 3 })
  const preview = await p.admin('GET', `/admin/messages/${draft.id}/preview`)
  expect([preview.of, preview.subject]).toEqual([2, 'Work on fra-01'])
  expect(mailsOf(p, 'Work on fra-01')).toEqual([])

  await p.admin('POST', `/admin/messages/${draft.id}/actions/send`, { expected: 2 })
  expect((await played(p, draft.id)).state).toBe('sent')
  const texts = mailsOf(p, 'Work on fra-01').map(({ text }: any) => text)
  expect(texts.toSorted().map((text: string) => /Concerned: .*/.exec(text)?.[0])).toEqual([
    'Concerned: web01 and web02.',
    'Concerned: dana01.',
  ])
  expect(texts.join()).not.toContain('unsubscribe')
  const noticesOf = async (who: typeof dana) =>
    (await p.call(who, 'GET', '/notices')).body.data.filter(({ kind }: any) => kind === 'provider_message').length
  expect([await noticesOf(p.customer), await noticesOf(dana), await noticesOf(elsewhere)]).toEqual([1, 1, 0])
  const results = async () =>
    (await p.admin('GET', `/admin/messages/${draft.id}/recipients`)).data.map(({ state }: any) => state)
  expect(await results()).toEqual(['sent', 'sent'])
  p.db.$client.run(
    "UPDATE deliveries SET state = 'delivered' WHERE recipient LIKE '%@%' AND subject = 'Work on fra-01'",
  )
  expect(await results()).toEqual(['delivered', 'delivered'])
})

test('a slice that breaks off, as when the controller is killed, mails nobody twice', async () => {
  using p = await open()
  for (const name of ['Ann', 'Ben', 'Cem']) await orderFor(p, p.account('customer', name), `${name.toLowerCase()}01`)
  const { id } = await p.admin('POST', '/admin/messages', { subject: 'Soon', text: 'Hello.' })
  await p.admin('POST', `/admin/messages/${id}/actions/send`)
  const { app } = p.controller
  let mails = 0
  const dies = {
    ...app,
    brandFor: (...given: Parameters<typeof app.brandFor>) => {
      if (++mails === 3) throw new Error('killed')
      return app.brandFor(...given)
    },
  }
  expect(() => sendMessages(p.db, dies)).toThrow('killed')
  await p.settle()
  expect(mailsOf(p, 'Soon')).toEqual([])
  await played(p, id)
  turn(p)
  await p.settle()
  const to = mailsOf(p, 'Soon').map(({ to }: any) => to)
  expect([to.length, new Set(to).size]).toEqual([3, 3])
})

test('news carry a link that ends them without signing in; mails about servers still come', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const send = async (subject: string, more: object) => {
    const { id } = await p.admin('POST', '/admin/messages', { subject, text: 'Read this.', ...more })
    const sent = await p.call(p.owner, 'POST', `/admin/messages/${id}/actions/send`, {})
    return sent.status === 202 ? (await played(p, id)).counts : sent.body.error.code
  }
  expect((await send('News 1', { isService: false, alsoNotice: false })).sent).toBe(1)
  const [mail] = mailsOf(p, 'News 1') as any[]
  const token = /\/unsubscribe\/([\w-]+)/.exec(mail.text)![1]
  expect(mail.headers?.['list-unsubscribe'] ?? mail.text).toContain(`/unsubscribe/${token}`)
  expect((await p.call(undefined, 'POST', '/unsubscribe', { token: 'wrong' })).body.error.code).toBe('link_not_valid')
  expect((await p.call(undefined, 'POST', '/unsubscribe', { token })).status).toBe(200)
  expect(await send('News 2', { isService: false, alsoNotice: false })).toBe('validation_failed')
  expect(mailsOf(p, 'News 2')).toEqual([])
  expect((await send('About your servers', {})).sent).toBe(1)
})

test('a reseller gets what is about servers of its customers, or they get it themselves', async () => {
  using p = await open()
  const reseller = p.account('reseller', 'Rex')
  const theirs = p.account('customer', 'Rita', reseller.id)
  const id = await ordered(p, 'rita01')
  p.db.$client.query('UPDATE workloads SET owner_id = ?, reseller_id = ? WHERE id = ?').run(theirs.id, reseller.id, id)
  const readers = async (toCustomersOfResellers: boolean) => {
    const draft = await p.admin('POST', '/admin/messages', { subject: 'S', text: 'T', toCustomersOfResellers })
    const { data } = await p.admin('GET', `/admin/messages/${draft.id}/recipients`)
    return data.map(({ name }: any) => name)
  }
  expect(await readers(false)).toEqual(['Rex'])
  expect(await readers(true)).toEqual(['Rita'])
})

test('a message with a name that nothing fills, to nobody, or to others than were shown, is not sent', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const refused = async (message: object, body: object = {}) => {
    const { id } = await p.admin('POST', '/admin/messages', { subject: 'S', text: 'T', ...message })
    const before = p.fingerprint()
    const { error } = (await p.call(p.owner, 'POST', `/admin/messages/${id}/actions/send`, body)).body
    expect(p.fingerprint()).toBe(before)
    return error.code
  }
  expect(await refused({ text: 'Hello {colour}' })).toBe('validation_failed')
  expect(await refused({ subject: '' })).toBe('validation_failed')
  expect(await refused({ audience: { label: 'nobody' } })).toBe('validation_failed')
  expect(await refused({}, { expected: 7 })).toBe('selection_changed')
  expect(await refused({}, { sendAt: new Date(p.now() - HOUR_MS).toISOString() })).toBe('validation_failed')
})

test('a message waits for its time, goes to those who have servers then, and can be stopped before', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const later = async () => {
    const { id } = await p.admin('POST', '/admin/messages', { subject: 'Later', text: 'T' })
    const sendAt = new Date(p.now() + HOUR_MS).toISOString()
    await p.admin('POST', `/admin/messages/${id}/actions/send`, { expected: 1, sendAt })
    return id
  }
  const [first, second] = [await later(), await later()]
  turn(p)
  await p.admin('POST', `/admin/messages/${second}/actions/cancel`)
  await orderFor(p, p.account('customer', 'Dana'), 'dana01')
  expect(mailsOf(p, 'Later')).toEqual([])
  p.turnClock(HOUR_MS)
  expect((await played(p, first)).counts.sent).toBe(2)
  turn(p)
  await p.settle()
  expect(mailsOf(p, 'Later')).toHaveLength(2)
})

test('a test goes to whoever asks for it, and to nobody else', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const { id } = await p.admin('POST', '/admin/messages', { subject: 'Hello {customer}', text: 'T' })
  const before = p.mailed().length
  const { email } = (await p.call(p.owner, 'POST', `/admin/messages/${id}/actions/test`, {})).body
  await p.settle()
  expect(
    p
      .mailed()
      .slice(before)
      .map(({ to, subject }: any) => [to, subject]),
  ).toEqual([[email, 'Test: Hello Cal']])
})

test('the time of the work is in the time zone of each reader, and in UTC where the account has none', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const dana = p.account('customer', 'Dana')
  await orderFor(p, dana, 'dana01')
  expect((await p.call(p.customer, 'PATCH', '/account', { timeZone: 'Asia/Kolkata' })).status).toBe(200)
  const draft = await p.admin('POST', '/admin/messages', {
    subject: 'Work from {start}',
    text: 'Until {end}: {duration}.',
    workStartsAt: '2027-01-31T22:00:00Z',
    workEndsAt: '2027-01-31T23:30:00Z',
  })
  const expected = [
    ['Work from 1 Feb 2027, 03:30 Asia/Kolkata', 'Until 1 Feb 2027, 05:00 Asia/Kolkata: 1 hour and 30 minutes.'],
    ['Work from 31 Jan 2027, 22:00 UTC', 'Until 31 Jan 2027, 23:30 UTC: 1 hour and 30 minutes.'],
  ] as const
  const seen = await Promise.all(
    [1, 2].map((number) => p.admin('GET', `/admin/messages/${draft.id}/preview?number=${number}`)),
  )
  expect(seen.map(({ subject, paragraphs }) => [subject, paragraphs[0]]).toSorted()).toEqual(expected as any)
  await p.admin('POST', `/admin/messages/${draft.id}/actions/send`, { expected: 2 })
  await played(p, draft.id)
  for (const [subject, words] of expected) {
    const [mail] = mailsOf(p, subject)
    expect((mail as any)?.text).toContain(words)
  }
})

test('a text that names the time of the work is not sent without it, nor with half or an impossible one', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const writer = p.signIn(p.owner.id)
  const draft = await p.admin('POST', '/admin/messages', { template: 'maintenance' })
  expect(draft.namesWithoutTime).toEqual(['start', 'end'])
  const change = (body: object) => p.call(writer, 'PATCH', `/admin/messages/${draft.id}`, body)
  const refusedField = async () => {
    const { status, body } = await p.call(writer, 'POST', `/admin/messages/${draft.id}/actions/send`, {})
    return [status, body.error?.details.fields[0].field]
  }
  expect(await refusedField()).toEqual([422, 'workStartsAt'])
  expect((await change({ workStartsAt: '2027-01-31T22:00:00Z' })).body.namesWithoutTime).toEqual([])
  expect(await refusedField()).toEqual([422, 'workEndsAt'])
  const backwards = await change({ workEndsAt: '2027-01-31T21:00:00Z' })
  expect([backwards.status, backwards.body.error.details.fields[0].field]).toEqual([422, 'workEndsAt'])
  expect(await p.admin('GET', `/admin/messages/${draft.id}`)).toMatchObject({ state: 'draft', workEndsAt: null })
  expect(p.mailed().filter(({ subject }) => subject.startsWith('Planned maintenance'))).toEqual([])
  expect((await change({ workEndsAt: '2027-01-31T23:00:00Z' })).status).toBe(200)
  expect((await p.call(writer, 'POST', `/admin/messages/${draft.id}/actions/send`, {})).status).toBe(202)
})
