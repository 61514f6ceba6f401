import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { environment } from '../../src/app/commands/data-dir.ts'
import { configFrom, settings } from '../../src/app/config.ts'
import { SettingError } from '../../src/kernel/command-line/startup-errors.ts'
import { golden } from '../support/golden.ts'

const complaint = (env: Record<string, string>) => {
  try {
    configFrom(env)
  } catch (error) {
    expect(error).toBeInstanceOf(SettingError)
    return (error as Error).message
  }
  return 'none'
}

describe('a setting that there is not', () => {
  for (const [wrong, right] of [
    ['PANEL_PUBLIC_ULR', 'PANEL_PUBLIC_URL'],
    ['PANEL_DATADIR', 'PANEL_DATA_DIR'],
    ['PANEL_TRUSTED_PROXY', 'PANEL_TRUSTED_PROXIES'],
    ['PANEL_TLS_CRT', 'PANEL_TLS_CERT'],
    ['PANEL_LOG_REQUEST', 'PANEL_LOG_REQUESTS'],
    ['PANEL_LISTENS', 'PANEL_LISTEN'],
    ['PANEL_AGENT_INSECUR', 'PANEL_AGENT_INSECURE'],
    ['PANEL_listen', 'PANEL_LISTEN'],
  ] as const)
    test(`${wrong} is refused and ${right} named`, () =>
      expect(complaint({ [wrong]: '1' })).toBe(`There is no setting ${wrong}. Did you mean ${right}?`))

  test('is refused also when it is empty, and when it is named like something of JavaScript', () => {
    expect(complaint({ PANEL_X: '' })).toContain('There is no setting PANEL_X')
    expect(complaint({ PANEL_constructor: '1' })).toContain('There is no setting PANEL_constructor')
  })
  test('of other programs is none of our business', () =>
    expect(complaint({ PATH: '/bin', BERTH_X: '1', MY_PANEL_X: '1' })).toBe('none'))
  test('every one-letter mistake in every setting is refused and its setting named', () => {
    for (const name of Object.keys(settings)) {
      const short = name.slice(0, -2) + name.at(-1)
      expect(complaint({ [short]: '1' })).toContain(`Did you mean ${name}?`)
    }
  })
})

test('docs/install.md has every setting with its words: GOLDEN=write writes them', () => {
  const file = new URL('../../docs/install.md', import.meta.url).pathname
  const table = [
    '| setting | what it is |',
    '| --- | --- |',
    ...Object.entries(settings).map(([name, words]) => `| \`${name}\` | ${words} |`),
  ].join('\n')
  const written = readFileSync(file, 'utf8').replace(
    /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/,
    (_, start, end) => `${start}${table}\n${end}`,
  )
  golden('docs/install.md', written)
  expect(written).toContain(table)
})

describe('the value of a setting', () => {
  const bad: Record<string, [string, string[]]> = {
    PANEL_LISTEN: [
      'PANEL_LISTEN must be address:port',
      [
        '8080',
        'localhost',
        '127.0.0.1:',
        ':8080',
        '127.0.0.1:65536',
        '127.0.0.1:99999',
        '::1:8080',
        '127.0.0.1:80a',
        'a:b:80',
        '[::1]',
        '[x]:80',
      ],
    ],
    PANEL_PUBLIC_URL: [
      'PANEL_PUBLIC_URL must be the address in the browser',
      [
        'panel.example.com',
        'ftp://panel.example.com',
        'https://panel.example.com/berth',
        'https://panel.example.com/?a',
        'https://panel.example.com/#a',
        'https://ada@panel.example.com',
        'https://',
        'javascript:alert(1)',
      ],
    ],
    PANEL_TRUSTED_PROXIES: [
      'PANEL_TRUSTED_PROXIES: ',
      ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/8,x', 'proxy.example.com', '::/129', '10.0.0.0/-1'],
    ],
    PANEL_WEBHOOK_ALLOW_PRIVATE: ['PANEL_WEBHOOK_ALLOW_PRIVATE: ', ['10.0.0.0', 'all']],
    PANEL_LOCAL_SOURCES: ['PANEL_LOCAL_SOURCES: ', ['127.0.0.1', 'mirror.lan']],
    PANEL_LOCAL_SERVICES: ['PANEL_LOCAL_SERVICES: ', ['127.0.0.1', 'localhost']],
    PANEL_AGENT_PINS: [
      'PANEL_AGENT_PINS',
      ['sha256/abc', `sha256//${'A'.repeat(43)}`, `sha256//${'A'.repeat(43)}=;x`, `sha256//${'A'.repeat(43)}=`],
    ],
    PANEL_AGENT_INSECURE: ['PANEL_AGENT_INSECURE is 1 or 0.', ['yes', 'true', '2', ' 1']],
    PANEL_LOG_REQUESTS: ['PANEL_LOG_REQUESTS is 1 or 0.', ['on', '-1']],
    PANEL_TLS_CERT: ['PANEL_TLS_CERT and PANEL_TLS_KEY go together', ['/cert.pem']],
    PANEL_TLS_KEY: ['PANEL_TLS_CERT and PANEL_TLS_KEY go together', ['/key.pem']],
  }
  for (const [name, [words, values]] of Object.entries(bad))
    for (const value of values)
      test(`${name}=${value} is refused by its name`, () => expect(complaint({ [name]: value })).toStartWith(words))

  test('that is empty is as if it were not set', () => {
    const empty = Object.fromEntries(Object.keys(settings).map((name) => [name, '']))
    expect(configFrom(empty)).toEqual(configFrom({}))
  })
  test('is a whole installation when nothing is set', () =>
    expect(configFrom({})).toMatchObject({
      publicUrl: 'http://127.0.0.1:8080',
      origin: 'http://127.0.0.1:8080',
      listen: { hostname: '127.0.0.1', port: 8080 },
      dataDir: '/var/lib/berth',
      keyFile: '/var/lib/berth/secret.key',
      trustedProxies: [],
      tls: undefined,
      agentInsecure: false,
      agentCa: undefined,
      agentDir: dirname(process.execPath),
      logRequests: false,
      webhookAllowPrivate: [],
      webhookCaFile: undefined,
      localServices: [],
    }))
  test('says where to listen, IPv6 too, and with TLS the public address follows', () => {
    expect(configFrom({ PANEL_LISTEN: '[::]:8443', PANEL_TLS_CERT: 'c', PANEL_TLS_KEY: 'k' })).toMatchObject({
      listen: { hostname: '::', port: 8443 },
      publicUrl: 'https://[::]:8443',
      tls: { cert: 'c', key: 'k' },
    })
  })
  test('of the public address is its origin, as browsers say it', () => {
    expect(configFrom({ PANEL_PUBLIC_URL: 'https://Panel.Example.com:443/' }).origin).toBe('https://panel.example.com')
    expect(configFrom({ PANEL_PUBLIC_URL: 'https://panel.example.com:8443' }).origin).toBe(
      'https://panel.example.com:8443',
    )
  })
  test('of a list may have spaces', () =>
    expect(configFrom({ PANEL_TRUSTED_PROXIES: ' 10.0.0.0/8, ::1/128 ,' }).trustedProxies).toEqual([
      '10.0.0.0/8',
      '::1/128',
    ]))
  test('of the key file follows the data directory', () => {
    expect(configFrom({ PANEL_DATA_DIR: '/data' }).keyFile).toBe('/data/secret.key')
    expect(configFrom({ PANEL_DATA_DIR: '/data', PANEL_KEY_FILE: '/run/key' }).keyFile).toBe('/run/key')
  })
  test('never ends in another error than the one that names it', () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(settings)),
        fc.string(),
        (name, value) => void complaint({ [name]: value }),
      ),
    ))
})

describe('a command on the host of an installed controller', () => {
  const dir = mkdtempSync(`${tmpdir()}/berth-settings-`)
  const [written, own] = [`${dir}/controller.env`, `${dir}/controller.local.env`]
  writeFileSync(
    written,
    '# Written by ' +
      'install.sh.\nPANEL_PUBLIC_URL="https://panel.example.com"\nPANEL_LISTEN="0.0.0.0:8080"\n' +
      'PANEL_DATA_DIR="/srv/berth"\nPATH="/evil"\n',
  )
  writeFileSync(
    own,
    "PANEL_LISTEN=127.0.0.1:8080  \n#PANEL_KEY_FILE=/no\n\tPANEL_TRUSTED_PROXIES='127.0.0.1/32,::1/128'\n",
  )
  afterAll(() => rmSync(dir, { recursive: true }))

  test('has the settings that the service has, the operator’s own before what was written', () =>
    expect(environment({ HOME: '/root' }, [written, own])).toEqual({
      PANEL_PUBLIC_URL: 'https://panel.example.com',
      PANEL_LISTEN: '127.0.0.1:8080',
      PANEL_DATA_DIR: '/srv/berth',
      PANEL_TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
      HOME: '/root',
    }))
  test('has what its own environment says before both', () =>
    expect(environment({ PANEL_LISTEN: '[::1]:9' }, [written, own])['PANEL_LISTEN']).toBe('[::1]:9'))
  test('has nothing of it where another data directory is named', () =>
    expect(environment({ PANEL_DATA_DIR: '/elsewhere' }, [written, own])).toEqual({ PANEL_DATA_DIR: '/elsewhere' }))
  test('has its own environment alone where nothing is installed', () =>
    expect(environment({ A: 'b' }, [`${dir}/absent.env`, `${written}/absent.env`])).toEqual({ A: 'b' }))
  test('says which file of settings cannot be read', () =>
    expect(() => environment({}, [written, dir])).toThrow(
      `${dir} cannot be read (EISDIR). Run this as root: sudo berth`,
    ))
  test('is refused what the service would be refused', () => {
    writeFileSync(own, 'PANEL_LISTENS="x"\n')
    expect(complaint(environment({}, [written, own]) as Record<string, string>)).toContain(
      'There is no setting PANEL_LISTENS',
    )
  })
})
