// The pages of a panel in this process, for a browser: one origin for each person.
import type { Panel, Who } from '../world/panel.ts'

/** Serves the panel's pages to one person, signed in or, without a cookie, not yet. The caller stops it. */
export function pagesFor(p: Pick<Panel, 'controller'>, who: Who) {
  const jar = new Map<string, string>(who.cookie ? [['__Host-panel', who.cookie]] : [])
  return Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      headers.set('Cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
      headers.set('Origin', 'https://panel.test')
      const response = await p.controller.router.fetch(
        new Request(`http://localhost${pathname}${search}`, {
          method: request.method,
          headers,
          ...(request.body && { body: request.body }),
        }),
      )
      // The browser would refuse their names over plain HTTP.
      for (const text of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
        jar.set(name, value)
      }
      return response
    },
  })
}

/** The text of a page as this person gets it, with its markup. */
export async function htmlOf(p: Pick<Panel, 'controller'>, who: Who, path: string): Promise<string> {
  const headers = { Cookie: `__Host-panel=${who.cookie}` }
  return await (await p.controller.router.fetch(new Request(`http://localhost${path}`, { headers }))).text()
}
