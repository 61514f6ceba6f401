// Limits follow their settings and packages: an edit of either reaches the servers that have them.
import { allPackages, packageById } from '../../catalog/packages/queries.ts'
import { load } from '../../compute/server-records/model.ts'
import { idsWithPackage } from '../../compute/server-records/queries.ts'
import { system } from '../../kernel/api/actor.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { limitsOf } from '../firewall-records/policy.ts'
import { dueServers, isAnyDue, keepLimits, limitsTold, makeDue, noteSent } from '../firewall-records/queries.ts'
import { send } from './apply.ts'

/** Jobs that one turn starts: they share the runner with what people wait for. */
const MOST_AT_ONCE = 200

/** The first server of a package is told its limits when it is installed: only later ones are a change. */
export function rememberLimits(tx: Tx, packageId: string) {
  if (!limitsTold(tx).has(packageId))
    keepLimits(tx, packageId, JSON.stringify(limitsOf(tx, packageById(tx, packageId))))
}

/**
 * One turn: counts a change of the firewall of every server whose package has other limits than its servers were told,
 * and starts the jobs of the first servers that are due. Without a change it reads the packages and writes nothing.
 */
export function followLimits(db: Db, now: number) {
  if (!changedLimits(db).length && !isAnyDue(db)) return
  write(db, (tx) => {
    for (const { id, limits } of changedLimits(tx)) {
      makeDue(tx, idsWithPackage(tx, id))
      keepLimits(tx, id, limits)
    }
    for (const id of dueServers(tx, MOST_AT_ONCE)) {
      noteSent(tx, id)
      send(tx, load(tx, id), { by: system, now })
    }
  })
}

function changedLimits(tx: Db): { id: string; limits: string }[] {
  const told = limitsTold(tx)
  return allPackages(tx)
    .map((sold) => ({ id: sold.id, limits: JSON.stringify(limitsOf(tx, sold)) }))
    .filter(({ id, limits }) => told.has(id) && told.get(id) !== limits)
}
