import { mayCall } from '../../kernel/api/operation.ts'
import type { Attention, Source } from '../../kernel/attention.ts'
import { day, hour, iso, minute, second } from '../../kernel/db/clock.ts'
import type { TroubleKind } from '../../kernel/db/health.ts'
import { troubleOf } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { DISK_SHOWN_PERCENT, getPanelHost, MEMORY_SHOWN_PERCENT } from './panel-host.ts'

/** Two figures, for actors who may see the host. */
export const fullHost: Source = ({ actor, host }) => {
  if (!mayCall(getPanelHost, actor)) return []
  const at = { since: null, action: 'Open controller host', href: '/admin/controller' }
  const found: Attention[] = []
  const disk = host.disk().percent
  if (disk >= DISK_SHOWN_PERCENT)
    found.push({
      level: 'bad',
      what: `Disk holding the database is ${disk} % full.`,
      effect: 'Free space or grow it: when it is full, nothing can be changed any more. Servers keep running.',
      ...at,
    })
  const memory = host.memory().memory.percent
  if (memory >= MEMORY_SHOWN_PERCENT)
    found.push({
      level: 'warn',
      what: `Memory of the controller host is ${memory} % used.`,
      effect: 'When it runs out the system ends programs, Berth among them. Stop what else runs there or add memory.',
      ...at,
    })
  return found
}

/** Certificates of common authorities are renewed earlier than this. */
const CERTIFICATE_SHOWN_MS = 14 * day

/** The certificate of the built-in TLS ends soon, or has ended. Its dates are compared with the host's own clock. */
export const certificateEnds: Source = ({ actor, host, wallClock }) => {
  const end = host.certificateEndsAt
  if (!mayCall(getPanelHost, actor) || end === undefined) return []
  const leftMs = end - wallClock()
  if (leftMs > CERTIFICATE_SHOWN_MS) return []
  return [
    {
      level: leftMs <= 3 * day ? 'bad' : 'warn',
      what: leftMs <= 0 ? 'The TLS certificate has expired.' : `The TLS certificate expires in ${inWords(leftMs)}.`,
      effect:
        'Browsers and nodes refuse the controller once it has expired. Renew the file in PANEL_TLS_CERT and restart ' +
        'Berth: it reads the certificate at start.',
      since: null,
      action: 'Open controller host',
      href: '/admin/controller',
    },
  ]
}

/** The host's clock was set and is still away from the product's time. */
export const clockSet: Source = ({ actor, time }) => {
  const jump = mayCall(getPanelHost, actor) ? time.unsettled() : undefined
  if (!jump) return []
  return [
    {
      level: 'warn',
      what: `The clock of the controller host was set ${setBy(jump.byMs)}.`,
      effect:
        'Sessions, limits and retries continue unharmed, by the time from before. Set the clock right. If it is ' +
        `right now, leave it: times in records reach it within ${inWords(jump.settledInMs)}.`,
      since: iso(jump.at),
      action: 'Open controller host',
      href: '/admin/controller',
    },
  ]
}

/** `back by 1 hour`, `forward by 12 minutes` */
export const setBy = (byMs: number) => `${byMs < 0 ? 'back' : 'forward'} by ${inWords(Math.abs(byMs))}`

/** Two measured days may lack a millisecond: half of the next smaller unit is rounded up before a unit is chosen. */
function inWords(ms: number): string {
  if (ms >= 2 * day - hour / 2) return count(Math.round(ms / day), 'day')
  if (ms >= hour - minute / 2) return count(Math.round((ms / hour) * 10) / 10, 'hour')
  if (ms >= 2 * minute - second / 2) return count(Math.round(ms / minute), 'minute')
  return count(Math.round(ms / second), 'second')
}

/** How each trouble of the database ends. */
const remedies: Record<TroubleKind, string> = {
  full: 'Make room on it, or grow it. Changes resume by themselves a few seconds later.',
  failing:
    'Look at the disk and at the journal of the host. Changes resume by themselves when everything could be ' +
    'written anew; restart Berth if its file system is read-only and you have mounted it again.',
  'read-only':
    'Look at the permissions of the data directory and at how its file system is mounted. Changes begin again by ' +
    'themselves when it can be written.',
  damaged: 'Stop Berth, keep a copy of the database, and restore a backup: sudo berth backup restore FILE.',
  replaced: 'Stop Berth, put the right database in place, and start it again.',
  unconfirmed: 'Changes begin when it answers. To go on without it, take PANEL_REPLICA away and restart Berth.',
  unshipped:
    'Changes begin when it answers. To go on without waiting, take PANEL_REPLICA_WAITS away and restart Berth.',
  'taken-over':
    'This controller is the old one. Use the other, and begin this one as its standby: berth serve --standby.',
}

/** A database that cannot be written, and the jobs that wait for it or were stopped by an error of Berth itself. */
export const unwritableDatabase: Source = ({ tx, actor, interruptedJobs }) => {
  if (!mayCall(getPanelHost, actor)) return []
  const found: Attention[] = []
  const trouble = troubleOf(tx)
  const jobs = interruptedJobs()
  if (trouble) {
    const waiting = jobs.length ? ` ${count(jobs.length, 'job')} will continue when they resume.` : ''
    const rescued = trouble.rescued ? ` All that Berth knows is in ${trouble.rescued}.` : ''
    found.push({
      level: 'bad',
      what: `${trouble.reason} Changes are refused and jobs wait.`,
      effect: `${remedies[trouble.kind]}${rescued}${waiting} Servers keep running.`,
      since: iso(trouble.since),
      action: 'Open controller host',
      href: '/admin/controller',
    })
    return found
  }
  if (jobs.length) {
    const oldest = jobs.reduce((first, job) => (job.since < first.since ? job : first))
    found.push({
      level: 'bad',
      what: `An error outside their steps stopped ${count(jobs.length, 'job')}. Berth starts them again.`,
      effect: `The oldest is ${oldest.jobId}, begun again ${count(oldest.tries, 'time')}: ${oldest.reason}`,
      since: iso(oldest.since),
      action: 'Open job',
      href: `/admin/jobs/${oldest.jobId}`,
    })
  }
  return found
}
