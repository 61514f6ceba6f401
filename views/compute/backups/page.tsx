// The backups of a server: its disk at several moments, kept away from the machine on which it runs.
import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { removeBackup } from '../../../src/compute/backups/delete.ts'
import { drillBackup } from '../../../src/compute/backups/drills/drill.ts'
import { listAllBackups, listBackups } from '../../../src/compute/backups/list.ts'
import { makeBackup } from '../../../src/compute/backups/make.ts'
import { getServerBackupPlan } from '../../../src/compute/backups/plans/assign.ts'
import { getBackupCalendar } from '../../../src/compute/backups/plans/calendar.ts'
import { listBackupPlans } from '../../../src/compute/backups/plans/plans.ts'
import { showRecoverySheet } from '../../../src/compute/backups/recovery-sheet.ts'
import { restoreBackup } from '../../../src/compute/backups/restore/restore.ts'
import { listSnapshots } from '../../../src/compute/snapshots/list.ts'
import { listServerVolumes } from '../../../src/compute/volumes/list.ts'
import { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { type Answers, type At, allIfAllowed, ifAllowed, ifNamed, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, Menu } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Field } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Beside } from '../../components/live.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { Pager } from '../../components/table.tsx'
import { Exact, span, Time } from '../../components/time.tsx'
import { bytes, count, exactGb } from '../../components/words.ts'
import { BackupCalendar } from '../backup-plans/calendar.tsx'
import { PlanOfServer } from '../backup-plans/of-server.tsx'
import { ServerFrame, serverReads } from '../servers/frame.tsx'
import type { Server } from '../servers/words.ts'
import { notNow, Restore } from '../snapshots/disk-copies.tsx'
import { SnapshotsOfServer } from '../snapshots/of-server.tsx'
import { VolumesOfServer } from '../volumes/of-server.tsx'
import { BackupState, BrowseFiles, DeleteBackup } from './row.tsx'
import { RestoreToNewServer } from './to-new-server.tsx'

/** Of the page's query these parameters: each read knows its own. */
const only =
  (...names: string[]) =>
  ({ params, query }: At) => ({
    params,
    query: Object.fromEntries(Object.entries(query).filter(([name]) => names.includes(name))),
  })

/** A server that has ended keeps its backups alone. */
const ofLiving = ({ params }: At, { server }: { server: Server }) =>
  server.status === 'terminated' ? undefined : { params }

const reads = {
  ...serverReads,
  backups: reading(listBackups, only('cursor', 'limit')),
  plan: reading(getServerBackupPlan, only()),
  calendar: reading(getBackupCalendar, only('month')),
  offer: allIfAllowed(listPackages),
  account: ifAllowed(getResellerAccount, () => ({})),
  left: ifAllowed(listAllBackups, ({ params }) => ({
    query: { serverId: params['id'] ?? '', left: 'true', limit: '1' },
  })),
  plans: ifAllowed(listBackupPlans, () => ({ query: { limit: '200' } })),
  snapshots: ifNamed(listSnapshots, ofLiving),
  volumes: ifNamed(listServerVolumes, ofLiving),
}
type InArea = Answers<typeof reads> & { area: Area }
type Backups = InArea['backups']
type Backup = Backups['data'][number]

export const serverBackupsPages = inEveryArea({
  path: '/servers/{id}/backups',
  reads,
  title: ({ server }) => `Disks and backups of ${server.name}`,
  nav: 'servers',
  view: ({ at, ...data }, area) => (
    <ServerFrame {...data} area={area}>
      <Beside of="server" id="backups-now">
        <LastFailure
          of={data.backups.lastFailure}
          hasWhole={data.backups.data.some(({ state }) => state === 'ready')}
          area={area}
        />
        {data.backups.total > 0 ? (
          <div class="split plain">
            <div>
              <BackupCalendar of={data.calendar} />
            </div>
            <div>
              <PlanOfServer {...data} area={area} />
            </div>
          </div>
        ) : (
          <PlanOfServer {...data} area={area} />
        )}
        <Section
          id="backups"
          title="Backups"
          flush
          count={data.backups.total}
          actions={
            data.backups.total > 0 && (
              <>
                <Sheet server={data.server} />
                <BackUp {...data} />
              </>
            )
          }
          words={
            'A backup is a copy of the whole disk away from the node, encrypted with ' +
            `${data.server.owner.id === at.actor.accountId ? 'your' : "the owner's"} own key. ` +
            'Extra volumes are not included.'
          }
        >
          {data.backups.data.length ? (
            <ul class="rows">
              {data.backups.data.map((backup) => (
                <Row {...data} of={backup} area={area} />
              ))}
            </ul>
          ) : (
            <Empty title="No backups yet" action={<BackUp {...data} />}>
              {data.backups.notTakeable ?? 'A backup takes a while; the server keeps running.'}
            </Empty>
          )}
          <OfOthers {...data} area={area} />
          <Pager of={data.backups} />
        </Section>
        {data.snapshots && <SnapshotsOfServer server={data.server} snapshots={data.snapshots} area={area} />}
        {data.volumes && <VolumesOfServer server={data.server} volumes={data.volumes} area={area} />}
      </Beside>
    </ServerFrame>
  ),
})

/** For staff and resellers: a customer has no part in those of another owner. */
const OfOthers = ({ server, left, area }: InArea) =>
  area !== '' &&
  server.status !== 'terminated' &&
  (left?.total ?? 0) > 0 && (
    <p class="in muted">
      The list and the calendar have the backups of the present owner.{' '}
      <Link href={`${area}/backups?serverId=${server.id}&left=true`}>
        {count(left!.total, 'backup', 'backups')} of an earlier owner
      </Link>
    </p>
  )

type LastFailureProps = { of: Backups['lastFailure']; hasWhole: boolean; area: Area }
const LastFailure = ({ of: failure, hasWhole, area }: LastFailureProps) =>
  failure && (
    <Note level="bad" action={failure.jobId && <Link href={`${area}/jobs/${failure.jobId}`}>What happened</Link>}>
      <strong>
        The last backup failed <Time iso={failure.endedAt ?? failure.startedAt} />.
      </strong>{' '}
      {failure.error?.message} {hasWhole && 'Earlier backups can still be restored.'}
    </Note>
  )

const BackUp = ({ server, backups }: Pick<InArea, 'server' | 'backups'>) => (
  <Action
    op={makeBackup}
    params={{ id: server.id }}
    label="Back up now"
    icon="download"
    tone={backups.total ? undefined : 'pri'}
    disabledReason={notNow(server, backups.notTakeable)}
    done="The backup has begun"
    confirm={{
      consequences: [
        server.status === 'running'
          ? 'The server keeps running. Its guest agent, if it has one, pauses writes for a moment.'
          : 'The server stays off.',
        'Only changes since the last backup are sent.',
        'Snapshots, restores, reinstallations and package changes have to wait until it is done. You can cancel it.',
      ],
    }}
    fields={
      <Field
        scope={`backup-of-${server.id}`}
        name="keepDays"
        as="number"
        label="Keep for"
        unit="days"
        hint="Empty: until somebody deletes it."
      />
    }
  />
)

/** For the owner alone: a provider has a key of its own. */
const Sheet = ({ server }: { server: Server }) =>
  server.owner.id === useAt().actor.accountId && (
    <Action
      op={showRecoverySheet}
      label="Recovery sheet"
      title="Show the recovery sheet?"
      submit="Show it"
      secret={{
        field: 'sheet',
        title: 'Recovery sheet',
        words: 'Print it and lock it away. You can show it again at any time; each time is recorded in your activity.',
      }}
      confirm={{
        keep: 'Not now',
        consequences: [
          'It holds the key to all your backups: anyone who has it and a copy of them can read your data.',
          'With it you can restore your disks with restic alone, without this panel.',
        ],
      }}
    />
  )

const kinds = { manual: 'by hand', scheduled: 'by plan' } as const

const Row = ({ server, backups, of: backup, area, ...offers }: InArea & { of: Backup }) => (
  <li>
    <Icon name="download" class="muted" />
    <div class="grow">
      <b>
        <Exact iso={backup.startedAt} />
      </b>
      <small>
        <BackupState of={backup} /> · {kinds[backup.kind]}, {backup.targetName}
        {backup.jobId && (
          <>
            {' '}
            · <Link href={`${area}/jobs/${backup.jobId}`}>log</Link>
          </>
        )}
        <BrowseFiles of={backup} area={area} />
      </small>
      <small>{wordsOf(backup)}</small>
      <Proof of={backup} />
      {backup.keepUntil && (
        <small>
          Kept until <Exact iso={backup.keepUntil} />
        </small>
      )}
    </div>
    {backup.state === 'ready' && (
      <Restore
        op={restoreBackup}
        params={{ id: server.id, backupId: backup.id }}
        server={server}
        of={{ ...backup, name: backup.startedAt, madeAt: backup.startedAt }}
        noun="backup"
        title={`Restore ${server.hostname} from a backup?`}
        meanwhile={[
          backups.snapshots > 0 &&
            `${count(backups.snapshots, 'snapshot')} of the present disk ` +
              `${backups.snapshots === 1 ? 'is' : 'are'} deleted.`,
          server.status === 'running' &&
            'The server keeps running while the disk is read. Then it is shut down and started from it.',
        ]}
        more="If anything fails before the end, the present disk stays as it is."
      />
    )}
    {(backup.state === 'ready' || backup.state === 'failed') && (
      <Menu label="Actions for this backup" small>
        {backup.state === 'ready' && <RestoreToNewServer of={backup} area={area} {...offers} />}
        {backup.state === 'ready' && <Drill of={backup} />}
        <DeleteBackup
          op={removeBackup}
          params={{ id: server.id, backupId: backup.id }}
          of={backup}
          title="Delete this backup?"
          disabledReason={backup.notDeletable ?? undefined}
          loss="The server can no longer be brought back to this moment."
          others="Other backups and the server stay as they are."
        />
      </Menu>
    )}
  </li>
)

function wordsOf(backup: Backup): string {
  if (backup.error) return backup.error.message
  if (backup.state === 'running') return `A disk of ${exactGb(backup.diskGb)}`
  return [
    `${exactGb(backup.diskGb)} disk`,
    backup.addedBytes !== null && `${bytes(backup.addedBytes)} added`,
    backup.seconds !== null && (backup.seconds < 1 ? 'under 1 s' : `took ${span(backup.seconds * 1000)}`),
    backup.consistent === false && 'starts as after a power failure',
    backup.keptAt !== null && 'its append-only target did not delete it',
  ]
    .filter(Boolean)
    .join(', ')
}

const proofs = {
  agent: 'its guest agent answered',
  console: 'its serial line answered',
  disk: 'it ran and read its disk, a weak proof',
} as const

/** The last restore drill, and the last one that worked. */
const Proof = ({ of: backup }: { of: Backup }) => (
  <>
    {backup.provenAt && backup.proof && (
      <small>
        Last proven restore <Exact iso={backup.provenAt} />: {proofs[backup.proof]}
      </small>
    )}
    {backup.drillError && <small>The last restore drill failed. {backup.drillError}</small>}
  </>
)

const Drill = ({ of: backup }: { of: Backup }) => (
  <Action
    op={drillBackup}
    params={{ id: backup.id }}
    label="Run restore drill"
    of={backup.startedAt}
    inMenu
    title="Run a restore drill with this backup?"
    done="The restore drill has begun"
    confirm={{
      keep: 'Not now',
      consequences: [
        'It is restored into a machine without network, and its system has to answer. Then the machine is removed.',
        `Until then it takes memory and up to ${exactGb(backup.diskGb)} of disk of a node.`,
        'The server is not touched.',
      ],
    }}
  />
)
