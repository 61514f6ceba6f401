import { mayCall } from '../../kernel/api/operation.ts'
import type { Attention, Source } from '../../kernel/attention.ts'
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
