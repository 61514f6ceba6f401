// Sizes come from one formatter: memory and disks in KiB, MiB, GiB and TiB, traffic in GB and TB.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { bytes, exactGb, exactMb, gb, mb, traffic } from '../../src/kernel/words.ts'

/** Amounts in powers of 1000 that are no memory and no disk of a server. */
const decimal: Readonly<Record<string, string>> = {
  'src/kernel/words.ts': 'the formatter',
  'src/kernel/net/exchange.ts': 'the body of an answer',
  'src/kernel/net/request-body.ts': 'the body of a call',
  'src/kernel/api/errors.ts': 'the body of a call',
  'src/kernel/time-zones.ts': 'the country GB',
  'src/billing/webhooks/deliveries.ts': 'the body of an answer',
  'src/catalog/images/inspect.ts': 'a file of 200e9 bytes',
  'agent/drivers/images/download.ts': 'a file of 200e9 bytes',
  'src/platform/settings/branding.ts': 'a picture of 100,000 bytes',
  'views/platform/settings/brand-form.tsx': 'a picture of 100,000 bytes',
  'views/billing/usage/servers.tsx': 'traffic',
  'host/deb.ts': 'a file of 131e6 bytes',
  'src/platform/alerts/kinds.ts': 'traffic',
  'agent/drivers/gpu/health.ts': 'throughput of memory',
  'agent/drivers/gpu/smi-xml.ts': 'the words of nvidia-smi',
}
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '$1')
const UNIT = /(?<![\w-])[kMGT]B\b/

test('every other text leaves units to the formatter', () => {
  const naming = [...new Bun.Glob('{src,views,agent,backup-server,host}/**/*.{ts,tsx}').scanSync('.')].filter((path) =>
    withoutComments(readFileSync(path, 'utf8'))
      .split('\n')
      .some((line) => UNIT.test(line) && !/meminfo|\/proc\//.test(line)),
  )
  expect(naming.filter((path) => !(path in decimal)).toSorted()).toEqual([])
  expect(Object.keys(decimal).filter((path) => !naming.includes(path))).toEqual([])
})

describe('a size', () => {
  test('is exact where it is sold', () =>
    expect([exactMb(2048), exactMb(700), exactGb(40), exactGb(1024), exactGb(2000)]).toEqual([
      '2 GiB',
      '700 MiB',
      '40 GiB',
      '1 TiB',
      '2,000 GiB',
    ]))
  test('is short where it is measured', () =>
    expect([bytes(300), bytes(2048), bytes(3 * 1024 ** 2), mb(1536), gb(250.4), gb(3072)]).toEqual([
      '300 B',
      '2 KiB',
      '3 MiB',
      '1.5 GiB',
      '250 GiB',
      '3 TiB',
    ]))
  test('of traffic counts in thousands', () => expect([traffic(500), traffic(20_000)]).toEqual(['500 GB', '20 TB']))
})
