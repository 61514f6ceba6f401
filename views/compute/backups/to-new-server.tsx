// Restoring a backup to a new server, for those who order servers.
import type { listPackages } from '../../../src/catalog/packages/packages.ts'
import { restoreToNewServer } from '../../../src/compute/backups/restore/to-new-server.ts'
import type { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Radios } from '../../components/choices.tsx'
import { Field, Select } from '../../components/field.tsx'
import { exactGb, smallSize } from '../../components/words.ts'

type Offers = Partial<Answers<{ offer: typeof listPackages; account: typeof getResellerAccount }>>
type Props = { of: { id: string; serverName: string; startedAt: string; diskGb: number }; area: Area } & Offers

/** The packages and locations that the reader may order; of a reseller those that it may sell. */
export const offered = ({ offer, account }: Offers) => ({
  packages: account?.packages ?? offer?.data.filter(({ archived }) => !archived) ?? [],
  places: account?.locations ?? offer?.locations ?? [],
})

export function RestoreToNewServer({ of: backup, area, ...offers }: Props) {
  const { packages, places } = offered(offers)
  const fits = packages.filter(({ diskGb }) => diskGb >= backup.diskGb)
  const open = places.filter((place) => place.open)
  const scope = `new-server-from-${backup.id}`
  return (
    <Action
      op={restoreToNewServer}
      params={{ id: backup.id }}
      label="To a new server"
      of={backup.startedAt}
      inMenu
      title={`Restore this backup of ${backup.serverName} to a new server`}
      submit="Order and restore"
      done="The new server is being created"
      leadsTo={`${area}/servers/{serverId}`}
      disabledReason={
        (!fits.length && `No package has a disk of ${exactGb(backup.diskGb)}.`) ||
        (!open.length && 'No location is open.')
      }
      fields={
        <>
          <Select
            scope={scope}
            name="packageId"
            label="Package"
            options={fits.map((p) => ({ value: p.id, label: `${p.name}: ${smallSize(p)}, ${exactGb(p.diskGb)}` }))}
          />
          <Select
            scope={scope}
            name="nodeGroupId"
            label="Location"
            options={open.map(({ id, name }) => ({ value: id, label: name }))}
          />
          <Field
            scope={scope}
            name="hostname"
            label="Hostname"
            value={backup.serverName.replace(/^([^.]{1,50})[^.]*/, '$1-restored')}
          />
          <Radios
            scope={scope}
            name="identity"
            label="Identity of its system"
            value="new"
            options={[
              {
                value: 'new',
                label: 'New',
                hint: 'The hostname above, new SSH host keys and a new machine id: it can run beside the old server.',
              },
              {
                value: 'keep',
                label: 'Keep',
                hint: 'Name, keys and machine id of the backup: it takes the place of the old server.',
              },
            ]}
          />
          <p class="hint">
            It belongs to the owner of the backup and is billed like any other server. Its system keeps passwords and
            data, and learns its new addresses at its first start.
          </p>
        </>
      }
    />
  )
}
