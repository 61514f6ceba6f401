// Runs one method of the real driver on the machine that it is in: `run.ts METHOD JSON`. CRASH_AT names a moment at
// which it is killed.
import { appendFileSync } from 'node:fs'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import { HostSourceRemovals } from '../../../agent/drivers/source-removal/host-removals.ts'
import { failureOf } from '../../../agent/failure.ts'

const [method, given = '[]'] = process.argv.slice(2)
const moments = process.env['MOMENTS']
const driver = new HostSourceRemovals({
  dir: '/var/lib/berth-agent/source-removals',
  protectedPaths: async () => ['/var/lib/berth-agent', ...(process.env['PROTECTED'] ?? '').split(':').filter(Boolean)],
  now: () => Date.UTC(2026, 10, 26, 9, 41, 7),
  settledMs: 10,
  crash: (moment) => {
    if (moments) appendFileSync(moments, `${moment}\n`)
    if (process.env['CRASH_AT'] === moment) process.kill(process.pid, 'SIGKILL')
  },
})
const log: string[] = []
const call = driver[method as 'look'] as (...args: unknown[]) => Promise<unknown>
const answer = await loggingTo({ line: (level, text) => log.push(`${level}: ${text}`), progress: () => {} }, () =>
  call.apply(driver, JSON.parse(given)).then(
    (output) => ({ output }),
    (error) => ({ error: failureOf(error) }),
  ),
)
process.stdout.write(JSON.stringify({ ...answer, log }))
