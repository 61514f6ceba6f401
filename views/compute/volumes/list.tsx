import { listVolumes } from '../../../src/compute/volumes/list.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Live } from '../../components/live.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { exactGb } from '../../components/words.ts'
import { type Volume, VolumeMenu, VolumeState } from './actions.tsx'

export const volumesPages = inEveryArea({
  path: '/volumes',
  reads: { volumes: listVolumes },
  title: 'Volumes',
  nav: 'volumes',
  view: ({ volumes }, area) => (
    <>
      <Head
        title="Volumes"
        sub={
          <span>
            Extra disks that outlive their server and move between servers on the same node. Not included in snapshots
            or backups.
          </span>
        }
      />
      <Live id="list" every={4}>
        <List
          of={volumes}
          noun="volume"
          filters={[
            { name: 'q', label: 'Search volumes', placeholder: 'Name or vol_…' },
            { name: 'nodeId', label: 'Node', value: 'one' },
          ]}
          empty={<Empty title="No volumes yet">Make one on the page Volumes of a server whose package has some.</Empty>}
        >
          <Table label="Volumes" rows={volumes.data} columns={columnsFor(area)} idOf={(v) => v.id} />
        </List>
      </Live>
    </>
  ),
})

const columnsFor = (area: Area): Column<Volume>[] => [
  { title: 'Name', kind: 'name', width: 26, cell: (v) => <b>{v.name}</b> },
  {
    title: 'State',
    kind: 'state',
    width: 14,
    cell: (v) =>
      v.jobId ? (
        <Link href={`${area}/jobs/${v.jobId}`}>
          <VolumeState of={v} />
        </Link>
      ) : (
        <VolumeState of={v} />
      ),
  },
  {
    title: 'Server',
    kind: 'addr',
    width: 22,
    cell: (v) =>
      v.server ? (
        <Link href={`${area}/servers/${v.server.id}/backups#volumes`}>{v.server.hostname}</Link>
      ) : (
        <span class="muted">None</span>
      ),
  },
  {
    title: 'Size',
    kind: 'mid',
    width: 18,
    cell: (v) => `${exactGb(v.sizeGb)}${v.storageClass ? ` ${v.storageClass}` : ''}`,
  },
  {
    title: area === '' ? 'Location' : 'Owner',
    kind: 'a',
    width: 20,
    cell: (v) => (area === '' ? v.location.name : v.owner.name),
  },
  { title: 'Actions', kind: 'more', cell: (v) => <VolumeMenu of={v} /> },
]
