// The servers of an import: what each becomes, or why it stays.

import { leaveOut } from '../../../src/imports/mapping/rules.ts'
import { listImportServers } from '../../../src/imports/mapping/servers.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count, gb } from '../../components/words.ts'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { Why } from './choice.tsx'
import { listed, MappingFrame, mappingReads, useMayMap } from './frame.tsx'

const choiceFilters = ['hypervisorId', 'packageId', 'ownerId', 'rangeId', 'refusal'] as const
const filters = ['state', 'undecided', 'conflict', 'q', 'sort', ...choiceFilters]
const reads = {
  ...mappingReads,
  servers: reading(listImportServers, ({ params, query }) => ({ params, query: listed(query, filters) })),
}
type Data = Answers<typeof reads>
export type SourceServer = Data['servers']['data'][number]

export const importServersPage = page({
  path: '/admin/imports/{id}/servers',
  reads,
  title: ({ import: of }) => `Servers of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: ({ import: of, servers }) => (
    <MappingFrame of={of}>
      <List
        of={servers}
        noun="server"
        sorts={columns}
        filters={[
          { name: 'q', label: 'Server, address or owner', placeholder: 'Server, address or owner' },
          { name: 'state', label: 'State', options: stateOptions },
          { name: 'undecided', label: 'Decision', options: [['true', 'waits for one']] },
          { name: 'conflict', label: 'Conflict', options: [['true', 'something stands against it']] },
          ...choiceFilters.map((name) => ({ name, label: filterWords[name], value: 'one' })),
        ]}
        above={<LeaveOut of={of} n={servers.total} />}
        empty={<Empty>The other panel has no servers.</Empty>}
      >
        <Table label="Servers" rows={servers.data} columns={columns} idOf={({ id }) => id} sortable stick />
      </List>
    </MappingFrame>
  ),
})

const filterWords = {
  hypervisorId: 'Hypervisor',
  packageId: 'Package',
  ownerId: 'Owner',
  rangeId: 'Range',
  refusal: 'Reason',
} as const

/** Leaves out what the filters select, or takes it in again. Nothing without a filter: that would be the import. */
function LeaveOut({ of, n }: { of: Import; n: number }) {
  const { query } = useAt()
  const mayMap = useMayMap(of)
  const where = Object.fromEntries(
    ['state', 'q', 'hypervisorId', 'packageId', 'ownerId', 'rangeId'].flatMap((name) =>
      query[name] ? [[name, query[name]]] : [],
    ),
  )
  const flags = Object.fromEntries(
    ['undecided', 'conflict'].flatMap((name) => (query[name] === 'true' ? [[name, true]] : [])),
  )
  const all = { ...where, ...flags }
  if (!mayMap || !n || query['refusal'] || !Object.keys(all).length) return null
  return (
    <div class="tools">
      <span class="muted">{`With these ${count(n, 'server')}:`}</span>
      {([true, false] as const).map((isLeftOut) => (
        <Action
          op={leaveOut}
          params={{ id: of.id }}
          part={String(isLeftOut)}
          body={{ where: all, isLeftOut }}
          label={isLeftOut ? 'Leave out' : 'Take in again'}
          small
          title={`${isLeftOut ? 'Leave out' : 'Take in'} the servers of these filters?`}
          done="{changed} servers changed"
          confirm={{
            keep: 'Change nothing',
            consequences: [
              isLeftOut
                ? `${count(n, 'server')} would stay on the source, whatever is decided about the rest.`
                : 'Those that were left out alone come over again, if nothing else leaves them out.',
              'Nothing happens on the other panel.',
            ],
          }}
        />
      ))}
    </div>
  )
}

type Look = { words: string; tone: Tone; shape: IconName }
const states: Record<SourceServer['state'], Look> = {
  waiting: { words: 'Decided', tone: 'ok', shape: 'tick' },
  left_out: { words: 'Left out', tone: 'idle', shape: 'fail' },
  refused: { words: 'Stays', tone: 'hold', shape: 'hold' },
  ready: { words: 'Ready', tone: 'ok', shape: 'tick' },
  moving: { words: 'Moving', tone: 'work', shape: 'work' },
  moved: { words: 'Moved', tone: 'ok', shape: 'tick' },
  failed: { words: 'Failed', tone: 'bad', shape: 'fail' },
  rolled_back: { words: 'Rolled back', tone: 'hold', shape: 'stop' },
  already_moved: { words: 'Already moved', tone: 'idle', shape: 'tick' },
}
const stateOptions = (['waiting', 'left_out', 'refused', 'already_moved'] as const).map(
  (state) => [state, state === 'waiting' ? 'Comes over' : states[state].words] as const,
)

type Found = Pick<SourceServer, 'state' | 'reason' | 'undecided' | 'check'>
/** A conflict and an open decision go before the state. */
export function ServerFinding({ of, tag }: { of: Found; tag?: boolean }) {
  const isOpen = of.state === 'waiting' || of.state === 'ready'
  const { words, tone, shape }: Look =
    isOpen && of.reason
      ? { words: 'Conflict', tone: 'bad', shape: 'away' }
      : isOpen && of.undecided > 0
        ? { words: 'Undecided', tone: 'warn', shape: 'wait' }
        : isOpen && of.check?.result === 'to_fix'
          ? { words: 'To fix', tone: 'bad', shape: 'fail' }
          : states[of.state]
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {words}
    </State>
  )
}

export const waitsWords = {
  package: 'its package',
  hypervisor: 'its hypervisor',
  owner: 'its owner',
  range: 'its addresses',
} as const
export const findingOf = ({ reason, waitsFor, goesTo, way, os }: SourceServer) =>
  reason ??
  (waitsFor.length
    ? `Waits for a decision about ${waitsFor.map((one) => waitsWords[one]).join(', ')}`
    : way === 'copy'
      ? `Copied to ${goesTo?.name ?? 'a location'} · ${os}`
      : `Adopted where it is · ${os}`)

const columns: readonly Column<SourceServer>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 28,
    sort: 'hostname',
    cell: ({ id, hostname, sourceId }) => (
      <>
        <Link to="/admin/import-servers/{id}" params={{ id }} title={hostname}>
          {hostname}
        </Link>
        <small>{`number ${sourceId} there`}</small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 15, sort: 'state', cell: (one) => <ServerFinding of={one} /> },
  {
    title: 'Address',
    kind: 'addr',
    width: 17,
    cell: ({ addresses: [first, ...others] }) => (
      <>
        <span class="mono">{first?.address ?? '–'}</span>
        {others.length > 0 && <small>{`and ${others.length} more`}</small>}
      </>
    ),
  },
  {
    title: 'Disk',
    kind: 'mid',
    num: true,
    width: 9,
    sort: '-disk',
    cell: ({ diskGb }) => (diskGb === null ? '–' : gb(diskGb)),
  },
  { title: 'Finding', kind: 'wide', width: 31, cell: (one) => <Why>{findingOf(one)}</Why> },
]
