import { areas } from '../../identity/account-records/areas.ts'
import { visible } from '../../identity/team/access.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { failedBackups } from './queries.ts'

/** Servers whose newest backup failed. */
export const failedBackupsShown: Source = ({ tx, actor }) =>
  failedBackups(tx, visible(tx, actor), MOST_SHOWN).map(({ serverId, hostname, words, at }) => ({
    level: 'bad',
    what: `The last backup of ${hostname} failed.`,
    effect: words,
    since: iso(at),
    action: 'Open its backups',
    href: `${areas[actor.kind]}/servers/${serverId}/backups`,
  }))
