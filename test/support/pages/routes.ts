// Every page that somebody can open, once: of pages with an id in their address, the first one that a link leads to.
import { registry } from '../../../src/app/features.ts'
import type { Panel, Who } from '../world/panel.ts'
import { walked } from './walk.ts'

const patterns = registry.pages.map(({ path }) => ({
  path,
  matches: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
}))
/** An address without an id comes before the page of a thing: `/admin/servers/new` is none of a server. */
const patternOf = (path: string) =>
  patterns.find((one) => one.path === path) ?? patterns.find(({ matches }) => matches.test(path))

/** `[path of the page as it is registered, an address of it]`, from this page by links. */
export async function routesOf(p: Panel, who: Pick<Who, 'cookie'>, start: string): Promise<[string, string][]> {
  const found = new Map<string, string>()
  for (const { path, status, text } of await walked(p, who, start)) {
    const [plain] = path.split('?') as [string]
    const pattern = patternOf(plain)
    if (status === 200 && text.includes('<main') && pattern && !found.has(pattern.path)) found.set(pattern.path, plain)
  }
  return [...found]
}
