// Spreadsheets of everything, and what others wait meanwhile: a second thread makes them.
import { memoryMb } from '../../cleanup.ts'
import type { Running } from '../../controller.ts'
import { goal, ms, percentile, round, table } from '../../words.ts'

const FILE_GOAL_MS = 10_000
const OTHERS_GOAL_MS = 50
const files = ['/admin/servers.csv', '/reports/usage.csv', '/admin/customers.csv', '/admin/audit.csv']
const checks = ['/admin/audit/verify']

/** Prints how long each takes, and the calls of somebody else meanwhile. */
export async function askLongReads({ url, process: { pid } }: Running, token: string) {
  const ask = (path: string) => fetch(`${url}/api/v1${path}`, { headers: { Authorization: `Bearer ${token}` } })
  const rows = []
  // The first one starts the thread.
  await (await ask('/admin/customers.csv?q=nobody')).text()
  for (const path of [...files, ...checks]) {
    let isDone = false
    const waited: number[] = []
    const others = (async () => {
      while (!isDone) {
        const began = performance.now()
        await (await ask('/servers?limit=1')).text()
        waited.push(performance.now() - began)
        await Bun.sleep(20)
      }
    })()
    const began = performance.now()
    const response = await ask(path)
    let bytes = 0
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) bytes += piece.length
    const took = performance.now() - began
    isDone = true
    await others
    const worst = percentile(waited, 99)
    rows.push([
      path,
      response.ok ? `${round(bytes / 1e6, 1)} MB` : `status ${response.status}`,
      ms(took),
      goal(took <= FILE_GOAL_MS, ms(FILE_GOAL_MS)),
      ms(worst),
      goal(worst <= OTHERS_GOAL_MS, ms(OTHERS_GOAL_MS)),
      `${round(memoryMb(pid))} MB`,
    ])
  }
  table(['long read', 'size', 'whole', 'goal', 'others, p99', 'goal', 'resident'], rows)
}
