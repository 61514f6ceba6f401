import { mayCall } from '../../kernel/api/operation.ts'
import type { Attention, Source } from '../../kernel/attention.ts'
import { day, hour, iso, minute, second } from '../../kernel/db/clock.ts'
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

/** The host's clock was set and is still away from the product's time. */
export const clockSet: Source = ({ actor, time }) => {
  const jump = mayCall(getPanelHost, actor) ? time.unsettled() : undefined
  if (!jump) return []
  return [
    {
      level: 'warn',
      what: `The clock of the controller host was set ${setBy(jump.byMs)}.`,
      effect:
        'Sessions, limits and retries go on unharmed, by the time from before. Set the clock right. If it is right ' +
        'now, restart the controller: it takes the new time over at its start.',
      since: iso(jump.at),
      action: 'Open controller host',
      href: '/admin/controller',
    },
  ]
}

/** `back by 1 hour`, `forward by 12 minutes` */
export function setBy(byMs: number): string {
  const ms = Math.abs(byMs)
  const words =
    ms >= 2 * day
      ? count(Math.round(ms / day), 'day')
      : ms >= hour
        ? count(Math.round((ms / hour) * 10) / 10, 'hour')
        : ms >= 2 * minute
          ? count(Math.round(ms / minute), 'minute')
          : count(Math.round(ms / second), 'second')
  return `${byMs < 0 ? 'back' : 'forward'} by ${words}`
}
