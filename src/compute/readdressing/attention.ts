// Servers whose system has not learned its new addresses: it cannot be reached until it has.
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso, minute } from '../../kernel/db/clock.ts'
import { load } from '../server-records/model.ts'
import { silentSwitches } from './queries.ts'

/** A system that boots answers within this. */
const SHOWN_AFTER_MS = 5 * minute

/** For staff who see all servers. Of a Linux, its start tells it. */
export const silentGuests: Source = ({ tx, actor, clock }) =>
  actor.kind === 'staff' && actor.permissions.has('servers.see_all')
    ? silentSwitches(tx, clock() - SHOWN_AFTER_MS, MOST_SHOWN).flatMap(({ serverId, error, since }) => {
        const { hostname, terminatedAt } = load(tx, serverId)
        if (terminatedAt !== null) return []
        return [
          {
            level: 'warn' as const,
            what: `The system of ${hostname} has not learned its new addresses.`,
            effect:
              `${error} It cannot be reached until it has them. It is asked on; its owner can set them by the ` +
              'console.',
            since: iso(since),
            action: 'Open server',
            href: `/admin/servers/${serverId}`,
          },
        ]
      })
    : []
