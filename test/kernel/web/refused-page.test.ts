// The window's title of a refused page equals its heading.
import { expect, test } from 'bun:test'
import { world } from '../../support/world/panel.ts'

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
