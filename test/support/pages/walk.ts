// A walk over the site: from a page by every link to every page that it leads to.
import type { Panel, Who } from '../world/panel.ts'

/** `from`: the page that links to it; '' for the first. `text` is empty where the page is not shown. */
export type WalkedPage = { path: string; from: string; status: number; text: string }

const MOST_PAGES = 1200
/** Addresses that differ in their query only, such as the pages of a list and what is chosen on them. */
const MOST_OF_ONE_PAGE = 30

/** Opens the page and, until none is new, every page that a link leads to. Throws where there are far too many. */
export async function walked(p: Panel, { cookie }: Pick<Who, 'cookie'>, start: string): Promise<WalkedPage[]> {
  const pages = new Map<string, WalkedPage>()
  const from = new Map([[start, '']])
  const ofOnePage = new Map<string, number>()
  const isNew = (address: string) => {
    if (from.has(address)) return false
    const [page] = address.split('?') as [string]
    const n = (ofOnePage.get(page) ?? 0) + 1
    ofOnePage.set(page, n)
    return n <= MOST_OF_ONE_PAGE
  }
  for (const path of from.keys()) {
    if (from.size > MOST_PAGES) throw new Error(`more than ${MOST_PAGES} pages: ${[...from.keys()].slice(-5)}`)
    const response = await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } }),
    )
    const { status } = response
    const text = status === 200 ? await response.text() : ''
    pages.set(path, { path, from: from.get(path)!, status, text })
    for (const [, href] of text.matchAll(/<a\b[^>]*\bhref="(\/[^"#]*)[^"]*"/g)) {
      const next = href!.replaceAll('&amp;', '&')
      // Files and the API are looked at elsewhere.
      if (!/^\/(api|assets|brand)\//.test(next) && isNew(next)) from.set(next, path)
    }
  }
  return [...pages.values()]
}
