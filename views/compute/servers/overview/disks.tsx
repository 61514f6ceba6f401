// How full the disks of a server are, as its guest agent tells it.
import type { listFileSystems } from '../../../../src/compute/guest/file-systems.ts'
import type { Answers } from '../../../../src/kernel/web/page.ts'
import { Meter } from '../../../components/figures.tsx'
import { Section } from '../../../components/section.tsx'
import { type Column, Table } from '../../../components/table.tsx'
import { Time } from '../../../components/time.tsx'
import { bytes } from '../../../components/words.ts'

export type FileSystems = Answers<{ f: typeof listFileSystems }>['f']
type FileSystem = FileSystems['fileSystems'][number]

/** The whole of its disk: what is mounted at `/`, on Windows its first drive. */
export const rootOf = ({ fileSystems }: FileSystems): FileSystem | undefined =>
  fileSystems.find(({ path }) => path === '/') ?? fileSystems[0]

/** Nothing where no guest agent tells. */
export const Disks = ({ of }: { of: FileSystems | undefined }) =>
  of?.seenAt ? (
    <Section
      id="file-systems"
      title="Disk use"
      flush
      count={
        <>
          seen by the guest agent <Time iso={of.seenAt} />
        </>
      }
    >
      <Table label="Disk use" rows={of.fileSystems} columns={columns} idOf={({ device }) => `fs-${device}`} />
    </Section>
  ) : null

const columns: readonly Column<FileSystem>[] = [
  {
    title: 'File system',
    kind: 'name',
    width: 36,
    cell: ({ path, device, kind }) => (
      <>
        <b class="mono">{path}</b>
        <small>
          {device} · {kind}
        </small>
      </>
    ),
  },
  {
    title: 'In use',
    kind: 'wide',
    width: 44,
    cell: ({ path, usedBytes, totalBytes }) => (
      <Meter
        inline
        label={`In use of ${path}`}
        value={usedBytes}
        total={totalBytes}
        words={`${bytes(usedBytes)} of ${bytes(totalBytes)}`}
      />
    ),
  },
  { title: 'Free', width: 20, cell: ({ usedBytes, totalBytes }) => bytes(totalBytes - usedBytes) },
]
