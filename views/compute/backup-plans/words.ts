import type { listBackupPlans } from '../../../src/compute/backups/plans/plans.ts'
import { frequencyWords } from '../../../src/compute/backups/plans/times.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'

export type Plan = Answers<{ p: typeof listBackupPlans }>['p']['data'][number]

const inMinutes = (startsAt: string) => Number(startsAt.slice(0, 2)) * 60 + Number(startsAt.slice(3))
const asTime = (minutes: number) =>
  `${String(Math.floor(minutes / 60) % 24).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

type Times = Pick<Plan, 'every' | 'startsAt' | 'timeZone' | 'windowMinutes'>
/** `Every day, 01:00 to 05:00 (Europe/Berlin)` */
export function timesWords({ every, startsAt, timeZone, windowMinutes }: Times): string {
  const end = windowMinutes ? ` to ${asTime(inMinutes(startsAt) + windowMinutes)}` : ''
  const often = frequencyWords[every]
  return every.endsWith('hours')
    ? `${startsAt}${end}, then ${often.toLowerCase()} (${timeZone})`
    : `${often}, ${startsAt}${end} (${timeZone})`
}
