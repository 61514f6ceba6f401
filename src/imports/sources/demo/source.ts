// A panel that does not exist, for a first look at imports and for tests: every kind of owner, range and server that an
// import has to decide about is in it. Nothing is sent anywhere.
import { panelAddress } from '../client/address.ts'
import { credential, yielding } from '../client/reader.ts'
import { isFailureCode, SourceFailure } from '../failure.ts'
import type { Source, SourceList, SourceOptions, SourceReader } from '../source.ts'
import { demoFleet } from './fleet.ts'

const token = {
  name: 'token',
  label: 'Token',
  hint: 'Any text. The code of a failure, such as refused_sign_in, makes the panel fail so.',
  maxLength: 100,
}

/** The number in the first part of the name: `demo-500.example` has 500 servers. */
const SIZE = /^demo-([1-9]\d{0,4})(\.|$)/
const USUAL_SIZE = 40

export const demo: Source = {
  kind: 'demo',
  label: 'Demonstration',
  addressExample: 'https://demo-40.example:443',
  hint: 'A made-up panel. The number in its name says how many servers it has.',
  credentials: [token],
  connect(typed, credentials, _trust, options = {}): SourceReader {
    const address = panelAddress(typed, { usualPort: 443, isPath: (path) => path === '/' })
    const given = credential(token, credentials)
    const fleet = demoFleet(Number(SIZE.exec(address.url.hostname)?.[1] ?? USUAL_SIZE))
    const fail = () => {
      if (options.signal?.aborted) throw new SourceFailure('stopped')
      if (isFailureCode(given)) throw new SourceFailure(given, 'this panel was told to fail.')
    }
    const listed = <T>(list: SourceList, records: readonly T[]) =>
      yielding(async () => {
        fail()
        report(options, list, records.length)
        return records
      })
    return {
      address: address.origin,
      warnings: [],
      async account() {
        fail()
        return { name: 'demo@example.com', warnings: ['This panel does not exist.'] }
      },
      panelAddresses: async () => ['192.0.2.10'],
      hypervisors: () => listed('hypervisors', fleet.hypervisors),
      packages: () => listed('packages', fleet.packages),
      ranges: () => listed('ranges', fleet.ranges),
      addresses: ({ id }) => listed('addresses', fleet.addresses.get(id) ?? []),
      owners: () => listed('owners', fleet.owners),
      servers: () => listed('servers', fleet.servers),
      disks: async (serverId) => [{ path: `/var/lib/libvirt/images/${serverId}/0`, sizeGb: 25, isPrimary: true }],
    }
  },
}

const report = ({ onProgress }: SourceOptions, list: SourceList, total: number) =>
  onProgress?.({ list, read: total, total })
