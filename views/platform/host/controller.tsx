import { listBackupTargets } from '../../../src/compute/backup-targets/targets.ts'
import { type Answers, ifAllowed, page } from '../../../src/kernel/web/page.ts'
import {
  configureControllerBackups,
  getControllerBackups,
  makeControllerBackup,
} from '../../../src/platform/controller-backups/plan.ts'
import { getPanelHost } from '../../../src/platform/host/panel-host.ts'
import { getReplica } from '../../../src/platform/replica/show.ts'
import { Action, Edit } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { Meter } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { span, Time } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'

type Host = Answers<{ h: typeof getPanelHost }>['h']
type BackupPlan = Answers<{ b: typeof getControllerBackups }>['b']
type Target = BackupPlan['targets'][number]
type Offered = Answers<{ t: typeof listBackupTargets }>['t']['data']
type ReplicaState = Answers<{ r: typeof getReplica }>['r']

export const controllerPage = page({
  path: '/admin/controller',
  reads: {
    host: getPanelHost,
    replica: getReplica,
    backups: ifAllowed(getControllerBackups),
    targets: ifAllowed(listBackupTargets, () => ({ query: { limit: '200' } })),
  },
  title: 'Controller host',
  nav: 'controller',
  view: ({ host, replica, backups, targets }) => (
    <>
      <Head
        title="Controller host"
        sub={<span>The machine that Berth itself runs on.</span>}
        actions={
          <Link class="btn" to="/admin/controller/updates">
            <Icon name="download" />
            Updates
          </Link>
        }
      />
      <Live id="host" every={10}>
        <div class="split even">
          <Use host={host} />
          <Details host={host} />
        </div>
        {backups && <Backups backups={backups} targets={targets?.data ?? []} />}
        <Replica replica={replica} />
      </Live>
    </>
  ),
})

const used = ({ usedBytes, totalBytes }: { usedBytes: number; totalBytes: number }) =>
  `${bytes(usedBytes)} of ${bytes(totalBytes)}`

const Use = ({ host: h }: { host: Host }) => (
  <Section id="use" title="Usage">
    <div class="stack">
      <Meter label="CPU" value={h.cpuPercent} total={100} words={`${h.cpuPercent} % of ${count(h.cpus, 'CPU')}`} />
      <Meter label="Memory" value={h.memory.percent} total={100} words={`${used(h.memory)}, ${h.memory.percent} %`} />
      {h.swap.totalBytes > 0 && (
        <Meter label="Swap" value={h.swap.usedBytes} total={h.swap.totalBytes} words={used(h.swap)} />
      )}
      <Meter
        label="Disk holding the database"
        value={h.disk.percent}
        total={100}
        words={`${used(h.disk)}, ${h.disk.percent} %`}
      />
      <p class="muted">
        <small>
          Checked <Time iso={h.checkedAt} />, and again every 10 seconds.
        </small>
      </p>
    </div>
  </Section>
)

const Details = ({ host: h }: { host: Host }) => (
  <Section id="details" title="Details">
    <Facts
      of={[
        ['Load', `${[h.load1, h.load5, h.load15].map((n) => n.toFixed(2)).join(' · ')} over 1, 5 and 15 min`],
        ['Memory available', bytes(h.memory.availableBytes)],
        ['Swap', h.swap.totalBytes === 0 && 'None'],
        [
          'Database',
          <>
            {bytes(h.databaseBytes)} in <code>{h.disk.path}</code>
          </>,
        ],
        ['Host uptime', span(h.hostUptimeSeconds * 1000)],
        ['Berth started', <Time iso={h.startedAt} />],
        ['Memory of Berth', bytes(h.processMemoryBytes)],
        ['Version', h.version],
      ]}
    />
  </Section>
)

const Replica = ({ replica: r }: { replica: ReplicaState }) => (
  <Section
    id="replica"
    title="Replica"
    words={r.address ? undefined : 'Set PANEL_REPLICA, and the database is copied to another place as it changes.'}
  >
    {r.address && (
      <Facts
        of={[
          ['State', <ReplicaBadge replica={r} />],
          ['Address', <code>{r.address}</code>],
          ['Complete up to', r.shippedAt && <Time iso={r.shippedAt} />],
          ['Last whole copy', r.baseAt && <Time iso={r.baseAt} />],
          ['Changes', r.waits ? 'Confirmed when they are in the replica' : 'Confirmed at once, copied within seconds'],
          ['Restore', `To any time of the last ${count(r.days, 'day')}`],
          ['Error', r.error],
        ]}
      />
    )}
  </Section>
)

const ReplicaBadge = ({ replica: { error, shippedAt, baseAt } }: { replica: ReplicaState }) => {
  const [tone, shape, words] = error
    ? (['bad', 'fail', 'Fails'] as const)
    : shippedAt && baseAt
      ? (['ok', 'dot', 'Up to date'] as const)
      : (['work', 'work', 'First copy running'] as const)
  return (
    <State tone={tone} shape={shape}>
      {words}
    </State>
  )
}

const Backups = ({ backups: b, targets }: { backups: BackupPlan; targets: Offered }) => (
  <Section
    id="backups"
    title="Backups of the database"
    actions={
      <>
        {b.targets.length > 0 && (
          <Action op={makeControllerBackup} label="Back up now" done="The backup begins within seconds" />
        )}
        <Plan backups={b} targets={targets} />
      </>
    }
    words={
      b.targets.length > 0
        ? `Each day at ${String(b.hour).padStart(2, '0')}:00 UTC, kept for ${count(b.keepDays, 'day')}. ` +
          'The key file is not in them: keep a copy of it elsewhere.'
        : 'There are none. Choose one or more backup targets: a folder, SFTP or S3.'
    }
    flush
  >
    {b.targets.length > 0 && <Table label="Backups" rows={b.targets} columns={backupColumns} idOf={(t) => t.id} flow />}
  </Section>
)

const Plan = ({ backups: b, targets }: { backups: BackupPlan; targets: Offered }) => (
  <Edit
    op={configureControllerBackups}
    label={b.targets.length ? 'Change' : 'Set up'}
    title="Backups of the database"
    done="Saved; fewer targets or days wait"
    {...(b.targets.length > 0 && {
      confirm: {
        consequences: [
          'Fewer targets or days take effect after 24 hours, or when another owner confirms it under Settings. All ' +
            'owners are told.',
        ],
      },
    })}
    fields={
      <>
        <Checks
          scope="plan"
          name="targetIds"
          label="Targets"
          hint="A folder is one of this host. Root makes the file .berth-backups in it."
          values={b.targets.map(({ id }) => id)}
          options={targets
            .filter(({ kind }) => kind !== 'rest')
            .map(({ id, name, address }) => ({ value: id, label: name, hint: address }))}
          empty={<p class="muted">Add one under Backup targets first: SFTP, S3 or a folder.</p>}
        />
        <Field scope="plan" name="hour" label="Hour (UTC)" type="number" min={0} max={23} required value={b.hour} />
        <Field scope="plan" name="keepDays" label="Days to keep" type="number" min={1} required value={b.keepDays} />
      </>
    }
  />
)

const backupColumns: Column<Target>[] = [
  {
    title: 'Target',
    kind: 'name',
    width: 30,
    cell: (t) => (
      <>
        <b>{t.name}</b>
        <small>{t.address}</small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 14, cell: (t) => <BackupState of={t} /> },
  {
    title: 'Last good backup',
    kind: 'mid',
    width: 24,
    cell: (t) => (t.lastGoodAt ? <Time iso={t.lastGoodAt} /> : <span class="muted">None yet</span>),
  },
  {
    title: 'Result',
    kind: 'wide',
    width: 32,
    cell: (t) => t.error ?? (t.lastGoodAt && `${bytes(t.bytes)} in ${t.seconds} s`),
  },
]

function BackupState({ of: { error, lastAt } }: { of: Target }) {
  if (error) return <State {...{ tone: 'bad', shape: 'fail' }}>Failed</State>
  if (!lastAt) return <State {...{ tone: 'idle', shape: 'wait' }}>Not yet</State>
  return <State {...{ tone: 'ok', shape: 'tick' }}>Works</State>
}
