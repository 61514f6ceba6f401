import type { AssetName } from '../../../public/assets.ts'
import { getMaintenance } from '../../../src/compute/drains/maintenance.ts'
import { listAllInstances } from '../../../src/compute/gpu-instances/list.ts'
import { listAllServers } from '../../../src/compute/servers/list.ts'
import { moveServer } from '../../../src/compute/transfers/move.ts'
import { listVolumes } from '../../../src/compute/volumes/list.ts'
import { getNode } from '../../../src/fleet/nodes/nodes.ts'
import { type Answers, ifAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { getNodeMetrics } from '../../../src/platform/metrics/show.ts'
import { Menu } from '../../components/action.tsx'
import { Meter } from '../../components/figures.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Empty, Facts, Note, Section } from '../../components/section.tsx'
import { Ago, For } from '../../components/time.tsx'
import { bytes, count, mb } from '../../components/words.ts'
import { AllOfNode } from '../../compute/bulk-actions/bar.tsx'
import { manyServers } from '../../compute/bulk-actions/ways.ts'
import { ScheduledNote } from '../../compute/drains/later.tsx'
import {
  ComingBack,
  EndOfMaintenance,
  hasReturningServers,
  isInMaintenance,
  MaintenanceBars,
  MaintenanceSteps,
  MaintenanceTag,
  WereHere,
} from '../../compute/drains/of-node.tsx'
import { InstanceTable } from '../../compute/gpu-instances/table.tsx'
import { type ListedServer, ServerTable } from '../../compute/servers/table.tsx'
import { MoveLink } from '../../compute/transfers/move-link.tsx'
import { JobTable } from '../../platform/jobs/table.tsx'
import { NodeActions } from './actions.tsx'
import { NodeHead } from './frame.tsx'
import { Absences, beatSpanIn, beatSpans, Heartbeats } from './heartbeats.tsx'
import { DiskMeter, MemoryMeter, type ShownNode, virtualisation } from './load.tsx'
import { awaySince, Stale } from './stale.tsx'
import { UplinkOf } from './uplink.tsx'
import { Warnings, WhatToTry } from './warnings.tsx'

const reads = {
  node: reading(getNode, ({ params }) => ({ params })),
  servers: ifAllowed(listAllServers, ({ params }) => ({ query: { nodeId: params['id'] ?? '', limit: '50' } })),
  instances: ifAllowed(listAllInstances, ({ params }) => ({ query: { nodeId: params['id'] ?? '', limit: '10' } })),
  volumes: ifAllowed(listVolumes, ({ params }) => ({ query: { nodeId: params['id'] ?? '', limit: '20' } })),
  maintenance: ifAllowed(getMaintenance),
  heard: reading(getNodeMetrics, ({ params, query }) => ({ params, query: beatSpans[beatSpanIn(query)].metrics })),
  jobs: ifAllowed(listJobs, ({ params }) => ({ query: { nodeId: params['id'] ?? '', limit: '10' } })),
}
type Data = Answers<typeof reads>
type NodeProps = { node: ShownNode }

export const nodePage = page({
  path: '/admin/nodes/{id}',
  reads,
  title: ({ node }) => node.name,
  nav: 'nodes',
  files: ['moves.css'] satisfies AssetName[],
  view: (data) => <NodePage {...data} />,
})

function NodePage({ node, maintenance, heard, servers, instances, volumes, jobs }: Data) {
  const maintained = isInMaintenance(maintenance) ? maintenance : undefined
  return (
    <Live id="node" every={4}>
      <NodeHead
        node={node}
        state={maintained && node.connected && <MaintenanceTag />}
        actions={
          <NodeActions
            node={node}
            servers={servers?.data ?? []}
            volumes={volumes}
            ending={maintained && <EndOfMaintenance of={maintained} />}
          />
        }
      />
      <Warnings node={node} />
      {maintenance && <ScheduledNote of={maintenance.scheduled} node={node} links />}
      {maintained ? <MaintenanceBars of={maintained} /> : <ComingBack of={maintenance} />}
      {maintained && !hasReturningServers(maintained) && <MaintenanceSteps of={maintained} />}
      {maintained && hasReturningServers(maintained) && (
        <div class="split">
          <div>
            <WereHere of={maintained} />
          </div>
          <div>
            <MaintenanceSteps of={maintained} />
          </div>
        </div>
      )}
      <Heartbeats of={node} metrics={heard} />
      {servers && <Servers servers={servers} nodeId={node.id} />}
      {instances && instances.total > 0 && <Instances of={instances} nodeId={node.id} />}
      <div class="split">
        <div>
          <WhatToTry node={node} />
          <Host node={node} />
        </div>
        <div>
          <Capacity node={node} />
          <Absences of={node} />
          <Differences node={node} />
        </div>
      </div>
      {jobs && <Jobs jobs={jobs} nodeId={node.id} />}
    </Live>
  )
}

const Capacity = ({ node: n }: NodeProps) => (
  <Section id="capacity" title="Capacity">
    <div class="stack">
      <MemoryMeter of={n} />
      <DiskMeter of={n} />
      <p class="muted">
        Allocated to {count(n.servers, 'server')}. {mb(n.reservedMemoryMb)} of {mb(n.memoryMb)} memory is reserved for
        the host.
      </p>
      {n.load ? (
        <Stale since={awaySince(n)}>
          <Measured node={n} load={n.load} />
        </Stale>
      ) : (
        <p class="muted">Load is measured while the node is connected.</p>
      )}
    </div>
  </Section>
)

const Measured = ({ node: n, load }: NodeProps & { load: NonNullable<ShownNode['load']> }) => (
  <div class="stack">
    <h3>
      Measured <Ago iso={load.at} />
    </h3>
    <Meter
      label="CPU"
      value={load.cpuPercent}
      total={100}
      words={`${Math.round(load.cpuPercent)} % of ${n.threads} threads · load ${load.load1.toFixed(2)}`}
    />
    <Meter
      label="Memory used"
      value={n.memoryMb - load.memoryFreeMb}
      total={n.memoryMb}
      words={`${mb(load.memoryFreeMb)} free`}
    />
    {load.pools.map((p) => (
      <div>
        <Meter
          label={`Disk ${p.name}`}
          value={p.totalBytes - p.freeBytes}
          total={p.totalBytes}
          words={`${bytes(p.freeBytes)} of ${bytes(p.totalBytes)} free${p.silentSince ? ', as last known' : ''}`}
        />
        <small class="muted">
          <code>{p.path}</code> ({p.kind})
          {p.silentSince && (
            <>
              {' '}
              has not answered <For iso={p.silentSince} />
            </>
          )}
        </small>
      </div>
    ))}
  </div>
)

/** Each on a line of its own; false for none. */
const lines = (of: readonly string[]) => of.length > 0 && of.map((line) => <div class="mono">{line}</div>)

const Host = ({ node: n }: NodeProps) => (
  <Section id="facts" title="Host">
    <Facts
      of={[
        ['Host name', n.facts.hostname],
        ['System', `${n.facts.os}, Linux ${n.facts.kernel}`],
        ['Processor', `${n.facts.cpu.model}, ${n.facts.cpu.threads} threads`],
        [
          'Virtualisation',
          <>
            {virtualisation[n.virtualisation.kind]}
            <br />
            <small class="muted">{n.virtualisation.reason}</small>
          </>,
        ],
        ['Firmware', firmwareOf(n.facts.hardware)],
        ['Versions', lines(Object.entries(n.facts.versions).map(([name, version]) => `${name} ${version}`))],
        ['Agent', `${n.agentVersion}${n.agentOutdated ? ' (outdated)' : ''}`],
        ['Booted', <Ago iso={new Date(n.facts.bootedAt).toISOString()} />],
        ['Addresses', lines(n.facts.addresses)],
        ['Bridges', <Bridges node={n} />],
        ['Uplink', n.facts.uplink && <UplinkOf uplink={n.facts.uplink} />],
        ['Address pools', <Pools node={n} />],
        ['Id', <Copyable text={n.id} what="id" />],
      ]}
    />
  </Section>
)

const Bridges = ({ node: n }: NodeProps) =>
  n.facts.bridges.length ? (
    n.facts.bridges.map((b) => (
      <div>
        <code>{b.name}</code>
        {b.name === n.bridge && ' (used by its servers)'}
        {b.addresses.length > 0 && <span class="muted"> {b.addresses.join(', ')}</span>}
      </div>
    ))
  ) : (
    <>None</>
  )

const Pools = ({ node: n }: NodeProps) =>
  n.pools.length ? (
    n.pools.map((p) => (
      <div>
        <Link to="/admin/ip-pools/{id}" params={{ id: p.id }}>
          {p.name}
        </Link>{' '}
        <code>{p.network}</code>
        {p.vlan !== null && <span class="muted"> VLAN {p.vlan}</span>}
      </div>
    ))
  ) : (
    <>
      None: its servers get no address. <Link to="/admin/ip-pools">Attach one</Link>
    </>
  )

/** Kinds of differences about a server that the controller knows. */
const aboutServer = (kind: string) => kind === 'power' || kind.startsWith('missing')

const Differences = ({ node: n }: NodeProps) => (
  <Section
    id="differences"
    title="Differences"
    count={n.found.length || undefined}
    words={
      n.found.length > 0 &&
      'What is on the node but should not be, and what is missing. Nothing is changed automatically: it may be the ' +
        'only copy of somebody’s data.'
    }
  >
    {n.found.map((d) => (
      <Note
        level={d.kind === 'foreign' ? 'info' : 'warn'}
        action={d.workloadId && aboutServer(d.kind) && <Link href={`/admin/servers/${d.workloadId}`}>Open server</Link>}
      >
        {d.words}
      </Note>
    ))}
    {!n.connected && (
      <p class="muted">
        Unknown while the node is away
        {n.inventoryAt && (
          <>
            ; last compared <Ago iso={n.inventoryAt} />
          </>
        )}
        .
      </p>
    )}
    {n.connected && n.found.length === 0 && (
      <p class="muted">
        The node matches the records.{' '}
        {n.inventoryAt ? (
          <>
            Compared <Ago iso={n.inventoryAt} />.
          </>
        ) : (
          'It has not been compared yet.'
        )}
      </p>
    )}
  </Section>
)

const MoveMenu = ({ server: s }: { server: ListedServer }) => (
  <Menu label={`Actions for ${s.name}`} small>
    <MoveLink server={s} inMenu />
  </Menu>
)

const Instances = ({ of, nodeId }: { of: NonNullable<Data['instances']>; nodeId: string }) => (
  <Section
    id="instances"
    title="GPU instances"
    flush
    count={of.total}
    actions={
      of.nextCursor && (
        <Link to="/admin/gpu-instances" query={{ nodeId }}>
          {`Show all ${of.total.toLocaleString('en')}`}
        </Link>
      )
    }
  >
    <InstanceTable instances={of.data} area="/admin" />
  </Section>
)

/** The first screen has them and what stands above; all of them have a page of their own. */
const MOST_SHOWN = 10

type ServersProps = { servers: NonNullable<Data['servers']>; nodeId: string }
const Servers = ({ servers, nodeId }: ServersProps) => (
  <Section
    id="servers"
    title="Servers"
    flush
    count={servers.total || undefined}
    actions={
      <>
        {servers.total > MOST_SHOWN && (
          <Link to="/admin/servers" query={{ nodeId }}>
            {`Show all ${servers.total.toLocaleString('en')}`}
          </Link>
        )}
        <Link to="/admin/traffic" query={{ nodeId }}>
          Traffic
        </Link>
        <AllOfNode of={manyServers} nodeId={nodeId} total={servers.total} />
      </>
    }
  >
    {servers.data.length ? (
      <ServerTable
        servers={servers.data.slice(0, MOST_SHOWN)}
        area="/admin"
        place={false}
        {...(useAt().may(moveServer) && { actions: (s: ListedServer) => <MoveMenu server={s} /> })}
      />
    ) : (
      <Empty>It has no servers yet.</Empty>
    )}
  </Section>
)

const Jobs = ({ jobs, nodeId }: { jobs: NonNullable<Data['jobs']>; nodeId: string }) => (
  <Section
    id="jobs"
    title="Jobs"
    flush
    count={jobs.total || undefined}
    actions={
      jobs.nextCursor && (
        <Link to="/admin/jobs" query={{ nodeId }}>
          Show all
        </Link>
      )
    }
  >
    {jobs.data.length ? (
      <JobTable jobs={jobs.data} area="/admin" node={false} />
    ) : (
      <Empty>No jobs have run on it yet.</Empty>
    )}
  </Section>
)

/** The firmware that servers on the node can have; an agent that says nothing of it has BIOS only. */
const firmwareOf = (hardware: ShownNode['facts']['hardware']) =>
  [
    'BIOS',
    hardware?.firmware.includes('uefi') && 'UEFI',
    hardware?.firmware.includes('uefi_secure') && 'Secure Boot',
    hardware?.tpm && 'TPM 2.0',
  ]
    .filter(Boolean)
    .join(', ')
