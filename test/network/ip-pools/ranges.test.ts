import { describe, expect, test } from 'bun:test'
import { isIP } from 'node:net'
import fc from 'fast-check'
import { overlap, toNetwork, toNumber, toText } from '../../../src/network/ip-pools/ranges.ts'

const canonical = (address: string) => toText(toNumber(address)!.version, toNumber(address)!.n)

describe('an address as a number', () => {
  test('is the same address again in its one canonical form, IPv4', () =>
    fc.assert(fc.property(fc.ipV4(), (text) => expect(canonical(text)).toBe(text.split('.').map(Number).join('.')))))

  test('is the same address again in its one canonical form, IPv6, however it was written', () =>
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const shown = canonical(text)
        expect(isIP(shown)).toBe(6)
        expect(toNumber(shown)!.n).toBe(toNumber(text)!.n)
        expect(canonical(shown)).toBe(shown)
        expect(canonical(text.toUpperCase())).toBe(shown)
        expect(shown).toMatch(/^[0-9a-f:.]+$/)
        expect(shown).not.toMatch(/(^|:)0[0-9a-f]/)
      }),
    ))
  test('is every number there is', () =>
    fc.assert(
      fc.property(fc.bigInt(0n, (1n << 128n) - 1n), fc.bigInt(0n, (1n << 32n) - 1n), (six, four) => {
        expect(toNumber(toText(6, six))).toEqual({ version: 6, n: six })
        expect(toNumber(toText(4, four))).toEqual({ version: 4, n: four })
      }),
    ))
  for (const [text, shown] of [
    ['2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['::', '::'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['fe80::00a:0', 'fe80::a:0'],
    ['2001:db8:0:0:0:5:0:0', '2001:db8::5:0:0'],
  ] as const)
    test(`${text} is ${shown}`, () => expect(canonical(text)).toBe(shown))

  test('is none for forms that two readers read differently', () => {
    for (const odd of [
      '127.1',
      '10.1',
      '0x7f.1',
      '0x7f.0.0.1',
      '2130706433',
      '0177.0.0.1',
      '010.0.0.1',
      '127.0.0.01',
      '1.2.3',
      '1.2.3.4.5',
      '1.2.3.256',
      '1.2.3.-1',
      '1.2.3.4 ',
      ' 1.2.3.4',
      '1.2.3.4\n',
      '1.2.3.4/32',
      '١.٢.٣.٤',
      '',
      'x',
      'fe80::1%eth0',
      '::1%',
      '1::2::3',
      ':::',
      '2001:db8',
      '2001:db8::12345',
      '[::1]',
      '::ffff:1.2.3',
      '::1.2.3.256',
      'localhost',
    ])
      expect([odd, toNumber(odd)]).toEqual([odd, undefined])
  })
})

describe('a network', () => {
  test('is its first and last address', () => {
    expect(toNetwork('203.0.113.64/26')).toEqual({
      version: 4,
      first: toNumber('203.0.113.64')!.n,
      last: toNumber('203.0.113.127')!.n,
      bits: 26,
    })
    expect(toNetwork('2001:db8::/32')).toEqual({
      version: 6,
      first: toNumber('2001:db8::')!.n,
      last: toNumber('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff')!.n,
      bits: 32,
    })
    expect(toNetwork('0.0.0.0/0')).toMatchObject({ first: 0n, last: (1n << 32n) - 1n })
    expect(toNetwork('203.0.113.7/32')).toMatchObject({
      first: toNumber('203.0.113.7')!.n,
      last: toNumber('203.0.113.7')!.n,
    })
  })
  test('has no host bits: of all addresses in it only the first names it', () =>
    fc.assert(
      fc.property(
        fc.constantFrom(4, 6),
        fc.bigInt(0n, (1n << 128n) - 1n),
        fc.integer({ min: 0, max: 128 }),
        (version, number, wide) => {
          const width = version === 4 ? 32 : 128
          const bits = wide % (width + 1)
          const n = number & ((1n << BigInt(width)) - 1n)
          const network = toNetwork(`${toText(version as 4 | 6, n)}/${bits}`)
          const host = n & ((1n << BigInt(width - bits)) - 1n)
          expect(network !== undefined).toBe(host === 0n)
          if (network) expect(network.last - network.first + 1n).toBe(1n << BigInt(width - bits))
        },
      ),
    ))
  test('is none in any other form', () => {
    for (const odd of [
      '203.0.113.0',
      '203.0.113.0/',
      '/24',
      '203.0.113.0/33',
      '203.0.113.0/-1',
      '203.0.113.0/24/24',
      '203.0.113.0/24 ',
      '203.0.113.0/ 24',
      '203.0.113.0/1e1',
      '203.0.113.0/0x18',
      '203.0.113.1/24',
      '203.0.113/24',
      '2001:db8::/129',
      '2001:db8::1/64',
      'fe80::%eth0/64',
      '203.0.113.0/255.255.255.0',
      '',
      '/',
    ])
      expect([odd, toNetwork(odd)]).toEqual([odd, undefined])
  })
  test('overlaps with those that share an address, both ways round, and never with the other version', () => {
    const [a, b, c, six] = [
      toNetwork('10.0.0.0/24')!,
      toNetwork('10.0.0.128/25')!,
      toNetwork('10.0.1.0/24')!,
      toNetwork('::/0')!,
    ]
    expect([overlap(a, b), overlap(b, a), overlap(a, a), overlap(a, c), overlap(c, a), overlap(a, six)]).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })
})
