// The command of "Renew credential" on a machine that is a node: install.sh enrolls it anew. No machine is set up: the
// function of the script is called, with the agent of this checkout as its program.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createPublicKey, verify } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentPaths, type EnrollRequest, successorText } from '../../agent/protocol/wire.ts'
import { temporary } from '../agent/temporary.ts'
import { checkout, spawn } from './clean-machine.ts'

// Each step starts a shell and an agent.
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
const [state, settings] = [join(dir, 'state'), join(dir, 'settings')]
mkdirSync(settings)
const program = join(dir, 'berth')
const entry = join(checkout, 'test/agent/berth-agent.ts')
writeFileSync(program, `#!/bin/sh\nshift\nexec '${process.execPath}' '${entry}' "$@" --data-dir '${state}' --fake\n`)
chmodSync(program, 0o755)

const tokenOf = (character: string) => `enr_${character.repeat(43)}`
/** Answers how the step ended, and whether the agent is started anew afterwards. */
async function enroll(token: string, url = controller) {
  const set = [
    `mode=agent controller_url='${url}' token='${token}' bridge=berthbr0 settings='${settings}' program='${program}'`,
    "name='' pin='' ca='' listen='' changed='' note=''",
    `agent_state='${state}' used_token='${state}/used-token.sha256' controller_ca='${settings}/controller-ca.crt'`,
    // The script's own needs a log and a terminal.
    'fail() { echo "$*" >&2; exit 1; }',
  ].join('; ')
  const shown = 'echo "NOTE $note"; ! has_changed $used_token || echo ANEW'
  const words = `source <(head -n -1 '${checkout}/install.sh'); ${set}; enroll; ${shown}`
  const { code, out, err } = await spawn(['bash', '-c', words])
  return { code, note: /^NOTE (.*)$/m.exec(out)?.[1] ?? '', isAnew: /^ANEW$/m.test(out), err }
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
