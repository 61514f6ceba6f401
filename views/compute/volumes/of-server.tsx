import { createVolume } from '../../../src/compute/volumes/create.ts'
import { listServerVolumes } from '../../../src/compute/volumes/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Field } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Empty, Section } from '../../components/section.tsx'
import { exactGb } from '../../components/words.ts'
import { ServerFrame, serverReads } from '../servers/frame.tsx'
import { away } from '../servers/power-buttons.tsx'
import { type Volume, VolumeMenu, VolumeState } from './actions.tsx'

const reads = {
  ...serverReads,
  volumes: listServerVolumes,
}
type InArea = Answers<typeof reads> & { area: Area }

export const serverVolumesPages = inEveryArea({
  path: '/servers/{id}/volumes',
  reads,
  title: ({ server }) => `Volumes of ${server.name}`,
  nav: 'servers',
  view: (data, area) => (
    <ServerFrame {...data} area={area}>
      <Live id="volumes-now" every={4}>
        <Section
          id="volumes"
          title="Volumes"
          flush
          count={`${exactGb(data.volumes.usedGb)} of ${exactGb(data.volumes.limitGb)}`}
          actions={data.volumes.data.length > 0 && <Make {...data} />}
          words={
            <>
              Extra disks on the machine of the server. They stay when it is reinstalled or deleted. Snapshots and
              backups do not have what is on them: keep a copy elsewhere. Detached ones are on the page{' '}
              <Link href={`${area}/volumes`}>Volumes</Link>.
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
            <None {...data} area={area} />
          )}
        </Section>
      </Live>
    </ServerFrame>
  ),
})

const None = ({ server, volumes, area }: InArea) => (
  <Empty title="No volumes yet" action={volumes.limitGb > 0 && <Make server={server} volumes={volumes} />}>
    {volumes.limitGb > 0
      ? `${exactGb(Math.max(0, volumes.limitGb - volumes.usedGb))} are free for new ones.`
      : `${server.package.name} has none. ` +
        (area === '/admin' ? 'Give the package some.' : 'Ask your provider for another package.')}
  </Empty>
)

const Make = ({ server, volumes }: Pick<InArea, 'server' | 'volumes'>) => (
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
