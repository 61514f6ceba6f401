// What other features read of servers. Terminated servers are not counted.
import { type Db, prepared } from '../../kernel/db/open.ts'
import { auditTargetOf, fromWorkloads } from '../workloads/queries.ts'

export const serverTarget = auditTargetOf('srv')

const counts = prepared(({ $client }) => {
  const where = (column: string) =>
    $client.prepare<{ n: number }, [string]>(
      `SELECT count(*) AS n ${fromWorkloads} JOIN servers s ON s.id = w.id WHERE ${column} = ? AND w.terminated_at IS NULL`,
    )
  return { ofOwner: where('w.owner_id'), withPackage: where('s.package_id'), withImage: where('s.image_id') }
})
export const serversOfOwner = (tx: Db, ownerId: string): number => counts(tx).ofOwner.get(ownerId)!.n
export const serversWithPackage = (tx: Db, packageId: string): number => counts(tx).withPackage.get(packageId)!.n
export const serversWithImage = (tx: Db, imageId: string): number => counts(tx).withImage.get(imageId)!.n
