// A person and a billing system that go on asking while something else is measured.
import type { Seeded } from '../../support/world/seed.ts'
import { goal, ms, percentile, say } from '../words.ts'

const ASKS_PER_SECOND = 10

type Times = { page: number[]; api: number[]; wrong: number }

/**
 * Asks pages and the API all the while, at a fixed pace: an answer that is late does not make the next question late.
 * `url`: of the controller, which may be another one after a while.
 */
export async function askMeanwhile(words: string, seeded: Seeded, url: () => string, work: () => Promise<unknown>) {
  say(`Watching: ${words} …`)
  const times: Times = { page: [], api: [], wrong: 0 }
  const going = new Set<Promise<void>>()
  const timer = setInterval(() => {
    for (const kind of ['page', 'api'] as const) {
      const promise = ask(url(), kind, seeded, times).finally(() => going.delete(promise))
      going.add(promise)
    }
  }, 1000 / ASKS_PER_SECOND)
  await work()
  clearInterval(timer)
  await Promise.all(going)
  const row = (what: string, of: number[], limit: number) => [
    `${what}: p50 / p99 / longest`,
    [50, 99, 100].map((p) => ms(percentile(of, p))).join(' / '),
    goal(percentile(of, 99) <= limit, `${limit} ms`),
  ]
  return {
    times,
    rows: (when: string) => [
      row(`GET /admin (page), ${when}`, times.page, 1000),
      row(`GET /admin/servers?limit=50 (API), ${when}`, times.api, 1000),
      ...(times.wrong ? [[`answers other than 200 or 404, ${when}`, times.wrong, '']] : []),
    ],
  }
}

async function ask(url: string, kind: 'page' | 'api', { session, tokens }: Seeded, times: Times) {
  const [path, headers] =
    kind === 'page'
      ? ['/admin', { Cookie: `panel=${session}` }]
      : ['/api/v1/admin/servers?limit=50', { Authorization: `Bearer ${tokens[times.api.length % tokens.length]}` }]
  const at = performance.now()
  const status = await fetch(url + path, { headers: headers as Record<string, string>, redirect: 'manual' }).then(
    async (response) => {
      await response.arrayBuffer()
      return response.status
    },
    () => 0,
  )
  times[kind].push(performance.now() - at)
  // A page that is not written yet is 404 by the same way through the controller.
  if (status !== 200 && status !== 404) times.wrong++
}
