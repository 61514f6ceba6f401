// The pages of a panel in this process, for a browser: one origin for each person.
import type { Panel, Who } from './panel.ts'

/** Serves the panel's pages to one person, signed in. The caller stops it. */
export const pagesFor = (p: Pick<Panel, 'controller'>, who: Who) =>
  Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      if (who.cookie) headers.set('Cookie', `__Host-panel=${who.cookie}`)
      headers.set('Origin', 'https://panel.test')
      return p.controller.router.fetch(
        new Request(`http://localhost${pathname}${search}`, {
          method: request.method,
          headers,
          ...(request.body && { body: request.body }),
        }),
      )
    },
  })
