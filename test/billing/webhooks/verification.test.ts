// The programs of docs/webhooks.md verify real deliveries: genuine ones pass, and nothing else does.
import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Webhook } from 'standardwebhooks'
import { closedAtEnd } from '../../support/opened.ts'
import { receiver } from '../../support/services/receiver.ts'
import { world } from '../../support/world/panel.ts'

const document = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')
/** The one program in this language. */
function programIn(language: string): string {
  const found = [...document.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].filter(
    ([, name, text]) => name === language && text!.includes('SIGNATURE'),
  )
  if (found.length !== 1) throw new Error(`docs/webhooks.md has ${found.length} programs in ${language}`)
  return found[0]![2]!
}

type Run = { command: string[] }
const dir = mkdtempSync(`${tmpdir()}/berth-verify-`)
closedAtEnd(() => void Bun.spawnSync(['rm', '-rf', dir]))
const languages: Record<string, { tool: string; file: string; run: (file: string) => string[] }> = {
  bash: { tool: 'openssl', file: 'verify.sh', run: (file) => ['bash', file] },
  php: { tool: 'php', file: 'verify.php', run: (file) => ['php', file] },
  python: { tool: 'python3', file: 'verify.py', run: (file) => ['python3', file] },
  js: { tool: 'node', file: 'verify.cjs', run: (file) => ['node', file] },
  go: { tool: 'go', file: 'verify.go', run: () => [`${dir}/verify-go`] },
}
const runs = new Map<string, Run>()

type Delivered = { body: string; timestamp: string; signature: string; headers: Record<string, string> }
let first: Delivered
let rotated: Delivered
let secret: string
let renewed: string

beforeAll(async () => {
  const at = await receiver()
  const p = await world({ webhooks: at.transport })
  p.setWallClock(Date.now() - p.wallClock())
  const { body } = await p.call(p.customer, 'POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['*'] })
  secret = body.secret
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const delivered = async (): Promise<Delivered> => {
    await p.controller.deliveries.settle()
    const { headers, body } = at.received.at(-1)!
    return { body, timestamp: headers['x-panel-timestamp']!, signature: headers['x-panel-signature']!, headers }
  }
  first = await delivered()
  renewed = (await p.call(p.customer, 'POST', `/webhooks/${body.id}/actions/rotate-secret`)).body.secret
  // A reason with letters of several bytes: the signature is over bytes.
  await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'Überfällig, 請求書 ☂' })
  rotated = await delivered()
  for (const [language, { tool, file, run }] of Object.entries(languages)) {
    if (!Bun.which(tool)) continue
    await Bun.write(`${dir}/${file}`, programIn(language))
    if (language === 'go') {
      const built = Bun.spawnSync(['go', 'build', '-o', `${dir}/verify-go`, `${dir}/${file}`], {
        env: { ...process.env, GOCACHE: `${dir}/cache`, GOFLAGS: '-p=1' },
      })
      if (built.exitCode) throw new Error(built.stderr.toString())
    }
    runs.set(language, { command: run(`${dir}/${file}`) })
  }
  p.close()
}, 180_000)

async function verify(language: string, with_: { secret: string } & Omit<Delivered, 'headers'>): Promise<boolean> {
  const child = Bun.spawn(runs.get(language)!.command, {
    stdin: Buffer.from(with_.body),
    stdout: 'ignore',
    stderr: 'ignore',
    env: { ...process.env, SECRET: with_.secret, TIMESTAMP: with_.timestamp, SIGNATURE: with_.signature },
  })
  const code = await child.exited
  // Another code is a program that does not run at all.
  expect([0, 1]).toContain(code)
  return code === 0
}

for (const [language, { tool }] of Object.entries(languages))
  describe.skipIf(!Bun.which(tool))(language, () => {
    test('takes a genuine delivery, and after a rotation one for either secret', async () => {
      expect(await verify(language, { secret, ...first })).toBe(true)
      expect(await verify(language, { secret, ...rotated })).toBe(true)
      expect(await verify(language, { secret: renewed, ...rotated })).toBe(true)
    }, 60_000)
    test('refuses everything else', async () => {
      const stale = String(Number(first.timestamp) - 301)
      const refused: Record<string, Parameters<typeof verify>[1]> = {
        'another body': { secret, ...first, body: first.body.replace('web01', 'web02') },
        'a body with a space more': { secret, ...first, body: `${first.body} ` },
        'another secret': { secret: renewed, ...first },
        'another timestamp': { secret, ...first, timestamp: String(Number(first.timestamp) + 1) },
        'an old timestamp': { secret, ...first, timestamp: stale },
        'no signature': { secret, ...first, signature: '' },
        'a signature of another kind': { secret, ...first, signature: first.signature.replace('v1=', 'v0=') },
        'half a signature': { secret, ...first, signature: first.signature.slice(0, 40) },
      }
      for (const [what, given] of Object.entries(refused))
        expect([what, await verify(language, given)]).toEqual([what, false])
    }, 60_000)
  })

describe('the standardwebhooks package', () => {
  test('takes a genuine delivery with the secret as it is shown, and after a rotation with either', () => {
    expect(new Webhook(secret).verify(first.body, first.headers)).toEqual(JSON.parse(first.body))
    for (const one of [secret, renewed])
      expect(new Webhook(one).verify(rotated.body, rotated.headers)).toEqual(JSON.parse(rotated.body))
  })
  test('refuses another body and another secret', () => {
    expect(() => new Webhook(secret).verify(`${first.body} `, first.headers)).toThrow()
    expect(() => new Webhook(renewed).verify(first.body, first.headers)).toThrow()
  })
})

test('every program of the document was run', () => {
  if (process.env['BERTH_QUICK']) return
  expect([...runs.keys()].toSorted()).toEqual(Object.keys(languages).toSorted())
})
