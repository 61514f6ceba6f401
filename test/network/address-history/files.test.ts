// The history of an address as files, and the message to an owner that begins on its page.
import { describe, expect, test } from 'bun:test'
import { reportWords } from '../../../src/platform/messages/words.ts'
import { type World, world } from '../../support/world/panel.ts'

const hour = 3_600_000
/** web01 of Cal had the address, then web02 of Cal has it. */
async function lived() {
  const p = await world()
  const order = async (hostname: string): Promise<string> => {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname })
    await p.settle()
    return serverId
  }
  const first = await order('web01')
  const address: string = (await p.admin('GET', `/servers/${first}/ips`)).data[0].address
  p.turnClock(hour)
  const at = new Date(p.now()).toISOString()
  await p.admin('DELETE', `/servers/${first}?immediately=true`)
  await p.settle()
  p.turnClock(hour)
  const second = await order('web02')
  p.turnClock(hour)
  return { p, address, first, second, at }
}
/** The text of a file. Sessions do not live through the hours that went by. */
async function file(p: World, path: string, who = p.staff()) {
  const { status, headers, body } = await p.call(who, 'GET', path)
  return { status, type: headers.get('content-type'), body, text: String(body) }
}

describe('the history of an address as a file', () => {
  test('is a spreadsheet with a line for each holding', async () => {
    const { p, address, first, second } = await lived()
    using _ = p
    const { status, type, text } = await file(p, `/admin/addresses/${address}/history.csv`)
    expect([status, type]).toEqual([200, 'text/csv; charset=utf-8'])
    const [head, ...lines] = text.trim().split(/\r?\n/)
    expect(head).toContain('"address","prefixLength","pool","kind","server","serverId"')
    expect(lines.map((line) => line.split(',').slice(0, 6).join())).toEqual([
      `"${address}","24","v4","primary","web02","${second}"`,
      `"${address}","24","v4","primary","web01","${first}"`,
    ])
    expect(lines[1]).toContain(`"Cal","${p.customer.id}"`)
  })

  test('is a statement of who had it at a time, which names nobody else', async () => {
    const { p, address, first, at } = await lived()
    using _ = p
    const { status, type, text } = await file(p, `/admin/addresses/${address}/statement.txt?at=${at}`)
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(text).toMatch(new RegExp(`^Address: +${address.replaceAll('.', '\\.')}$`, 'm'))
    expect(text).toMatch(new RegExp(`^Server: +web01 \\(${first}\\)$`, 'm'))
    expect(text).toMatch(new RegExp(`^Owner: +Cal \\(${p.customer.id}\\)$`, 'm'))
    expect(text).toMatch(/^Began by: +servers\.create by System, job_/m)
    expect(text).toMatch(/^To: +\d.* UTC$/m)
    expect(text).not.toContain('web02')
    const all = (await file(p, `/admin/addresses/${address}/statement.txt`)).text
    expect(all.match(/^Server: +\S+/gm)?.map((line) => line.split(/ +/)[1])).toEqual(['web02', 'web01'])
    expect(all).toMatch(/^To: +still$/m)
    const before = '2001-01-01T00:00:00Z'
    expect((await file(p, `/admin/addresses/${address}/statement.txt?at=${before}`)).text).toContain(
      'Nobody had this address at that time',
    )
  })

  test('is refused for an address that nobody knows, and to those who may not read customers', async () => {
    const { p, address } = await lived()
    using _ = p
    for (const name of ['history.csv', 'statement.txt']) {
      const unknown = await file(p, `/admin/addresses/192.0.2.1/${name}`)
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'address_not_found'])
      for (const who of [p.account('customer', 'Nia'), p.staff(['nodes.read'])]) {
        const refused = await file(p, `/admin/addresses/${address}/${name}`, who)
        expect(refused.status).toBe(403)
        expect(JSON.stringify(refused.body)).not.toContain('web01')
      }
    }
  })
})

describe('a message to the owner of an address', () => {
  test('goes to the account that had it, also if the server belongs to another one by now', async () => {
    const { p, address, second } = await lived()
    using _ = p
    const hera = p.account('customer', 'Hera')
    p.db.$client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [hera.id, second])
    const { subject, text } = reportWords(address, '1 January 2027, 10:00 UTC', { hasServer: true })
    const draft = await p.admin('POST', '/admin/messages', {
      audience: { accountId: p.customer.id, serverIds: [second] },
      subject,
      text,
    })
    expect(draft.audience).toEqual({ account: { id: p.customer.id, name: 'Cal' }, serverIds: [second] })
    expect([draft.counts.recipients, draft.unknownNames]).toEqual([1, []])
    const preview = await p.admin('GET', `/admin/messages/${draft.id}/preview`)
    expect([preview.of, preview.greeting, preview.subject]).toEqual([
      1,
      'Hello Cal,',
      `A report about the address ${address}`,
    ])
    expect(preview.paragraphs[0]).toBe(
      `We got a report about the address ${address} on 1 January 2027, 10:00 UTC, which belonged to your server web02.`,
    )
  })

  test('goes to the reseller of a customer, unless customers of resellers get it themselves', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Rita')
    const customer = p.account('customer', 'Kim', reseller.id)
    const toOf = async (more: object) => {
      const draft = await p.admin('POST', '/admin/messages', { audience: { accountId: customer.id }, ...more })
      return (await p.admin('GET', `/admin/messages/${draft.id}/recipients`)).data.map(({ name }: any) => name)
    }
    expect(await toOf({})).toEqual(['Rita'])
    expect(await toOf({ toCustomersOfResellers: true })).toEqual(['Kim'])
  })
})
