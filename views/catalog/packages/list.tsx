import { overTrafficPolicies, overTrafficWords } from '../../../src/catalog/packages/over-traffic.ts'
import { changePackage, createPackage, listPackages } from '../../../src/catalog/packages/packages.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu } from '../../components/action.tsx'
import { Check, Field, Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count, size, traffic, units } from '../../components/words.ts'
import { restartPolicies } from '../../compute/servers/words.ts'

type Package = Answers<{ p: typeof listPackages }>['p']['data'][number]

export const packagesPage = page({
  path: '/admin/packages',
  reads: { packages: listPackages },
  title: 'Packages',
  nav: 'packages',
  view: ({ packages }) => (
    <>
      <Head
        title="Packages"
        actions={<AddPackage />}
        sub={<span>Sizes that servers are ordered in. A server keeps the size it was ordered with.</span>}
      />
      <List
        of={packages}
        noun="package"
        sorts={columns}
        empty={
          <Empty title="No packages yet">
            A package is what you sell: memory, disk and traffic. Every order needs one.
          </Empty>
        }
      >
        <Table label="Packages" rows={packages.data} columns={columns} idOf={(p) => p.id} sortable />
      </List>
    </>
  ),
})

const columns: readonly Column<Package>[] = [
  {
    title: 'Package',
    kind: 'name',
    width: 20,
    sort: 'name',
    cell: (p) => (
      <>
        <b title={p.name}>{p.name}</b>
        {p.billingProductId && <small class="mono">{p.billingProductId}</small>}
      </>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 12,
    sort: 'archived',
    cell: (p) =>
      p.archived ? (
        <State tone="idle" shape="hold">
          Archived
        </State>
      ) : (
        <State tone="ok" shape="dot">
          On sale
        </State>
      ),
  },
  { title: 'Size', kind: 'addr', width: 24, sort: 'memoryMb', cell: (p) => <span title={size(p)}>{size(p)}</span> },
  {
    title: 'Traffic',
    kind: 'a',
    width: 15,
    sort: 'trafficGb',
    cell: (p) => (p.trafficGb ? `${traffic(p.trafficGb)} a month` : 'Unlimited'),
  },
  {
    title: 'Addresses',
    kind: 'b',
    width: 16,
    cell: (p) => `${p.ipv4} IPv4${p.ipv6Prefix ? `, IPv6 /${p.ipv6Prefix}` : ''}`,
  },
  {
    title: 'Servers',
    kind: 'mid',
    num: true,
    width: 8,
    cell: (p) =>
      p.servers ? (
        <Link to="/admin/servers" query={{ packageId: p.id }}>
          {p.servers}
        </Link>
      ) : (
        '0'
      ),
  },
  { title: 'Actions', kind: 'more', cell: (p) => <PackageMenu of={p} /> },
]

const AddPackage = () => (
  <Action
    op={createPackage}
    label="Add package"
    icon="plus"
    tone="pri"
    wide
    done="{name} is added"
    fields={<PackageFields scope="package" />}
  />
)

/** Nothing for readers who may only look. */
const PackageMenu = ({ of: p }: { of: Package }) =>
  useAt().may(changePackage) ? (
    <Menu label={`Actions for ${p.name}`} small>
      <EditEntry op={changePackage} of={p} label="Edit" wide fields={<PackageFields scope={`edit-${p.id}`} of={p} />} />
      {p.archived ? <Restore of={p} /> : <Archive of={p} />}
    </Menu>
  ) : null

const Restore = ({ of: p }: { of: Package }) => (
  <Action
    op={changePackage}
    params={{ id: p.id }}
    label="Restore"
    of={p.name}
    inMenu
    body={{ archived: false }}
    done={`${p.name} is on sale`}
  />
)

const Archive = ({ of: p }: { of: Package }) => (
  <Action
    op={changePackage}
    params={{ id: p.id }}
    label="Archive"
    of={p.name}
    inMenu
    body={{ archived: true }}
    title={`Archive ${p.name}?`}
    done={`${p.name} is archived`}
    confirm={{
      keep: 'Keep on sale',
      consequences: [
        'It can no longer be ordered.',
        p.servers > 0 && `${count(p.servers, 'existing server')} with it keep${p.servers === 1 ? 's' : ''} running.`,
        'It can be restored.',
      ],
    }}
  />
)

type FieldsProps = { scope: string; of?: Package }
const PackageFields = ({ scope, of: p }: FieldsProps) => (
  <>
    <Field scope={scope} name="name" label="Name" required value={p?.name} placeholder="KVM 2G" />
    <div class="pair">
      <Field scope={scope} name="vcpus" label="vCPUs" as="number" required value={p?.vcpus ?? 2} />
      <Field
        scope={scope}
        name="memoryMb"
        label="Memory"
        as="number"
        unit={units.memoryMb}
        required
        value={p?.memoryMb ?? 2048}
      />
      <Field
        scope={scope}
        name="diskGb"
        label="Disk"
        as="number"
        unit={units.diskGb}
        required
        value={p?.diskGb ?? 40}
      />
    </div>
    <div class="pair">
      <Field
        scope={scope}
        name="trafficGb"
        label="Monthly traffic"
        as="number"
        nullable
        unit={units.trafficGb}
        value={p?.trafficGb}
      />
      <Field scope={scope} name="portMbps" label="Port speed" as="number" nullable unit="Mbit/s" value={p?.portMbps} />
    </div>
    <div class="pair">
      <Field scope={scope} name="ipv4" label="IPv4 addresses" as="number" required value={p?.ipv4 ?? 1} />
      <Field
        scope={scope}
        name="ipv6Prefix"
        label="IPv6 prefix length"
        as="number"
        nullable
        value={p ? p.ipv6Prefix : 64}
        hint="56 to 128. Leave empty for no IPv6."
      />
    </div>
    <Select
      scope={scope}
      name="overTraffic"
      label="When a server has used its traffic"
      value={p?.overTraffic ?? 'nothing'}
      options={overTrafficPolicies.map((value) => ({ value, label: overTrafficWords[value] }))}
      hint="Its owner is told at 80 % and at 100 %. Both directions count."
    />
    <Field
      scope={scope}
      name="throttleMbps"
      label="Speed of a server that is slowed down"
      as="number"
      nullable
      unit="Mbit/s"
      value={p?.throttleMbps}
      hint="In each direction. Only where a server is slowed down when it has used its traffic."
    />
    <Select
      scope={scope}
      name="restartPolicy"
      label="When a server stops on its own"
      value={p?.restartPolicy ?? 'on_failure'}
      options={restartPolicies}
      hint={
        'Up to three times in ten minutes. A server that was stopped in the panel stays off. New servers take it ' +
        'over; each can be given its own.'
      }
    />
    <Field
      scope={scope}
      name="snapshotLimit"
      label="Snapshots of a server"
      as="number"
      required
      value={p?.snapshotLimit ?? 3}
      hint="0 for none. Each holds as much space on the node as the disk has."
    />
    <Field
      scope={scope}
      name="storageClass"
      label="Class of storage"
      nullable
      value={p?.storageClass}
      placeholder="nvme"
      hint="Disks are made in storage pools of this class; each node names its own. Leave empty for any."
    />
    <div class="pair">
      <Field
        scope={scope}
        name="volumeGb"
        label="Extra volumes"
        as="number"
        required
        unit="GiB"
        value={p?.volumeGb ?? 0}
        hint="0 for none. Owners share those of all their servers between them."
      />
      <Field
        scope={scope}
        name="volumeClass"
        label="Class of volumes"
        nullable
        value={p?.volumeClass}
        placeholder="hdd"
        hint="Leave empty for that of the disk."
      />
    </div>
    <div class="pair">
      <Field
        scope={scope}
        name="diskReadIops"
        label="Disk reads"
        as="number"
        nullable
        unit="per second"
        value={p?.diskReadIops}
        hint="Of each disk. Empty for no limit."
      />
      <Field
        scope={scope}
        name="diskWriteIops"
        label="Disk writes"
        as="number"
        nullable
        unit="per second"
        value={p?.diskWriteIops}
        hint="New servers get these limits."
      />
    </div>
    <div class="pair">
      <Field
        scope={scope}
        name="diskReadMbPerSecond"
        label="Disk read speed"
        as="number"
        nullable
        unit="MiB/s"
        value={p?.diskReadMbPerSecond}
      />
      <Field
        scope={scope}
        name="diskWriteMbPerSecond"
        label="Disk write speed"
        as="number"
        nullable
        unit="MiB/s"
        value={p?.diskWriteMbPerSecond}
      />
    </div>
    <div class="pair">
      <Field
        scope={scope}
        name="newConnectionsPerSecond"
        label="New connections"
        as="number"
        nullable
        unit="per second"
        value={p?.newConnectionsPerSecond}
        hint="TCP connections that a server may begin. Empty: as the settings say."
      />
      <Field
        scope={scope}
        name="packetsPerSecond"
        label="Packets"
        as="number"
        nullable
        unit="per second"
        value={p?.packetsPerSecond}
        hint="Packets that a server may send. Empty: as the settings say."
      />
    </div>
    <Check
      scope={scope}
      name="smtpAllowed"
      label="Its servers may connect to mail servers"
      checked={p?.smtpAllowed ?? false}
      hint="TCP port 25. Off, spam from a hijacked server stays inside; each server can be given an exception."
    />
    <Field scope={scope} name="billingProductId" label="Billing product ID" nullable value={p?.billingProductId} />
  </>
)
