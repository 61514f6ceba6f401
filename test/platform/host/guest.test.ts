// The seed of a guest's first boot, and the crypt hash of the root password in it.
import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { Server } from '../../../src/compute/server-records/model.ts'
import { networkFor, seedFor } from '../../../src/compute/server-vm/seed.ts'
import { newRootPassword, sha512Crypt } from '../../../src/kernel/crypto/sha512-crypt.ts'
import type { HeldAddress } from '../../../src/network/ip-pools/allocate.ts'
import { toNetwork, toNumber, toText } from '../../../src/network/ip-pools/ranges.ts'

describe('SHA-512 crypt', () => {
  const openssl = async (password: string, salt: string) => {
    const run = Bun.spawn(['openssl', 'passwd', '-6', '-salt', `rounds=1000$${salt}`, '-stdin'], {
      stdin: Buffer.from(`${password}\n`),
      stdout: 'pipe',
    })
    return (await new Response(run.stdout).text()).trim()
  }
  const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const salt = (length: number) => Array.from(randomBytes(length), (b) => alphabet[b & 63]).join('')
  const passwords = [
    'x',
    'Tr0ub4dor&3',
    'pässwörd',
    '密码密码',
    '🚢🚢🚢',
    ' leading and trailing ',
    '$6$x$y',
    "it's",
    '"quoted"',
    ...[15, 16, 17, 31, 32, 33, 63, 64, 65, 71, 72, 73, 127, 128, 129, 200].map((n) => 'aB3$'.repeat(50).slice(0, n)),
    ...Array.from({ length: 40 }, () => randomBytes(1 + Math.floor(Math.random() * 90)).toString('base64url')),
  ]
  test('is what openssl makes of the same password and salt, of every length and script', async () => {
    const salts = passwords.map((_, i) => salt(1 + (i % 16)))
    const theirs = await Promise.all(passwords.map((password, i) => openssl(password, salts[i]!)))
    expect(passwords.map((password, i) => sha512Crypt(password, salts[i]))).toEqual(theirs)
  })
  test('has a salt of its own each time', () => {
    const hashes = Array.from({ length: 5 }, () => sha512Crypt('same'))
    expect(new Set(hashes).size).toBe(5)
    for (const hash of hashes) expect(hash).toMatch(/^\$6\$rounds=1000\$[./0-9A-Za-z]{16}\$[./0-9A-Za-z]{86}$/)
  })
})

test('a root password has 20 characters that nobody mixes up, and is never made twice', () => {
  const made = Array.from({ length: 2000 }, newRootPassword)
  for (const password of made) expect(password).toMatch(/^[a-hjkmnp-zA-HJ-NP-Z2-9]{20}$/)
  expect(new Set(made).size).toBe(2000)
  expect(new Set(made.join('')).size).toBeGreaterThan(50)
})

const web = {
  id: `srv_${'0'.repeat(26)}`,
  hostname: 'web01.example.com',
  mac: '02:00:00:00:00:01',
  networkConfig: 'v1',
} as Server
const held = (version: 4 | 6, address: string, prefixLength: number, gateway: string, resolvers: string[] = []) =>
  ({ version, address, prefixLength, holderId: null, pool: { gateway, resolvers } }) as HeldAddress
const v4 = held(4, '203.0.113.10', 24, '203.0.113.1', ['9.9.9.9'])
const v6 = held(6, '2001:db8:7:1::', 64, 'fe80::1', ['2620:fe::fe', '9.9.9.9'])

describe('the seed', () => {
  test('for a password lets root in by it, as a hash, and says where it is', () =>
    expect(seedFor(web, [v4, v6], { passwordHash: '$6$rounds=1000$s$h', publicKeys: [] }, 'job_1')).toEqual({
      workload: web.id,
      metaData: { 'instance-id': 'job_1', 'local-hostname': 'web01.example.com' },
      userData: {
        hostname: 'web01',
        fqdn: 'web01.example.com',
        manage_etc_hosts: true,
        disable_root: false,
        ssh_pwauth: true,
        users: [{ name: 'root', lock_passwd: false, hashed_passwd: '$6$rounds=1000$s$h' }],
        write_files: [
          {
            path: '/etc/ssh/sshd_config.d/10-berth.conf',
            content: 'PermitRootLogin yes\nPasswordAuthentication yes\n',
            permissions: '0600',
          },
        ],
      },
      networkConfig: {
        version: 1,
        config: [
          {
            type: 'physical',
            name: 'eth0',
            mac_address: '02:00:00:00:00:01',
            'accept-ra': false,
            subnets: [
              {
                type: 'static',
                address: '203.0.113.10/24',
                gateway: '203.0.113.1',
                dns_nameservers: ['9.9.9.9', '2620:fe::fe'],
              },
              { type: 'static', address: '2001:db8:7:1::1/64', gateway: 'fe80::1' },
            ],
          },
        ],
      },
    }))
  test('for keys locks the password and opens nothing else', () => {
    const { userData } = seedFor(
      { ...web, hostname: 'web01' },
      [v4],
      { passwordHash: null, publicKeys: ['ssh-ed25519 AAAA'] },
      'job_1',
    )
    expect(userData).toEqual({
      hostname: 'web01',
      manage_etc_hosts: true,
      disable_root: false,
      ssh_pwauth: false,
      users: [{ name: 'root', lock_passwd: true, ssh_authorized_keys: ['ssh-ed25519 AAAA'] }],
    })
  })
  test('in version 2 has the same network, with on-link where no network of the card has the gateway', () => {
    const outside = held(6, '2001:db8:7:1::', 64, '2001:db8:7::1')
    expect(networkFor({ ...web, networkConfig: 'v2' }, [v4, outside])).toEqual({
      version: 2,
      ethernets: {
        eth0: {
          match: { macaddress: '02:00:00:00:00:01' },
          'set-name': 'eth0',
          dhcp4: false,
          dhcp6: false,
          'accept-ra': false,
          addresses: ['203.0.113.10/24', '2001:db8:7:1::1/64'],
          routes: [
            { to: '0.0.0.0/0', via: '203.0.113.1' },
            { to: '::/0', via: '2001:db8:7::1', 'on-link': true },
          ],
          nameservers: { addresses: ['9.9.9.9'] },
        },
      },
    })
  })
  test('has one default route for each version, from the primary address, and no empty list', () => {
    const first = held(4, '203.0.113.10', 24, '203.0.113.1')
    const second = held(4, '198.51.100.9', 32, '198.51.100.1')
    const cardOf = (networkConfig: 'v1' | 'v2', of: HeldAddress[]) => {
      const network = networkFor({ ...web, networkConfig }, of)
      return network.version === 1 ? network.config[0] : network.ethernets['eth0']
    }
    expect(cardOf('v1', [first, second])).toMatchObject({
      subnets: [
        { type: 'static', address: '203.0.113.10/24', gateway: '203.0.113.1' },
        { type: 'static', address: '198.51.100.9/32' },
      ],
    })
    const both = cardOf('v2', [first, second])
    expect(both).toMatchObject({
      routes: [{ to: '0.0.0.0/0', via: '203.0.113.1' }],
      addresses: ['203.0.113.10/24', '198.51.100.9/32'],
    })
    expect(both).not.toHaveProperty('nameservers')
    expect(cardOf('v2', [second])).toMatchObject({
      routes: [{ to: '0.0.0.0/0', via: '198.51.100.1', 'on-link': true }],
    })
    expect(cardOf('v2', [])).not.toHaveProperty('routes')
    expect(cardOf('v1', [])).toMatchObject({ subnets: [] })
  })
  const addressesIn = (of: HeldAddress[]) => {
    const network = networkFor({ ...web, networkConfig: 'v2' }, of)
    return network.version === 2 && (network.ethernets['eth0'] as { addresses: string[] }).addresses
  }
  test('gives an IPv6 guest the first address of its prefix, and a single address as it is', () => {
    const addressOf = (prefix: string, length: number) => addressesIn([held(6, prefix, length, 'fe80::1')])
    expect(addressOf('2001:db8:7:100::', 56)).toEqual(['2001:db8:7:100::1/56'])
    expect(addressOf('2001:db8:7::5', 128)).toEqual(['2001:db8:7::5/128'])
    expect(addressOf('2001:db8:7::', 128)).toEqual(['2001:db8:7::/128'])
  })
  test('does so for every length a package may have', () => {
    // Once the text was looked at: 2001:db8::5:0/112 does not end in "::", so the guest got the prefix’s own
    // address.
    for (const [prefix, length] of [
      ['2001:db8::5:0', 112],
      ['2001:db8::1:0:0', 96],
      ['2001:db8:7:1:0:0:0:4', 126],
    ] as const) {
      const network = toNetwork(`${prefix}/${length}`)!
      const expected = `${toText(6, toNumber(prefix)!.n + 1n)}/${length}`
      expect(network.bits).toBe(length)
      expect(addressesIn([held(6, prefix, length, 'fe80::1')])).toEqual([expected])
    }
  })
})
