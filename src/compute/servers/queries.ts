// What other features read of servers. Terminated servers are not counted.
import { type Db, prepared } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { servers } from './tables.ts'

export const serverReference = reference(servers, ['hostname', 'ownerId', 'resellerId', 'terminatedAt'])

const counts = prepared(({ $client }) => {
  const where = (column: string) =>
    $client.prepare<{ n: number }, [string]>(
      `SELECT count(*) AS n FROM servers WHERE ${column} = ? AND terminated_at IS NULL`,
    )
  return { ofOwner: where('owner_id'), withPackage: where('package_id'), withImage: where('image_id') }
})
export const serversOfOwner = (tx: Db, ownerId: string): number => counts(tx).ofOwner.get(ownerId)!.n
export const serversWithPackage = (tx: Db, packageId: string): number => counts(tx).withPackage.get(packageId)!.n
export const serversWithImage = (tx: Db, imageId: string): number => counts(tx).withImage.get(imageId)!.n
