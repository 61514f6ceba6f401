// A browser that sends a form by itself, because its script is off or has not loaded.
import type { Panel } from '../world/panel.ts'

/** The headers of a browser whose person presses a button of a page. */
export const navigation = {
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Sec-Fetch-Mode': 'navigate',
}
const fromOurPage = { Origin: 'https://panel.test', 'Sec-Fetch-Site': 'same-origin' }

/** Sends the form to the address of a page. `isOurs`: from our own page, which `headers` may contradict. */
export const submit = (
  p: Pick<Panel, 'controller'>,
  path: string,
  form: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
  isOurs = true,
): Promise<Response> =>
  p.controller.router.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...navigation,
        ...(isOurs ? fromOurPage : {}),
        ...headers,
      },
      body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    }),
  )
