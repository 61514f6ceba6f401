// The line that enrols a node: a shell runs it, with stand-ins for the programs that it calls.
import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { enrolCommand } from '../../../src/fleet/nodes/enrol-command.ts'

const dir = mkdtempSync(join(tmpdir(), 'berth-enrol-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const bin = join(dir, 'bin')
mkdirSync(bin)
const standIn = (name: string, does: string) => {
  writeFileSync(join(bin, name), `#!/bin/bash\n${does}\n`)
  chmodSync(join(bin, name), 0o755)
}
standIn('curl', `echo "curl $*" >>called; for last; do :; done; echo "$last" >"\${@: -2:1}"; exit "\${CURL_FAILS:-0}"`)
standIn('sudo', 'echo "sudo $* < $(cat)" >>called')

const token = 'enr_secret'
const agent = 'bash berth-install.sh --agent --controller https://panel.example.com'
const config = { publicUrl: 'https://panel.example.com', agentInsecure: false, agentCa: undefined, agentPins: [] }

/** Runs the line in a directory of its own; answers what it called. */
function run(line: string, env: Record<string, string> = {}) {
  const at = mkdtempSync(join(dir, 'run-'))
  const { exitCode } = Bun.spawnSync(['bash', '-c', line], {
    cwd: at,
    env: { PATH: `${bin}:${process.env['PATH']}`, ...env },
  })
  const called = join(at, 'called')
  return { at, exitCode, called: existsSync(called) ? readFileSync(called, 'utf8').trim().split('\n') : [] }
}

describe('the line that enrols a node', () => {
  test('fetches install.sh from the controller and gives it the token by standard input', () => {
    const { exitCode, called } = run(enrolCommand(config, token, { bridge: 'br0' }))
    expect(exitCode).toBe(0)
    expect(called).toEqual([
      'curl -fsS -o berth-install.sh https://panel.example.com/install.sh',
      `sudo ${agent} --token-file - --bridge br0 < enr_secret`,
    ])
  })

  test('names the uplink and its VLANs behind the bridge', () => {
    const network = { bridge: 'br0', uplink: 'bond0', vlans: '20,100-199' }
    expect(run(enrolCommand(config, token, network)).called.at(-1)).toBe(
      `sudo ${agent} --token-file - --bridge br0 --uplink bond0 --vlans 20,100-199 < enr_secret`,
    )
  })

  test('runs nothing as root where the script did not arrive', () => {
    const { exitCode, called } = run(enrolCommand(config, token), { CURL_FAILS: '22' })
    expect(exitCode).toBe(22)
    expect(called).toHaveLength(1)
  })

  test('carries an authority that the node cannot know, and nothing else of that file', () => {
    const file = join(dir, 'authority.pem')
    const certificate = `-----BEGIN CERTIFICATE-----\nMIIB${'A'.repeat(60)}\nAAAA=\n-----END CERTIFICATE-----\n`
    const key = '-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\n'
    writeFileSync(file, `${key}${certificate}${certificate}`)
    const { at, called } = run(enrolCommand({ ...config, agentCa: file }, token))
    expect(called).toEqual([
      'curl -fsS --cacert berth-ca.crt -o berth-install.sh https://panel.example.com/install.sh',
      `sudo ${agent} --ca berth-ca.crt --token-file - < enr_secret`,
    ])
    expect(readFileSync(join(at, 'berth-ca.crt'), 'utf8')).toBe(certificate + certificate)
  })

  test('fetches the script, too, only from a controller with a pinned key', () => {
    const agentPins = [`sha256//${'A'.repeat(43)}=`, `sha256//${'b'.repeat(43)}=`]
    expect(run(enrolCommand({ ...config, agentPins }, token)).called).toEqual([
      `curl -fsS --pinnedpubkey ${agentPins.join(';')} -o berth-install.sh https://panel.example.com/install.sh`,
      `sudo ${agent} --pin ${agentPins.join()} --token-file - < enr_secret`,
    ])
  })

  test('is the same as without an authority while there is none', () => {
    const none = enrolCommand(config, token)
    expect(enrolCommand({ ...config, agentCa: join(dir, 'not-yet') }, token)).toBe(none)
    writeFileSync(join(dir, 'key'), '-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\n')
    expect(enrolCommand({ ...config, agentCa: join(dir, 'key') }, token)).toBe(none)
  })

  test('fetches nothing in the clear, except in a lab that says so', () => {
    const publicUrl = 'http://192.0.2.10:8080'
    expect(run(enrolCommand({ ...config, publicUrl }, token)).called).toEqual([
      `sudo ./install.sh --agent --controller ${publicUrl} --token-file - < enr_secret`,
    ])
    expect(run(enrolCommand({ ...config, publicUrl, agentInsecure: true }, token)).called).toEqual([
      `curl -fsS -o berth-install.sh ${publicUrl}/install.sh`,
      `sudo bash berth-install.sh --agent --controller ${publicUrl} --token-file - --insecure < enr_secret`,
    ])
  })
})
