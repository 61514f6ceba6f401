// Every backup that the reader sees, with those that no page of a server has: their server is terminated or another's.
import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { deleteBackupById } from '../../../src/compute/backups/delete.ts'
import { listAllBackups } from '../../../src/compute/backups/list.ts'
import { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { type Answers, allIfAllowed, ifAllowed } from '../../../src/kernel/web/page.ts'
import { Menu } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'
import { exactGb } from '../../components/words.ts'
import { BackupState, BrowseFiles, DeleteBackup } from './row.tsx'
import { RestoreToNewServer } from './to-new-server.tsx'

const reads = {
  backups: listAllBackups,
  offer: allIfAllowed(listPackages),
  account: ifAllowed(getResellerAccount, () => ({})),
}
type InArea = Answers<typeof reads> & { area: Area }
type Backup = InArea['backups']['data'][number]

export const allBackupsPages = inEveryArea({
  path: '/backups',
  reads,
  title: 'Backups',
  nav: 'backups',
  view: ({ backups, ...offers }, area) => (
    <>
      <Head
        title="Backups"
        sub={
          <span>
            Backups outlive their server for a time, and stay with their owner when it goes to somebody else.
            {area === '' && ' To have one restored to a new server, ask your provider.'}
          </span>
        }
      />
      <List
        of={backups}
        noun="backup"
        every={10}
        filters={[
          { name: 'serverId', label: 'Server', value: backups.data[0]?.serverName ?? 'one' },
          { name: 'left', label: 'State of the server', options: [['true', 'terminated or another’s']] },
        ]}
        empty={<Empty title="No backups yet">Make one on the page Backups of a server.</Empty>}
      >
        <Table label="Backups" rows={backups.data} columns={columnsFor(area, offers)} idOf={(b) => b.id} flow />
      </List>
    </>
  ),
})

const columnsFor = (area: Area, offers: Omit<InArea, 'backups' | 'area'>): Column<Backup>[] => [
  {
    title: 'Server',
    kind: 'name',
    width: 26,
    cell: (b) => (
      <>
        <b>{b.left ? b.serverName : <Link href={`${area}/servers/${b.serverId}/backups`}>{b.serverName}</Link>}</b>
        {area !== '' && <small>{b.ownerName}</small>}
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 14, cell: (b) => <BackupState of={b} /> },
  {
    title: 'Made',
    kind: 'wide',
    width: 32,
    cell: (b) => (
      <>
        <Exact iso={b.startedAt} />, {exactGb(b.diskGb)} disk, {b.targetName}
        <BrowseFiles of={b} area={area} />
        {b.error && <small>{b.error.message}</small>}
        {b.keptAt && <small>Its append-only target did not delete it.</small>}
      </>
    ),
  },
  {
    title: 'Kept until',
    kind: 'wide',
    width: 22,
    cell: (b) => (b.keepUntil ? <Exact iso={b.keepUntil} /> : <span class="muted">No end set</span>),
  },
  {
    title: 'Actions',
    kind: 'more',
    cell: (b) =>
      (b.state === 'ready' || b.state === 'failed') && (
        <Menu label={`Actions for the backup of ${b.serverName}`} small>
          {b.state === 'ready' && area !== '' && <RestoreToNewServer of={b} area={area} {...offers} />}
          <DeleteBackup
            op={deleteBackupById}
            params={{ id: b.id }}
            of={b}
            title={`Delete this backup of ${b.serverName}?`}
            loss="Nothing brings back what is in it."
            others="Other backups stay as they are."
          />
        </Menu>
      ),
  },
]
