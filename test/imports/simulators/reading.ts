// Reads a simulated panel as an import does.
import { isSourceFailure, type SourceFailure } from '../../../src/imports/sources/failure.ts'
import { solusvm2 } from '../../../src/imports/sources/solusvm2/source.ts'
import type { SourceHypervisor, SourceOptions, SourceReader } from '../../../src/imports/sources/source.ts'
import { virtualizor } from '../../../src/imports/sources/virtualizor/source.ts'
import type { Panel } from './panel.ts'
import { TOKEN } from './solusvm2.ts'
import { KEY, PASS } from './virtualizor.ts'

const names: Readonly<Record<string, string>> = { 'panel.test': '192.0.2.10', 'kvm-2.panel.test': '192.0.2.12' }
export const lookUp = async (host: string) => {
  const address = names[host]
  if (!address) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  return [{ address }]
}
const inProcess = (panel: Panel): SourceOptions => ({ send: panel.send, lookUp, retryPausesMs: [0, 0] })

export const solusReader = (panel: Panel, options: SourceOptions = {}): SourceReader =>
  solusvm2.connect(
    'https://panel.test',
    { token: TOKEN },
    { certificateSha256: null },
    { ...inProcess(panel), ...options },
  )

export const virtualizorReader = (panel: Panel, options: SourceOptions = {}): SourceReader =>
  virtualizor.connect(
    'https://panel.test:4085',
    { key: KEY, pass: PASS },
    { certificateSha256: null },
    { ...inProcess(panel), ...options },
  )

export const all = <T>(iterable: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(iterable)

/** Everything that a discovery reads, in its order. */
export async function everything(reader: SourceReader) {
  const account = await reader.account()
  const hypervisors = await all<SourceHypervisor>(reader.hypervisors())
  const packages = await all(reader.packages())
  const ranges = await all(reader.ranges())
  const addresses = []
  for (const range of ranges) addresses.push(...(await all(reader.addresses(range))))
  const owners = await all(reader.owners())
  const servers = await all(reader.servers(hypervisors))
  return { account, hypervisors, packages, ranges, addresses, owners, servers, warnings: [...reader.warnings] }
}

/** The failure that a reading ends with. Another error, and a reading that does not fail, are faults. */
export async function failureOf(reading: () => unknown): Promise<SourceFailure> {
  try {
    await reading()
  } catch (error) {
    if (isSourceFailure(error)) return error
    throw error
  }
  throw new Error('the reading did not fail')
}
