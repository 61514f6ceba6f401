// Virtualizor: an admin API key and its pass in the query of each request. Servers run under libvirt by a name of their
// own, which is not their id.
import { isIP } from 'node:net'
import { rangeOf as kindOfAddress } from '../../../../agent/protocol/net/pinned-request.ts'
import { panelAddress } from '../client/address.ts'
import { credential, resolvedPanel, yielding } from '../client/reader.ts'
import type { Source, SourceAccount, SourceHypervisor, SourceOptions, SourceReader } from '../source.ts'
import { resolvedAddresses } from '../values/addresses.ts'
import { type AddressBook, addressBook, rangeOf } from './addresses.ts'
import { type VirtualizorClient, virtualizorClient, virtualizorList } from './client.ts'
import { hypervisorOf, ownerOf, PANEL_HOST, packageOf } from './records.ts'
import { servers } from './servers.ts'

const key = {
  name: 'key',
  label: 'Admin API key',
  hint:
    'In the admin panel: API Credentials. The pair needs to list virtual servers, servers, plans, IP pools, IPs and ' +
    'users.',
  maxLength: 255,
}
const pass = {
  name: 'pass',
  label: 'Admin API pass',
  hint: 'It belongs to the key. If the pair restricts callers by address, allow the address of this controller.',
  maxLength: 255,
}

export const virtualizor: Source = {
  kind: 'virtualizor',
  label: 'Virtualizor',
  addressExample: 'https://panel.example.com:4085',
  hint: 'Enter the address of the master with its admin port. Only the master has the API for all hypervisors.',
  credentials: [key, pass],
  connect(typed, credentials, trust, options = {}): SourceReader {
    const address = panelAddress(
      typed,
      { usualPort: 4085, isPath: (path) => /^\/(index\.php)?$/.test(path) },
      options.localNetworks,
    )
    const pair = { key: credential(key, credentials), pass: credential(pass, credentials) }
    const client = virtualizorClient(address, pair, trust, options)
    const panelAddresses = () => resolvedPanel(address, options)
    const warnings: string[] = []
    const warn = (warning: string) => {
      if (!warnings.includes(warning)) warnings.push(warning)
    }
    // Ranges and servers both need all addresses; they are read again with the ranges.
    let book: AddressBook | undefined
    const readBook = async () => (book = await addressBook(client, options, warn))
    const progress = (list: 'packages' | 'owners' | 'ranges') => (read: number, total: number | null) =>
      options.onProgress?.({ list, read, total })
    return {
      address: address.origin,
      warnings,
      account: () => account(client),
      panelAddresses,
      hypervisors: () => yielding(async () => hypervisors(client, await panelAddresses(), options)),
      packages: () =>
        yielding(() => virtualizorList(client, 'packages', { record: packageOf, onProgress: progress('packages') })),
      ranges: () =>
        yielding(async () => {
          const known = await readBook()
          const record = (row: Parameters<typeof rangeOf>[0]) => rangeOf(row, known)
          return virtualizorList(client, 'pools', { record, onProgress: progress('ranges') })
        }),
      addresses: ({ id }) => yielding(async () => (book ?? (await readBook())).inRange(id)),
      owners: () =>
        yielding(() => virtualizorList(client, 'owners', { record: ownerOf, onProgress: progress('owners') })),
      servers: (of) => yielding(async () => servers(client, of, book ?? (await readBook()), options, warn)),
      disks: async () => null,
    }
  },
}

/** The panel tells nobody's name. A slave lists only itself, and is no host of the panel. */
async function account(client: VirtualizorClient): Promise<SourceAccount> {
  const found = await virtualizorList(client, 'hypervisors', { record: hypervisorOf })
  return {
    name: null,
    warnings: found.has(PANEL_HOST)
      ? []
      : ['The panel does not list its own host. Enter the address of the master: only there all servers are listed.'],
  }
}

const isLocal = (host: string | null): boolean =>
  host === null || host.toLowerCase() === 'localhost' || (isIP(host) !== 0 && kindOfAddress(host) === 'loopback')

/** The panel's host is listed as localhost, or without an address: it has the panel's then. */
async function hypervisors(
  client: VirtualizorClient,
  panelAddresses: readonly string[],
  { lookUp, onProgress }: SourceOptions,
): Promise<readonly SourceHypervisor[]> {
  const drafts = await virtualizorList(client, 'hypervisors', {
    record: hypervisorOf,
    onProgress: (read, total) => onProgress?.({ list: 'hypervisors', read, total }),
  })
  const all: SourceHypervisor[] = []
  for (const { hosts, ...draft } of drafts.values()) {
    const named = await resolvedAddresses(
      hosts.filter((host) => !isLocal(host)),
      lookUp,
    )
    const isPanelHost = draft.id === PANEL_HOST
    const addresses = isPanelHost && isLocal(hosts[0] ?? null) ? [...new Set([...panelAddresses, ...named])] : named
    const isPanel = isPanelHost || addresses.some((one) => panelAddresses.includes(one))
    all.push({ ...draft, addresses, isPanel })
  }
  return all
}
