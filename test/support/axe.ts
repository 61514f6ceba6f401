import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const source = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url).pathname, 'utf8')

/**
 * The findings of axe-core against WCAG 2.2 AA, one line each. It is brought in from outside the page, past its policy.
 */
export async function complaintsOfAxe(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: source })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe
      .run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then((r) => JSON.stringify(r.violations.map((v) =>
        v.id + ': ' + v.help + ' at ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', '))))`,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  return JSON.parse(result.value as string)
}
