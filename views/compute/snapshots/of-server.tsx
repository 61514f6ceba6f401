import { removeSnapshot } from '../../../src/compute/snapshots/delete.ts'
import { changeSnapshotWords, type listSnapshots } from '../../../src/compute/snapshots/list.ts'
import { restoreSnapshot } from '../../../src/compute/snapshots/restore.ts'
import { takeSnapshot } from '../../../src/compute/snapshots/take.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, Edit, Menu } from '../../components/action.tsx'
import { type Area, movedInEveryArea } from '../../components/area.ts'
import { Field } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Time } from '../../components/time.tsx'
import { bytes, exactGb } from '../../components/words.ts'
import type { Server } from '../servers/words.ts'
import { Delete, notNow, Restore } from './disk-copies.tsx'

type Props = { server: Server; snapshots: Answers<{ s: typeof listSnapshots }>['s']; area: Area }
type Snapshots = Props['snapshots']
type Snapshot = Snapshots['data'][number]

/** The snapshots of a server, as a section of its page of disks and backups. */
export const SnapshotsOfServer = (data: Props) => (
  <Section
    id="snapshots"
    title="Snapshots"
    flush
    count={`${data.snapshots.total} of ${data.snapshots.limit}`}
    actions={data.snapshots.total > 0 && <Take {...data} />}
    words={
      'A snapshot keeps the disk as it is, on the same machine. It is no backup: it is lost with the machine. ' +
      'Extra volumes are not part of it.'
    }
  >
    {data.snapshots.data.length ? (
      <ul class="rows">
        {data.snapshots.data.map((snapshot) => (
          <Row server={data.server} of={snapshot} />
        ))}
      </ul>
    ) : (
      <None {...data} />
    )}
  </Section>
)

const None = ({ server, snapshots, area }: Props) => (
  <Empty action={snapshots.limit > 0 && <Take server={server} snapshots={snapshots} />}>
    {snapshots.limit > 0
      ? 'No snapshots yet. Take one before an update, and go back to it if the update fails. ' +
        `${server.package.name} allows ${snapshots.limit}.`
      : `${server.package.name} allows none. ` +
        (area === '/admin' ? 'Raise the limit of the package.' : 'Ask your provider for another package.')}
  </Empty>
)

const Take = ({ server, snapshots }: Pick<Props, 'server' | 'snapshots'>) => (
  <Action
    op={takeSnapshot}
    params={{ id: server.id }}
    label="Take snapshot"
    icon="camera"
    tone={snapshots.total ? undefined : 'pri'}
    disabledReason={notNow(server, snapshots.notTakeable)}
    done="The snapshot is being taken"
    confirm={{
      consequences: [
        server.status === 'running'
          ? 'The server runs on. Its guest agent, where there is one, holds writes back for a moment.'
          : 'The server stays off.',
        `It can grow to ${exactGb(server.diskGb)}, which are held for it.`,
        'What is in memory is not part of it.',
      ],
    }}
    fields={<Words scope={`snapshot-of-${server.id}`} />}
  />
)

const Words = ({ scope, of: snapshot }: { scope: string; of?: Snapshot }) => (
  <>
    <Field scope={scope} name="name" label="Name" required value={snapshot?.name} placeholder="before-update" />
    <Field scope={scope} name="comment" label="Comment" value={snapshot?.comment} />
  </>
)

const Row = ({ server, of: snapshot }: { server: Server; of: Snapshot }) => (
  <li>
    <Icon name="camera" class="muted" />
    <div class="grow">
      <b>{snapshot.name}</b>
      {snapshot.comment && <small>{snapshot.comment}</small>}
      <small>
        {snapshot.state === 'taking' ? (
          <State tone="work" shape="work">
            Being taken
          </State>
        ) : (
          <>
            <Time iso={snapshot.createdAt} />
            {snapshot.takenBy && ` by ${snapshot.takenBy}`} · {bytes(snapshot.usedBytes ?? 0)} used,{' '}
            {exactGb(snapshot.diskGb)} held
            {snapshot.consistent === false && ' · starts as after a power failure'}
          </>
        )}
      </small>
    </div>
    {snapshot.state === 'ready' && (
      <>
        <Restore
          op={restoreSnapshot}
          params={{ id: server.id, snapshotId: snapshot.id }}
          server={server}
          of={{ ...snapshot, madeAt: snapshot.createdAt }}
          noun="snapshot"
          title={`Restore ${server.hostname} to ${snapshot.name}?`}
          meanwhile={[server.status === 'running' && 'The server is shut down and started again from the snapshot.']}
        />
        <RowMenu server={server} of={snapshot} />
      </>
    )}
  </li>
)

/** Nothing for readers who may only look. */
const RowMenu = ({ server, of: snapshot }: { server: Server; of: Snapshot }) =>
  useAt().may(changeSnapshotWords) ? (
    <Menu label={`Actions for ${snapshot.name}`} small>
      <Edit
        op={changeSnapshotWords}
        params={{ id: server.id, snapshotId: snapshot.id }}
        label="Edit"
        of={snapshot.name}
        inMenu
        title={`Edit ${snapshot.name}`}
        fields={<Words scope={`edit-${snapshot.id}`} of={snapshot} />}
      />
      <Delete
        op={removeSnapshot}
        params={{ id: server.id, snapshotId: snapshot.id }}
        of={snapshot.name}
        title={`Delete ${snapshot.name}?`}
        disabledReason={notNow(server, snapshot.notDeletable)}
        done="The snapshot is being deleted"
        consequences={[
          'The server cannot go back to it any more.',
          'The disk and the other snapshots stay as they are, and the server runs on.',
          `${exactGb(snapshot.diskGb)} are free again.`,
        ]}
      />
    </Menu>
  ) : null

export const serverSnapshotsPages = movedInEveryArea(
  '/servers/{id}/snapshots',
  ({ params }) => `/servers/${params['id']}/backups#snapshots`,
)
