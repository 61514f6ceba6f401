// The window's title of a refused page equals its heading.
import { expect, test } from 'bun:test'
import { world } from '../../support/world/panel.ts'

test('a page of another kind of account looks like one that does not exist', async () => {
  using p = await world()
  const ask = async (cookie: string, path: string) => {
    const request = new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } })
    const answer = await p.controller.router.fetch(request)
    return { status: answer.status, location: answer.headers.get('Location'), text: await answer.text() }
  }
  const own = (text: string) =>
    text.replace(/name="csrf-token" content="[^"]*"|nonce="[^"]*"|data-now="\d+"|[0-9a-f]{8}-[0-9a-f-]{27}/g, '')
  const nowhere = await ask(p.customer.cookie!, '/admin/nowhere')
  expect(nowhere.status).toBe(404)
  let hidden = 0
  for (const page of p.controller.app.registry.pages.filter(({ path }) => path.startsWith('/admin'))) {
    const { status, location, text } = await ask(p.customer.cookie!, page.path.replace(/\{\w+\}/g, p.node.id))
    // Some pages of staff lead to where customers have the same.
    if (location !== null) expect([page.path, location]).toEqual([page.path, expect.not.stringContaining('/admin')])
    else expect([page.path, status, own(text)]).toEqual([page.path, 404, own(nowhere.text)])
    hidden++
  }
  expect(hidden).toBeGreaterThan(10)
})

test('a refused page has one title', async () => {
  using p = await world()
  for (const [path, status, title] of [
    ['/admin/nowhere', 404, 'Not found'],
    ['/admin/servers?limit=0', 400, 'This page cannot be shown'],
    ['/admin/customers?locked=perhaps', 400, 'This page cannot be shown'],
  ] as const) {
    const answer = await p.controller.router.fetch(
      new Request(`http://localhost${path}`, {
        headers: { Cookie: `__Host-panel=${p.staff(undefined, 'Olga').cookie}` },
      }),
    )
    const text = await answer.text()
    expect([path, answer.status, /<title>([^<]*) ·/.exec(text)?.[1], /<h1>([^<]*)</.exec(text)?.[1]]).toEqual([
      path,
      status,
      title,
      title,
    ])
  }
})
