// The step "Enrolment" of an installation, also as "Renew credential" in the panel asks for it. No machine is set
// up: the agent of this checkout is the program.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createPublicKey, verify } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentPaths, type EnrollRequest, successorText } from '../../agent/protocol/wire.ts'
import { temporary } from '../agent/temporary.ts'
import { type Enrolled, pathsIn } from './enrolling.ts'

// Each step starts an agent.
setDefaultTimeout(60_000)

const got: EnrollRequest[] = []
/** A controller that takes each token once, and the place of a node only with the consent of its key. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (new URL(request.url).pathname !== agentPaths.enroll) return new Response(null, { status: 404 })
    const asked = (await request.json()) as EnrollRequest
    const refuse = (code: string) => Response.json({ error: { code, message: 'No.', details: {} } }, { status: 409 })
    if (got.some(({ token }) => token === asked.token)) return refuse('enrollment_not_valid')
    const before = got.at(-1)
    if (before && !isConsent(before.publicKey, asked)) return refuse('node_connected')
    got.push(asked)
    return Response.json({ nodeId: 'nod_1', name: 'n1' })
  },
})
afterAll(() => server.stop(true))
const controller = `http://127.0.0.1:${server.port}`

function isConsent(key: string, { token, publicKey, consent = '' }: EnrollRequest): boolean {
  const present = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' })
  return verify(null, Buffer.from(successorText(token, publicKey)), present, Buffer.from(consent, 'base64url'))
}

const dir = temporary('renewal')
const paths = pathsIn(dir)
const { agentState: state, settings } = paths
mkdirSync(settings)
const entry = join(import.meta.dir, '../agent/berth-agent.ts')
/** The agent of this checkout; it notes its command line, which everybody can read. */
writeFileSync(
  paths.program,
  `#!/bin/sh\necho "$@" >>'${dir}/command-lines'\nshift\n` +
    `exec '${process.execPath}' '${entry}' "$@" --data-dir '${state}' --fake\n`,
)
chmodSync(paths.program, 0o755)

const tokenOf = (character: string) => `enr_${character.repeat(43)}`
async function enroll(token: string, url = controller, uplink: readonly string[] = []): Promise<Enrolled> {
  const command = [process.execPath, join(import.meta.dir, 'enrolling.ts'), dir, url, token, ...uplink]
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  return JSON.parse(await new Response(child.stdout).text())
}
const key = () => readFileSync(join(state, 'node.key'), 'utf8')

test('a machine that is a node gets a new credential with a new token of its controller, once', async () => {
  expect(await enroll(tokenOf('a'))).toEqual({ code: 0, note: controller, isAnew: true, err: '' })
  const first = key()
  writeFileSync(join(state, 'kept'), '')
  // The line that enrolled it, run again.
  const again = await enroll(tokenOf('a'))
  expect([again.code, again.isAnew, key()]).toEqual([0, false, first])

  const renewed = await enroll(tokenOf('b'))
  expect(renewed).toMatchObject({ code: 0, isAnew: true, err: '' })
  expect(renewed.note).toBe(`node n1, nod_1, of ${controller}, with a new credential`)
  expect(key()).not.toBe(first)
  expect([got.length, existsSync(join(state, 'kept'))]).toEqual([2, true])
  const second = key()
  expect(await enroll(tokenOf('b'))).toMatchObject({ code: 0, isAnew: false })
  expect(key()).toBe(second)
})

test('a token that the controller refuses changes nothing, and fails unless it made this node', async () => {
  const before = key()
  const refused = await enroll(tokenOf('a'))
  expect([refused.code, key()]).toEqual([1, before])
  expect(refused.err).toContain('The controller refused: No.')
  // A node of an earlier version does not know which token it has used.
  rmSync(join(state, 'used-token.sha256'))
  const old = await enroll(tokenOf('a'))
  expect([old.code, key()]).toEqual([0, before])
  expect(old.note).toEndWith('as before: the token was used already')
})

test('a token of another controller is refused', async () => {
  const { code, err } = await enroll(tokenOf('c'), 'https://other.example.com')
  expect([code, got.length]).toEqual([1, 2])
  expect(err).toContain(`This machine is a node of ${controller} already`)
})

test('the uplink and its VLANs are kept over runs without them, and changed by one with others', async () => {
  const kept = () => {
    const { uplink, vlans } = JSON.parse(readFileSync(join(state, 'agent.json'), 'utf8'))
    return [uplink, vlans]
  }
  expect(kept()).toEqual([undefined, undefined])
  // A node that it is already: its key stays.
  const before = key()
  expect(await enroll('', controller, ['bond0', '20,30-39'])).toMatchObject({ code: 0, err: '' })
  expect([kept(), key()]).toEqual([['bond0', '20,30-39'], before])
  expect(await enroll('')).toMatchObject({ code: 0 })
  expect(kept()).toEqual(['bond0', '20,30-39'])
  // With a new credential.
  expect(await enroll(tokenOf('u'))).toMatchObject({ code: 0 })
  expect(kept()).toEqual(['bond0', '20,30-39'])
  expect(await enroll(tokenOf('v'), controller, ['bond1', 'all'])).toMatchObject({ code: 0 })
  expect(kept()).toEqual(['bond1', 'all'])
})

test('no token stands on a command line', () => {
  const lines = readFileSync(join(dir, 'command-lines'), 'utf8')
  expect(lines).toContain('agent enroll --controller')
  expect(lines).not.toContain('enr_')
})

test('the node of an all-in-one machine gets a new credential by the public address of its panel', async () => {
  const publicUrl = 'https://panel.example.com'
  const listen = new URL(controller).host
  writeFileSync(
    join(settings, 'controller.env'),
    `PANEL_PUBLIC_URL="${publicUrl}"\nPANEL_LISTEN="${listen}"\nPANEL_DATA_DIR="/var/lib/berth"\n`,
  )
  const before = key()
  const renewed = await enroll(tokenOf('d'), publicUrl)
  expect(renewed).toMatchObject({ code: 0, isAnew: true, err: '' })
  expect(renewed.note).toBe(`node n1, nod_1, of ${controller}, with a new credential`)
  expect(key()).not.toBe(before)
  // It goes on over the address that it had, and guests reach the panel as before.
  expect(JSON.parse(readFileSync(join(state, 'agent.json'), 'utf8')).controller).toBe(controller)
  expect(readFileSync(join(settings, 'agent.env'), 'utf8')).toContain(`PANEL_AGENT_HOST_PORTS="80,443,${server.port}"`)
  // The line without a token changes nothing.
  expect(await enroll('', publicUrl)).toMatchObject({
    code: 0,
    isAnew: false,
    note: `node n1, nod_1, of ${controller}`,
  })
  // Another controller is another one here, too.
  expect((await enroll(tokenOf('e'), 'https://other.example.com')).code).toBe(1)
})
