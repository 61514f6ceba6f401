// A node that was told the key of its controller's certificate speaks to no host with another key, whatever authority
// vouches for that host.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pinOf, pinsFrom } from '../../../agent/protocol/pin.ts'
import { agentPaths } from '../../../agent/protocol/wire.ts'
import { selfSigned } from '../../support/services/certificate.ts'
import { controller } from '../controller.ts'
import { agentProcess, berthAgent, dataDir } from '../run.ts'

type Certificate = Awaited<ReturnType<typeof selfSigned>>
let ours: Certificate
let next: Certificate
let others: Certificate
/** All three are trusted: the agent's host believes the authority of each. */
let env: Record<string, string>
const keyOf = ({ pem }: Certificate) => pinOf(new X509Certificate(pem))

const running: { stop(): Promise<unknown> }[] = []
beforeAll(async () => {
  const dir = dataDir()
  ;[ours, next, others] = await Promise.all([
    selfSigned(dir, 'ours'),
    selfSigned(dir, 'next'),
    selfSigned(dir, 'others'),
  ])
  const authorities = join(dir, 'authorities.pem')
  writeFileSync(authorities, [ours, next, others].map(({ pem }) => pem).join(''))
  env = { NODE_EXTRA_CA_CERTS: authorities }
})
afterAll(() => Promise.all(running.map((one) => one.stop())))

const enroll = (url: string, dir: string, ...flags: string[]) =>
  berthAgent(['enroll', '--controller', url, '--token-file', '-', '--data-dir', dir, '--fake', ...flags], env, 'good')
const settingsIn = (dir: string) => JSON.parse(readFileSync(join(dir, 'agent.json'), 'utf8'))
function start(dir: string) {
  const agent = agentProcess(dir, env)
  running.push(agent)
  return agent
}
async function until(holds: () => boolean) {
  for (const end = performance.now() + 8000; !holds(); await Bun.sleep(20))
    if (performance.now() > end) throw new Error('it did not come so far')
}

test('S36: a token is not sent to a host with another key, though its authority is trusted', async () => {
  const stranger = controller({ tls: others })
  const { code, err } = await enroll(stranger.url, dataDir(), '--pin', keyOf(ours))
  expect([code, err]).toEqual([
    1,
    `controller_key_changed: the certificate of 127.0.0.1 has the key ${keyOf(others)}, and this node accepts others ` +
      'only; if the operator changed it, enroll again with a new token\n',
  ])
  expect(stranger.requests).toEqual([])
  stranger.close()
})

test('S36: a node joins by one of its pins, and later speaks to no other host', async () => {
  const dir = dataDir()
  const real = controller({ tls: ours })
  const { code, err } = await enroll(real.url, dir, '--pin', `${keyOf(next)},${keyOf(ours)}`)
  expect([code, err]).toEqual([0, ''])
  expect(settingsIn(dir).pins).toEqual([keyOf(next), keyOf(ours)])
  const agent = start(dir)
  await real.waitConnected()
  const { publicKey } = real.enrolled()!
  const { port } = real
  real.close()
  // Another host at the same address, which knows all that the controller knows.
  const stranger = controller({ tls: others, port })
  stranger.knows(publicKey)
  await Bun.sleep(2500)
  expect([stranger.requests, stranger.connected()]).toEqual([[], false])
  stranger.close()
  // The operator changed the certificate to the key that was named before.
  const renewed = controller({ tls: next, port })
  renewed.knows(publicKey)
  await renewed.waitConnected(20_000)
  await agent.stop()
  renewed.close()
}, 60_000)

test('S36: each connection is checked: that of the socket too, when a challenge went to the right host', async () => {
  const dir = dataDir()
  const [real, stranger] = [controller({ tls: ours }), controller({ tls: others })]
  let toReal = Number.POSITIVE_INFINITY
  let connections = 0
  // Somebody on the way, who sees connections and hands each on to whom they like.
  const between = createServer((from) => {
    connections++
    const to = connect(toReal-- > 0 ? real.port : stranger.port, '127.0.0.1')
    for (const socket of [from, to]) socket.on('error', () => {})
    from.pipe(to).pipe(from)
  })
  await new Promise<void>((listening) => between.listen(0, '127.0.0.1', listening))
  const { port } = between.address() as AddressInfo
  await enroll(`https://127.0.0.1:${port}`, dir, '--pin', keyOf(ours))
  stranger.knows(real.enrolled()!.publicKey)
  ;[toReal, connections] = [1, 0]
  const agent = start(dir)
  await until(() => connections > 1)
  await Bun.sleep(500)
  expect(real.requests).toContain(agentPaths.challenge)
  expect([stranger.requests, stranger.connected()]).toEqual([[], false])
  await agent.stop()
  for (const one of [real, stranger]) one.close()
  between.close()
}, 60_000)

test('S36: the controller names its next keys, and a list that lacks its present one is not taken', async () => {
  const dir = dataDir()
  const real = controller({ tls: ours })
  await enroll(real.url, dir)
  expect(settingsIn(dir).pins).toBeUndefined()
  real.welcomeWithPins([keyOf(ours), keyOf(next)])
  const agent = start(dir)
  await until(() => settingsIn(dir).pins !== undefined)
  expect(settingsIn(dir).pins).toEqual([keyOf(ours), keyOf(next)])
  real.welcomeWithPins([keyOf(others)])
  const before = real.requests.length
  real.dropConnection()
  await until(() => real.requests.slice(before).includes(agentPaths.connect))
  await real.frame('heartbeat')
  expect(settingsIn(dir).pins).toEqual([keyOf(ours), keyOf(next)])
  await agent.stop()
  real.close()
}, 60_000)

test('S36: a pin is the SHA-256 of a key as curl writes it, and nothing else', () => {
  const pin = keyOf(ours)
  expect(pinsFrom(`${pin}, ${pin}`)).toEqual([pin, pin])
  expect(pinsFrom('')).toEqual([])
  for (const wrong of [
    'sha256/abc',
    pin.slice(0, -1),
    `${pin}x`,
    `${pin};${pin}`,
    `${pin}\n${pin}`,
    Array(11).fill(pin).join(),
  ])
    expect([wrong, pinsFrom(wrong)]).toEqual([wrong, undefined])
})
