// The files in a backup: directories, one below the other, and downloads of single files.
import { MOST_ENTRIES } from '../../../agent/protocol/backup.ts'
import { escaped } from '../../../agent/protocol/text.ts'
import { downloadBackupFile } from '../../../src/compute/backups/files/download-file.ts'
import { listBackupFiles } from '../../../src/compute/backups/files/list-files.ts'
import { fileSystemWords } from '../../../src/compute/backups/files/reading.ts'
import { getBackup } from '../../../src/compute/backups/list.ts'
import { type Answers, orRefused, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { pathOf } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { here } from '../../components/live.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { addressWith, type Column, Table } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'

const reads = {
  backup: reading(getBackup, ({ params }) => ({ params })),
  files: orRefused(listBackupFiles, ({ params, query: { path, partition, skip } }) => ({
    params,
    query: { ...(path && { path }), ...(partition && { partition }), ...(skip && { skip }) },
  })),
}
type Read = Answers<typeof reads>
type Backup = Read['backup']
type Files = Exclude<Read['files'], { refused: unknown }>
type Entry = Files['entries'][number]

export const backupFilesPages = inEveryArea({
  path: '/backups/{id}/files',
  reads,
  title: ({ backup }) => `Files of a backup of ${backup.serverName}`,
  nav: 'servers',
  view: ({ backup, files }, area) => (
    <>
      <Head
        title="Files of a backup"
        trail={trailOf(backup, area)}
        sub={
          <>
            <span>
              As they were on <Exact iso={backup.startedAt} />
            </span>
            <span>Each download is recorded</span>
          </>
        }
      />
      {backup.consistent === false && (
        <Note level="info">
          The guest was not asked to write everything first: what it wrote in the last seconds may be missing here.
        </Note>
      )}
      {'refused' in files ? <Refused words={files.refused.message} /> : <Directory backup={backup} of={files} />}
    </>
  ),
})

const trailOf = ({ serverId, serverName }: Backup, area: Area): [string, string][] => [
  ['Servers', `${area}/servers`],
  [serverName, `${area}/servers/${serverId}`],
  ['Backups', `${area}/servers/${serverId}/backups`],
]

function Refused({ words }: { words: string }) {
  const at = useAt()
  return (
    <Note
      level="warn"
      action={
        <>
          {(at.query['path'] ?? '/') !== '/' && (
            <a class="btn" href={addressWith(at, { path: null, skip: null })}>
              To the root directory
            </a>
          )}
          <a class="btn" href={here(at)}>
            Try again
          </a>
        </>
      }
    >
      {words}
    </Note>
  )
}

const Directory = ({ backup, of: files }: { backup: Backup; of: Files }) =>
  files.partition === null ? (
    <Empty title="No files can be shown">
      {files.partitions.length
        ? `Files can be read of ext2, ext3 and ext4 only. This disk has ${files.partitions.map(inWords).join(', ')}. `
        : 'This disk has neither partitions nor a file system that is known here. '}
      Have the backup restored to a new server to get at its files.
    </Empty>
  ) : (
    <Section
      id="files"
      first
      flush
      title={<Way of={files} />}
      count={count(files.total, 'entry', 'entries')}
      actions={files.partitions.filter(isShown).length > 1 && <Partitions of={files} />}
      words={notShown(files)}
    >
      {files.entries.length ? (
        <Table label="Files" rows={files.entries} columns={columnsOf(backup, files)} />
      ) : (
        <Empty>This directory is empty.</Empty>
      )}
      <Pages of={files} />
    </Section>
  )

const inWords = ({ fileSystem, sizeBytes }: Files['partitions'][number]) =>
  `${bytes(sizeBytes)} (${fileSystemWords[fileSystem] ?? 'ext'})`

const isShown = ({ fileSystem }: Files['partitions'][number]) => fileSystem === 'ext'

function notShown({ isCut, partitions }: Files): string | undefined {
  const others = partitions.filter((partition) => !isShown(partition)).map(inWords)
  const words = [
    isCut && 'This directory has more entries, which cannot be shown.',
    others.length > 0 && `Files of other partitions cannot be shown: ${others.join(', ')}.`,
  ].filter(Boolean)
  return words.join(' ') || undefined
}

/** The directories on the way to this one, as links. */
function Way({ of: { path } }: { of: Files }) {
  const at = useAt()
  const names = path.split('/').filter(Boolean)
  return (
    <span class="trail">
      {names.length ? <a href={addressWith(at, { path: null, skip: null })}>Root directory</a> : 'Root directory'}
      {names.map((name, i) =>
        i === names.length - 1 ? (
          <span>/ {escaped(name)}</span>
        ) : (
          <span>
            / <a href={addressWith(at, { path: `/${names.slice(0, i + 1).join('/')}`, skip: null })}>{escaped(name)}</a>
          </span>
        ),
      )}
    </span>
  )
}

function Partitions({ of: { partitions, partition } }: { of: Files }) {
  const at = useAt()
  return (
    <nav class="tabs" aria-label="Partitions">
      {partitions.filter(isShown).map(({ number, sizeBytes }) => (
        <a
          href={addressWith(at, { partition: String(number), path: null, skip: null })}
          aria-current={number === partition ? 'page' : undefined}
        >
          Partition {number}, {bytes(sizeBytes)}
        </a>
      ))}
    </nav>
  )
}

const below = (path: string, name: string) => `${path.replace(/\/$/, '')}/${name}`
const notes = { file: '', directory: '', link: 'link', other: 'device or pipe' } as const

const columnsOf = (backup: Backup, files: Files): Column<Entry>[] => [
  { title: 'Name', kind: 'name', width: 52, cell: (entry) => <Name of={entry} path={files.path} /> },
  {
    title: 'Size',
    kind: 'a',
    num: true,
    width: 16,
    cell: (entry) => (entry.kind === 'file' ? bytes(entry.sizeBytes) : ''),
  },
  { title: 'Changed', kind: 'b', width: 26, cell: (entry) => entry.modifiedAt && <Exact iso={entry.modifiedAt} /> },
  {
    title: 'Download',
    kind: 'more',
    cell: (entry) => entry.kind === 'file' && <Download backup={backup} files={files} of={entry} />,
  },
]

function Name({ of: entry, path }: { of: Entry; path: string }) {
  const at = useAt()
  if (entry.kind !== 'directory')
    return (
      <>
        <b title={entry.shownName}>{entry.shownName}</b>
        {notes[entry.kind] && <span class="muted"> ({notes[entry.kind]})</span>}
      </>
    )
  return (
    <a href={addressWith(at, { path: below(path, entry.name), skip: null })}>
      <b title={entry.shownName}>{entry.shownName}/</b>
    </a>
  )
}

const Download = ({ backup, files, of: entry }: { backup: Backup; files: Files; of: Entry }) => (
  <div class="menu">
    <a
      class="btn ico bare s"
      href={`${pathOf(downloadBackupFile, { id: backup.id })}?${new URLSearchParams({
        partition: String(files.partition),
        path: below(files.path, entry.name),
      })}`}
      download={entry.shownName}
      aria-label={`Download ${entry.shownName}`}
    >
      <Icon name="download" />
    </a>
  </div>
)

/** The pages of a large directory. */
function Pages({ of: { entries, skipped, total } }: { of: Files }) {
  const at = useAt()
  const end = skipped + entries.length
  if (!skipped && end >= total) return null
  const to = (skip: number) => addressWith(at, { skip: skip ? String(skip) : null })
  const shown = (n: number) => n.toLocaleString('en')
  return (
    <nav class="pager end" aria-label="Pages">
      <b>
        {shown(skipped + 1)}–{shown(end)} of {shown(total)}
      </b>
      {skipped > 0 && (
        <a class="btn s" href={to(Math.max(0, skipped - MOST_ENTRIES))} rel="prev">
          <Icon name="chevron-left" />
          Previous
        </a>
      )}
      {end < total && (
        <a class="btn s" href={to(end)} rel="next">
          Next
          <Icon name="chevron-right" />
        </a>
      )}
    </nav>
  )
}
