import { createVolume } from '../../../src/compute/volumes/create.ts'
import type { listServerVolumes } from '../../../src/compute/volumes/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { type Area, movedInEveryArea } from '../../components/area.ts'
import { Field } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Copyable, Empty, Section } from '../../components/section.tsx'
import { exactGb } from '../../components/words.ts'
import { away } from '../servers/power-buttons.tsx'
import type { Server } from '../servers/words.ts'
import { type Volume, VolumeMenu, VolumeState } from './actions.tsx'

type Props = { server: Server; volumes: Answers<{ v: typeof listServerVolumes }>['v']; area: Area }

/** The extra volumes of a server, as a section of its page of disks and backups. */
export const VolumesOfServer = (data: Props) => (
  <Section
    id="volumes"
    title="Volumes"
    flush
    count={`${exactGb(data.volumes.usedGb)} of ${exactGb(data.volumes.limitGb)}`}
    actions={data.volumes.data.length > 0 && <Make {...data} />}
    words={
      <>
        Extra disks on the node of the server. They stay when it is reinstalled or deleted. Not included in snapshots or
        backups: keep a copy elsewhere. Detached ones are on the page <Link href={`${data.area}/volumes`}>Volumes</Link>
        .
      </>
    }
  >
    {data.volumes.data.length ? (
      <ul class="rows">
        {data.volumes.data.map((volume) => (
          <Row of={volume} own={data.server.access === 'own'} />
        ))}
      </ul>
    ) : (
      <None {...data} />
    )}
  </Section>
)

const None = ({ server, volumes, area }: Props) => (
  <Empty action={volumes.limitGb > 0 && <Make server={server} volumes={volumes} />}>
    {volumes.limitGb > 0
      ? `No volumes yet. ${exactGb(Math.max(0, volumes.limitGb - volumes.usedGb))} are free for new ones.`
      : `${server.package.name} has none. ` +
        (area === '/admin' ? 'Give the package some.' : 'Ask your provider for another package.')}
  </Empty>
)

const Make = ({ server, volumes }: Pick<Props, 'server' | 'volumes'>) => (
  <Action
    op={createVolume}
    params={{ id: server.id }}
    label="New volume"
    icon="plus"
    tone={volumes.data.length ? undefined : 'pri'}
    title={`New volume for ${server.hostname}`}
    submit="Make volume"
    disabledReason={
      away(server) ??
      (server.job ? 'A job is working on it. Wait until it has ended.' : (volumes.notMakeable ?? undefined))
    }
    done="The volume is being made"
    fields={
      <>
        <Field scope="new-volume" name="name" label="Name" required placeholder="data" />
        <Field
          scope="new-volume"
          name="sizeGb"
          label="Size"
          as="number"
          required
          unit="GiB"
          min={1}
          value={Math.max(1, Math.min(10, volumes.limitGb - volumes.usedGb))}
          hint={
            `${exactGb(volumes.limitGb - volumes.usedGb)} are free. It is empty: make a file system on it in the ` +
            'server.'
          }
        />
      </>
    }
  />
)

const Row = ({ of: volume, own }: { of: Volume; own: boolean }) => (
  <li>
    <Icon name="disk" class="muted" />
    <div class="grow">
      <b>{volume.name}</b>
      <small>
        {exactGb(volume.sizeGb)}
        {volume.storageClass && ` ${volume.storageClass}`}
      </small>
      <small>
        <Copyable text={`/dev/disk/by-id/virtio-${volume.serial}`} what="path of the disk" />
      </small>
    </div>
    <VolumeState of={volume} />
    {own && <VolumeMenu of={volume} />}
  </li>
)

export const serverVolumesPages = movedInEveryArea(
  '/servers/{id}/volumes',
  ({ params }) => `/servers/${params['id']}/backups#volumes`,
)
