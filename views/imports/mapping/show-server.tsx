// One server of an import: what the other panel says of it, what it becomes, and what it waits for.
import type { ComponentChildren } from 'preact'
import type { AssetName } from '../../../public/assets.ts'
import { getImport } from '../../../src/imports/imports/imports.ts'
import {
  changeMapping,
  listMappedHypervisors,
  listMappedOwners,
  listMappedPackages,
} from '../../../src/imports/mapping/mapping.ts'
import { sizeWords } from '../../../src/imports/mapping/packages.ts'
import { getImportServer } from '../../../src/imports/mapping/servers.ts'
import { type Answers, ifNamed, page } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Facts, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { list } from '../../components/words.ts'
import { CheckSection } from '../dry-run/servers.tsx'
import { type Import, importsTrail, titleOf } from '../imports/words.tsx'
import { MoveActions, MoveBar, MoveLog, MoveSide, moveReads } from '../migrate/move.tsx'
import { MoveState } from '../migrate/words.tsx'
import { effectOf } from './choice.tsx'
import { useMayMap } from './frame.tsx'
import { ServerFinding, type SourceServer, waitsWords } from './servers.tsx'

/** The row of a part that this server belongs to: among those that its id finds. */
const rowOf = (field: 'hypervisorId' | 'packageId' | 'ownerId') => (_: unknown, before: { server: SourceServer }) => ({
  params: { id: before.server.importId },
  query: { q: before.server[field], limit: '200' },
})
const reads = {
  server: getImportServer,
  import: ifNamed(getImport, (_, before: { server: SourceServer }) => ({ params: { id: before.server.importId } })),
  hypervisors: ifNamed(listMappedHypervisors, rowOf('hypervisorId')),
  packages: ifNamed(listMappedPackages, rowOf('packageId')),
  owners: ifNamed(listMappedOwners, rowOf('ownerId')),
  ...moveReads,
}
type Data = Answers<typeof reads>

export const importServerPage = page({
  path: '/admin/import-servers/{id}',
  reads,
  title: ({ server }) => server.hostname,
  nav: 'imports',
  // Neither rows to tick nor choices of a list are on it.
  files: ['moves.css', 'imports.css', 'alpine.js'] satisfies AssetName[],
  // Everybody who sees the server sees its import.
  view: ({ import: of, ...data }) => <ServerPage {...data} of={of!} />,
})

type PageProps = Omit<Data, 'import'> & { of: Import }
const findIn = <Row extends { sourceId: string }>(rows: { data: readonly Row[] } | undefined, id: string) =>
  rows?.data.find(({ sourceId }) => sourceId === id)

function ServerPage({ server: s, of, hypervisors, packages, owners, moving, ...more }: PageProps) {
  const move = moving?.move
  const hypervisor = findIn(hypervisors, s.hypervisorId)
  const pack = findIn(packages, s.packageId)
  const owner = findIn(owners, s.ownerId)
  const mayMap = useMayMap(of)
  return (
    <>
      <Head
        title={s.hostname}
        trail={[
          ...importsTrail,
          [titleOf(of), `/admin/imports/${of.id}`],
          ['Servers', `/admin/imports/${of.id}/servers`],
        ]}
        state={move ? <MoveState of={move} tag /> : <ServerFinding of={s} tag />}
        sub={
          <>
            <span>{of.panel}</span>
            <span>{`number ${s.sourceId} there`}</span>
            <span>{s.os}</span>
          </>
        }
        actions={
          <>
            <LeaveOut of={of} server={s} />
            {move && <MoveActions of={of} move={move} nodes={more.nodes} />}
          </>
        }
      />
      {move ? <MoveBar move={move} {...more} /> : <Reason of={of} server={s} />}
      <div class="split">
        <div>
          {move && <MoveLog move={move} {...more} />}
          <Section id="becomes" title="What it becomes" flush>
            <ul class="rows wrap">
              <Decision
                icon="location"
                title={wayWords(s, hypervisor)}
                words={hypervisor && (effectOf(hypervisor) ?? 'Nothing is decided about its hypervisor')}
                to={
                  mayMap && (
                    <Link to="/admin/imports/{id}/locations" params={{ id: of.id }} aria-label="Change its hypervisor">
                      Change
                    </Link>
                  )
                }
              />
              <Decision
                icon="package"
                title={pack?.package?.name ?? packageWords[pack?.choice ?? 'none']}
                words={pack && (pack.choice === 'own' ? pack.difference : effectOf(pack))}
                to={
                  mayMap && (
                    <Link to="/admin/imports/{id}/packages" params={{ id: of.id }} aria-label="Change its package">
                      Change
                    </Link>
                  )
                }
              />
              <Decision
                icon="customers"
                title={
                  s.becomes.newEmail ?? owner?.account?.name ?? owner?.name ?? owner?.email ?? 'No owner is decided'
                }
                words={owner && effectOf(owner)}
                to={
                  mayMap && (
                    <Link
                      to="/admin/imports/{id}/owners"
                      params={{ id: of.id }}
                      query={{ q: s.ownerId }}
                      aria-label="Change its owner"
                    >
                      Change
                    </Link>
                  )
                }
              />
              {(s.billingServiceId || s.becomes.externalId) && (
                <Decision
                  icon="package"
                  title="Billing numbers"
                  words={[
                    s.billingServiceId && `billingServiceId ${s.billingServiceId}`,
                    s.becomes.externalId && `externalId ${s.becomes.externalId}`,
                  ]
                    .filter(Boolean)
                    .join(', ')}
                  to={
                    mayMap && (
                      <Link to="/admin/imports/{id}/billing" params={{ id: of.id }} aria-label="Change billing numbers">
                        Change
                      </Link>
                    )
                  }
                />
              )}
            </ul>
          </Section>
          {s.check && <CheckSection check={s.check} />}
          <Section id="addresses" title="Addresses" flush>
            <Table
              label="Addresses"
              rows={s.addresses}
              columns={addressColumns}
              idOf={({ address }) => `a-${address.replace(/[^0-9a-z]+/gi, '-')}`}
            />
          </Section>
        </div>
        <div>
          {move && <MoveSide move={move} {...more} />}
          <AtTheSource server={s} names={[hypervisor?.name, pack?.name, owner?.name ?? owner?.email]} />
        </div>
      </div>
    </>
  )
}

/** Why it stays, or what it waits for. */
function Reason({ server: s, of }: { server: SourceServer; of: Import }) {
  const isOpen = s.state === 'waiting' || s.state === 'ready'
  if (s.reason)
    return (
      <Note level={isOpen ? 'bad' : 'info'}>
        <strong>{isOpen ? 'Something stands against it.' : 'It stays on the source.'}</strong> {s.reason}
        {!s.reason.endsWith('.') && '.'}
      </Note>
    )
  if (s.waitsFor.length)
    return (
      <Note
        level="warn"
        action={
          <Link class="btn" to="/admin/imports/{id}" params={{ id: of.id }}>
            Decide
          </Link>
        }
      >
        <strong>It waits for a decision</strong> about {list(s.waitsFor.map((one) => waitsWords[one]))}.
      </Note>
    )
  return null
}

function LeaveOut({ of, server: { id, hostname, state, leftOutBy } }: { of: Import; server: SourceServer }) {
  const mayMap = useMayMap(of)
  const isAlone = leftOutBy === 'server'
  if (!mayMap || !['waiting', 'ready', 'left_out'].includes(state) || (state === 'left_out' && !isAlone)) return null
  return (
    <Action
      op={changeMapping}
      params={{ id: of.id }}
      body={{ servers: [{ id, isLeftOut: !isAlone }] }}
      label={isAlone ? 'Take in again' : 'Leave out'}
      of={hostname}
      done={isAlone ? 'It comes over again' : 'It stays on the source'}
    />
  )
}

type Hypervisor = NonNullable<Data['hypervisors']>['data'][number]
const wayWords = ({ way, goesTo }: SourceServer, hypervisor: Hypervisor | undefined) =>
  way === 'copy'
    ? `Copied to ${goesTo?.name ?? 'a location'}`
    : way === 'adopt'
      ? `Adopted on ${hypervisor?.node?.name ?? 'its node'}`
      : hypervisor?.choice === 'leave_out'
        ? 'Left out with its hypervisor'
        : 'Goes nowhere yet'
const packageWords = {
  own: 'One of your packages',
  like: 'A package like the one there',
  leave_out: 'Left out with its package',
  none: 'No package is decided',
} as const

type DecisionProps = {
  icon: 'location' | 'package' | 'customers'
  title: string
  words: string | null | undefined
  to: ComponentChildren
}
const Decision = ({ icon, title, words, to }: DecisionProps) => (
  <li>
    <Icon name={icon} class="muted" />
    <div class="grow">
      <b>{title}</b>
      {words && <small>{words}</small>}
    </div>
    {to}
  </li>
)

type Address = SourceServer['addresses'][number]
const fates = {
  kept: ['ok', 'tick', 'Kept'],
  replaced: ['warn', 'wait', 'Replaced by a new one'],
  dropped: ['idle', 'fail', 'Dropped'],
  undecided: ['warn', 'wait', 'Undecided'],
} as const
const addressColumns: readonly Column<Address>[] = [
  {
    title: 'Address',
    kind: 'name',
    width: 60,
    cell: ({ address, prefixLength }) => (
      <span class="mono">{prefixLength === null ? address : `${address}/${prefixLength}`}</span>
    ),
  },
  {
    title: 'What happens',
    kind: 'state',
    width: 40,
    cell: ({ becomes }) => {
      const [tone, shape, words] = fates[becomes]
      return (
        <State tone={tone} shape={shape}>
          {words}
        </State>
      )
    },
  },
]

const powerWords = { running: 'Running', stopped: 'Stopped', unknown: 'Not told' } as const
type SourceProps = { server: SourceServer; names: readonly (string | null | undefined)[] }
const AtTheSource = ({ server: s, names: [hypervisor, pack, owner] }: SourceProps) => (
  <Section id="source" title="At the source">
    <Facts
      of={[
        ['Hypervisor', hypervisor ?? s.hypervisorId],
        ['Domain', s.domain && <span class="mono">{s.domain}</span>],
        ['Package', pack ?? s.packageId],
        ['Size', sizeWords(s)],
        ['Owner', owner ?? s.ownerId],
        ['MAC address', s.mac && <span class="mono">{s.mac}</span>],
        ['System', s.os],
        ['Power', powerWords[s.power]],
        ['Suspended', s.isSuspended && 'Yes'],
        ['In rescue', s.isInRescue && 'Yes'],
        ['Billing id', s.billingId && <span class="mono">{s.billingId}</span>],
      ]}
    />
    <p class="hint">As it was when the panel was read. Nothing was changed there.</p>
  </Section>
)
