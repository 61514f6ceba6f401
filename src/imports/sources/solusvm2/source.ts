// SolusVM 2: an API token in a header, lists in pages. Servers run under libvirt by their UUID.
import { panelAddress } from '../client/address.ts'
import { credential, resolvedPanel, yielding } from '../client/reader.ts'
import { SourceFailure } from '../failure.ts'
import type { Source, SourceAccount, SourceReader } from '../source.ts'
import { field, isObject, rowsOf, text } from '../values/scalars.ts'
import { type SolusClient, solusClient, solusList } from './client.ts'
import { hypervisors } from './hypervisors.ts'
import { addressOf, diskOf, isAdministrator, ownerOf, packageOf, rangeOf } from './records.ts'
import { servers } from './servers.ts'

const token = {
  name: 'token',
  label: 'API token',
  hint: 'In the panel: Access, API Tokens, Generate API Token. Its owner must be an administrator.',
  maxLength: 4096,
}

export const solusvm2: Source = {
  kind: 'solusvm2',
  label: 'SolusVM 2',
  addressExample: 'https://panel.example.com:443',
  hint: 'Enter the address of the panel itself. The token sees what its owner sees, so it needs an administrator.',
  credentials: [token],
  connect(typed, credentials, trust, options = {}): SourceReader {
    const address = panelAddress(
      typed,
      { usualPort: 443, isPath: (path) => /^\/(api\/v1\/?)?$/.test(path) },
      options.localNetworks,
    )
    const client = solusClient(address, credential(token, credentials), trust, options)
    const panelAddresses = () => resolvedPanel(address, options)
    const progress = (list: 'packages' | 'ranges' | 'addresses' | 'owners') => (read: number, total: number | null) =>
      options.onProgress?.({ list, read, total })
    return {
      address: address.origin,
      warnings: [],
      account: () => account(client),
      panelAddresses,
      hypervisors: () => yielding(async () => hypervisors(client, await panelAddresses(), options)),
      packages: () =>
        yielding(async () => solusList(client, 'packages', { record: packageOf, onProgress: progress('packages') })),
      ranges: () =>
        yielding(async () => solusList(client, 'ranges', { record: rangeOf, onProgress: progress('ranges') })),
      addresses: ({ id }) =>
        yielding(() =>
          solusList(client, 'addresses', { record: addressOf, onProgress: progress('addresses') }, { id }),
        ),
      owners: () =>
        yielding(async () => solusList(client, 'owners', { record: ownerOf, onProgress: progress('owners') })),
      servers: (of) =>
        yielding(() =>
          servers(
            client,
            of.map(({ id }) => id),
            options,
          ),
        ),
      disks: async (id) => rowsOf(field(await client.read('serverDisks', { id }), 'data')).map(diskOf),
    }
  },
}

async function account(client: SolusClient): Promise<SourceAccount> {
  const data = field(await client.read('account', {}), 'data')
  if (!isObject(data)) throw new SourceFailure('key_missing', 'account')
  const isAdmin = rowsOf(field(data, 'roles')).some(isAdministrator)
  return {
    name: text(field(data, 'email')),
    warnings: isAdmin
      ? []
      : ['The owner of the token is no administrator, so the panel may leave out hypervisors and servers.'],
  }
}
