// Puts what a reading has staged in place of what the one before had found: new rows, changed ones, and those that are
// gone. It goes in slices and can be begun anew at any point: a row that this reading has put already is left alone.
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { canonicalAddress } from '../../kernel/mail/address.ts'
import { count } from '../../kernel/words.ts'
import { toNumber, toText } from '../../network/ip-pools/ranges.ts'
import { forgetChecks } from '../import-records/checks/queries.ts'
import { ownersWithEmail, settle } from '../import-records/choices/queries.ts'
import {
  addChange,
  addressesOfServer,
  changeServer,
  deleteGoneServers,
  everyRow,
  forgetChanges,
  hypervisorRows,
  insertServer,
  movedBefore,
  ownerRows,
  type Part,
  packageRows,
  rangeRows,
  rowsOf,
  serverBySource,
  serversAfter,
  setAddresses,
} from '../import-records/inventory/queries.ts'
import { UNNAMED } from '../import-records/model.ts'
import { changeImport, type ImportRecord, noteIn, stagedAfter } from '../import-records/queries.ts'
import { Facts } from '../mapping/facts.ts'
import { proposalOfHypervisor } from '../mapping/hypervisors.ts'
import { conflictOf, offersOfOwner } from '../mapping/owners.ts'
import { proposalOfPackage, sizeWords } from '../mapping/packages.ts'
import { boundsOf, proposalOfRange } from '../mapping/ranges.ts'
import type { SourceHypervisor, SourceOwner, SourcePackage, SourceRange, SourceServer } from '../sources/source.ts'
import { changesBetween, identityOf, refusalOf } from './found.ts'
import { forget } from './read.ts'
import type { Reading } from './reading.ts'

const AT_ONCE = 200

/** Applies everything that is staged, and ends the reading: the import can be mapped. Throws `Superseded`. */
export async function applyStaged(reading: Reading): Promise<void> {
  await applyRows(reading)
  await applyServers(reading)
  await deleteGone(reading)
  await propose(reading)
  const { app, importId, number } = reading
  for (let at = ''; ; ) {
    const ids = reading.write((tx) => {
      const rows = serversAfter(tx, importId, at, AT_ONCE).map(({ id }) => id)
      settle(tx, importId, { serverIds: rows })
      // An earlier dry run was about the panel as it was.
      forgetChecks(tx, rows)
      return rows
    })
    if (ids.length < AT_ONCE) break
    at = ids.at(-1)!
    await reading.slices.rest()
  }
  reading.write((tx, row) => {
    changeImport(tx, importId, {
      status: 'mapping',
      phase: null,
      read: number,
      trouble: null,
      discoveredAt: app.clock(),
      checkedAt: null,
      mappingVersion: row.mappingVersion + 1,
    })
    forgetChanges(tx, importId, number)
    const sent = reading.requests
      ? ` ${count(reading.requests, 'request was', 'requests were')} sent, all of them read.`
      : ''
    noteIn(tx, importId, app.clock(), 'info', `The panel was read to its end.${sent}`)
  })
  await forget(reading)
}

/** A row of a part: inserted, or changed where it was there; what was decided about it is reset. */
function put(
  tx: Tx,
  row: ImportRecord,
  part: Part,
  values: { sourceId: string; name: string | null } & Record<string, unknown>,
) {
  const rows = rowsOf[part]
  const before = rows.find(tx, row.id, values.sourceId)
  if (before?.read === row.reading) return
  const now = { importId: row.id, read: row.reading, ...values }
  const reset = { choice: null, isProposed: false }
  if (before) {
    const changed = changesBetween(before, values)
    rows.change(tx, before as never, { ...now, ...reset, ...resetOf[part] })
    if (changed.length && values.sourceId !== UNNAMED) told(tx, row, part, values, 'changed', changed.join(', '))
  } else {
    rows.insert(tx, now)
    if (row.read > 0 && values.sourceId !== UNNAMED) told(tx, row, part, values, 'new', '')
  }
}
const resetOf = {
  packages: { packageId: null, changes: null },
  ranges: { poolId: null },
  hypervisors: { locationId: null },
  owners: { accountId: null, resellerId: null, lapsed: null },
} as const satisfies Record<Part, object>

const told = (
  tx: Tx,
  row: ImportRecord,
  list: string,
  { sourceId, name }: { sourceId: string; name: string | null },
  change: 'new' | 'changed' | 'gone',
  words: string,
) => addChange(tx, { importId: row.id, read: row.reading, list, sourceId, change, name: name ?? sourceId, words })

async function eachStaged<R>(
  reading: Reading,
  list: string,
  work: (tx: Tx, row: ImportRecord, record: R) => void,
): Promise<void> {
  for (let at = ''; ; ) {
    const last = reading.write((tx, row) => {
      const staged = stagedAfter<R>(tx, row.id, list, at, AT_ONCE)
      for (const { record } of staged) work(tx, row, record)
      return staged.length < AT_ONCE ? undefined : staged.at(-1)!.sourceId
    })
    if (last === undefined) return
    at = last
    await reading.slices.rest()
  }
}

async function applyRows(reading: Reading) {
  await eachStaged<SourceHypervisor>(reading, 'hypervisors', (tx, row, one) =>
    put(tx, row, 'hypervisors', {
      sourceId: one.id,
      name: one.name,
      address: one.address,
      addresses: one.addresses,
      isPanel: one.isPanel,
      network: one.network,
      bridges: one.bridges,
      location: one.location,
    }),
  )
  await eachStaged<SourcePackage>(reading, 'packages', (tx, row, one) =>
    put(tx, row, 'packages', {
      sourceId: one.id,
      name: one.name,
      virtualization: one.virtualization,
      ...{ vcpus: one.vcpus, memoryMb: one.memoryMb, diskGb: one.diskGb },
      trafficBytes: one.trafficBytes,
      portMbps: portOf(one),
      ipv4: one.ipv4,
      billingId: one.billingId,
    }),
  )
  await eachStaged<SourceRange>(reading, 'ranges', (tx, row, one) =>
    put(tx, row, 'ranges', {
      sourceId: one.id,
      ...{ name: one.name, version: one.version, first: one.first, last: one.last, network: one.network },
      ...{ isSet: one.isSet, gateway: one.gateway, prefixLength: one.prefixLength, resolvers: one.resolvers },
      ...{ reach: one.reach, hypervisorIds: one.hypervisorIds },
    }),
  )
  await eachStaged<SourceOwner>(reading, 'owners', (tx, row, one) => {
    const email = canonicalAddress(one.email ?? '')
    // Without an address nobody can be told apart: their servers are those of unknown owners.
    if (email === undefined) return
    put(tx, row, 'owners', {
      sourceId: one.id,
      email,
      name: one.name,
      kind: one.kind,
      parentId: one.parentId,
      isSuspended: one.isSuspended,
      billingId: one.billingId,
    })
  })
}
/** The lower of both directions; null: neither is limited. */
function portOf({ speed: { inMbps, outMbps } }: SourcePackage): number | null {
  const limits = [inMbps, outMbps].filter((one) => one !== null)
  return limits.length ? Math.max(1, Math.round(Math.min(...limits))) : null
}

// ---------------------------------------------------------------- servers
async function applyServers(reading: Reading) {
  // Addresses that a range lists one by one, for ranges that have no bounds.
  const listed = new Map<string, string>()
  await eachStaged<{ rangeId: string; address: string }>(reading, 'addresses', (_tx, _row, { rangeId, address }) => {
    listed.set(address, rangeId)
  })
  const bounds = reading.write((tx, row) =>
    [...everyRow(tx, 'ranges', row.id)].flatMap((range) => {
      const found = range.read === row.reading && !range.isSet ? boundsOf(range) : undefined
      return found ? [{ id: range.sourceId, ...found }] : []
    }),
  )
  const rangeOf = (address: string): string => {
    const known = listed.get(address)
    if (known !== undefined) return known
    const number = toNumber(address)
    if (!number) return UNNAMED
    const fitting = bounds.filter(
      ({ version, first, last }) => version === number.version && first <= number.n && number.n <= last,
    )
    // The narrowest, where one range lies in another.
    fitting.sort((a, b) => (a.last - a.first < b.last - b.first ? -1 : 1))
    return fitting[0]?.id ?? UNNAMED
  }
  await eachStaged<SourceServer>(reading, 'servers', (tx, row, one) => putServer(tx, row, one, rangeOf))
}

function putServer(tx: Tx, row: ImportRecord, one: SourceServer, rangeOf: (address: string) => string) {
  const before = serverBySource(tx, row.id, one.id)
  if (before?.read === row.reading) return
  const parents = { hypervisorId: hypervisorOf(tx, row, one), packageId: packageOf(tx, row, one) }
  const identity = identityOf(row, one)
  const refusal = refusalOf(one, parents.hypervisorId === UNNAMED)
  const earlier = movedBefore(tx, identity, row.id)
  const values = {
    identity,
    read: row.reading,
    uuid: one.uuid,
    domain: one.domain,
    hostname: one.name || one.id,
    ...parents,
    ownerId: ownerOf(tx, row, one),
    virtualization: one.virtualization,
    ...{ vcpus: one.vcpus, memoryMb: one.memoryMb, diskGb: one.diskGb },
    ...{ mac: one.mac, osName: one.osName, isWindows: one.isWindows, isSuspended: one.isSuspended },
    ...{ isInRescue: one.isInRescue, power: one.state, madeAt: one.createdAt, billingId: one.billingId },
    state: earlier ? ('already_moved' as const) : refusal ? ('refused' as const) : ('waiting' as const),
    refusal: refusal ?? null,
    leftOutBy: null,
    isLeftOut: false,
    undecided: 0,
    addressConflict: null,
    hasBillingId: true,
    claimConflict: null,
    workloadId: earlier?.workloadId ?? null,
  }
  const id = before?.id ?? newId('ims')
  const { state: _, read: __, workloadId: ___, power: ____, ...compared } = values
  const changed = before ? changesBetween(before, { ...compared, ...parents }) : []
  if (before) changeServer(tx, id, values)
  else insertServer(tx, { id, importId: row.id, sourceId: one.id, ...values })
  const had = before ? addressesOfServer(tx, id).map(({ address }) => address) : []
  const has = new Map(
    one.addresses.flatMap((each) => {
      const number = toNumber(each.address)
      const address = number && toText(number.version, number.n)
      return address ? [[address, { ...each, address, version: number.version }] as const] : []
    }),
  )
  for (const { address } of has.values()) if (rangeOf(address) === UNNAMED) ensureRange(tx, row)
  const rangeOfEach = (each: { address: string; rangeId: string | null }) =>
    each.rangeId !== null && isSeen(tx, row, 'ranges', each.rangeId) ? each.rangeId : rangeOf(each.address)
  if ([...has.values()].some((each) => rangeOfEach(each) === UNNAMED)) ensureRange(tx, row)
  setAddresses(
    tx,
    id,
    [...has.values()].map((each) => ({
      importId: row.id,
      serverId: id,
      address: each.address,
      version: each.version,
      prefixLength: each.prefixLength,
      isPrimary: each.isPrimary,
      rangeId: rangeOfEach(each),
    })),
  )
  if (before && had.toSorted().join() !== [...has.keys()].toSorted().join()) changed.push('addresses')
  const named = { sourceId: one.id, name: values.hostname }
  if (!before && row.read > 0) told(tx, row, 'servers', named, 'new', '')
  else if (changed.length) told(tx, row, 'servers', named, 'changed', changed.join(', '))
}

const isSeen = (tx: Tx, row: ImportRecord, part: Part, sourceId: string) =>
  rowsOf[part].find(tx, row.id, sourceId)?.read === row.reading

function hypervisorOf(tx: Tx, row: ImportRecord, { hypervisorId }: SourceServer): string {
  if (hypervisorId !== null && isSeen(tx, row, 'hypervisors', hypervisorId)) return hypervisorId
  put(tx, row, 'hypervisors', {
    sourceId: UNNAMED,
    name: 'Unknown hypervisor',
    ...{ address: '', addresses: [], isPanel: false, network: null, bridges: [], location: null },
  })
  return UNNAMED
}

/** A server of a size of its own, or of a package that is gone, gets a package of that size here. */
function packageOf(tx: Tx, row: ImportRecord, one: SourceServer): string {
  if (one.packageId !== null && isSeen(tx, row, 'packages', one.packageId)) return one.packageId
  const { vcpus, memoryMb, diskGb } = one
  const sourceId = `size:${vcpus ?? '?'}/${memoryMb ?? '?'}/${diskGb ?? '?'}`
  put(tx, row, 'packages', {
    sourceId,
    name: one.packageName ?? sizeWords(one),
    virtualization: one.virtualization,
    ...{ vcpus, memoryMb, diskGb, trafficBytes: null, portMbps: null, ipv4: null, billingId: '' },
  })
  return sourceId
}

function ownerOf(tx: Tx, row: ImportRecord, { ownerId, ownerEmail }: SourceServer): string {
  if (ownerId !== null && isSeen(tx, row, 'owners', ownerId)) return ownerId
  const email = canonicalAddress(ownerEmail ?? '')
  const [known] = email === undefined ? [] : ownersWithEmail(tx, row.id, email)
  if (known !== undefined && isSeen(tx, row, 'owners', known)) return known
  const sourceId = email === undefined ? UNNAMED : `email:${email}`
  put(tx, row, 'owners', {
    sourceId,
    email: email ?? null,
    name: email === undefined ? 'Unknown owner' : null,
    ...{ kind: 'customer', parentId: null, isSuspended: false, billingId: '' },
  })
  return sourceId
}

const ensureRange = (tx: Tx, row: ImportRecord) =>
  put(tx, row, 'ranges', {
    sourceId: UNNAMED,
    name: 'Addresses in no range',
    ...{ version: 4, first: null, last: null, network: null, isSet: true, gateway: null, prefixLength: null },
    ...{ resolvers: [], reach: 'public', hypervisorIds: [] },
  })

async function deleteGone(reading: Reading) {
  const { importId, number } = reading
  const until = async (work: (tx: Tx, row: ImportRecord) => number) => {
    while (reading.write(work) === AT_ONCE) await reading.slices.rest()
  }
  await until((tx, row) => {
    const gone = deleteGoneServers(tx, importId, number, AT_ONCE)
    for (const { sourceId, hostname } of gone) told(tx, row, 'servers', { sourceId, name: hostname }, 'gone', '')
    return gone.length
  })
  for (const part of ['packages', 'ranges', 'hypervisors', 'owners'] as const)
    await until((tx, row) => {
      const gone = rowsOf[part].deleteGone(tx, importId, number, AT_ONCE)
      for (const sourceId of gone) if (sourceId !== UNNAMED) told(tx, row, part, { sourceId, name: null }, 'gone', '')
      return gone.length
    })
}

/** Chooses the usual where it is right in most cases, marked as proposed. */
async function propose(reading: Reading) {
  reading.write((tx, target) => {
    const facts = new Facts(tx, target)
    const isProposed = true
    for (const row of [...everyRow(tx, 'packages', target.id)]) {
      const found = proposalOfPackage(facts, row)
      if (found) packageRows.change(tx, row, { ...found, isProposed })
    }
    for (const row of facts.hypervisors) {
      const found = proposalOfHypervisor(facts, row)
      if (found) hypervisorRows.change(tx, row, { ...found, isProposed })
    }
    facts.forgetHypervisors()
    for (const row of [...everyRow(tx, 'ranges', target.id)]) {
      const found = proposalOfRange(facts, row)
      if (found) rangeRows.change(tx, row, { ...found, isProposed })
    }
  })
  for (let at: string | undefined = ''; at !== undefined; ) {
    const from: string = at
    at = reading.write((tx, target) => {
      const rows = ownerRows.from(tx, target.id, from, AT_ONCE + 1)
      for (const row of rows.slice(0, AT_ONCE)) {
        const found = conflictOf({ tx, target }, row)
        const create = offersOfOwner({ tx, target }, row, found).find(({ choice }) => choice === 'create')
        ownerRows.change(tx, row, {
          conflict: found.conflict,
          conflictAccountId: found.account?.id ?? null,
          ...(found.conflict === 'none' && create?.isOffered && { choice: 'create', isProposed: true }),
        })
      }
      return rows[AT_ONCE]?.sourceId
    })
    await reading.slices.rest()
  }
}
