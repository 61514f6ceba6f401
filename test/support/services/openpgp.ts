// GnuPG in a home of its own, for keys and signatures that a test makes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** gpg makes them and gpgv verifies them; Debian has both as packages. */
export const hasGpg = Bun.which('gpg') !== null && Bun.which('gpgv') !== null
if (!hasGpg) console.error('left out: signatures of OpenPGP (needs gpg and gpgv)')

/** Before every signature of a test. */
export const BORN = '20200101T000000'

export type TestKey = { fingerprint: string; armored: string }
type Signing = {
  by: TestKey | readonly TestKey[]
  kind?: '--detach-sign' | '--clear-sign' | '--sign'
  armored?: boolean
  /** When it is made, such as 20260101T000000. */
  at?: string
  options?: readonly string[]
}

export function gpgHome() {
  const home = mkdtempSync(`${tmpdir()}/berth-gpg-`)
  const gpg = (args: readonly string[]) => {
    const ran = Bun.spawnSync(['gpg', '--homedir', home, '--batch', '--yes', '--quiet', ...args], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    if (ran.exitCode !== 0) throw new Error(`gpg ${args.join(' ')}: ${ran.stderr.toString()}`)
    return ran.stdout
  }
  const at = (time?: string) => (time ? ['--faked-system-time', `${time}!`] : [])
  const armoredOf = (fingerprint: string) => gpg(['--armor', '--export', fingerprint]).toString()
  let made = 0
  return {
    /** A key for signing, as old as `BORN`; `expires` as gpg takes it, such as 1d. */
    key({ expires = 'never' }: { expires?: string } = {}): TestKey {
      const name = `Key ${++made} <key${made}@example.com>`
      gpg([...at(BORN), '--passphrase', '', '--quick-generate-key', name, 'ed25519', 'sign', expires])
      const listed = gpg(['--with-colons', '--list-keys', `=${name}`]).toString()
      const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)![1]!
      return { fingerprint, armored: armoredOf(fingerprint) }
    },
    sign(file: Uint8Array | string, { by, kind = '--detach-sign', armored, at: time, options = [] }: Signing): Buffer {
      writeFileSync(`${home}/file`, file)
      const keys = [by].flat().flatMap(({ fingerprint }) => ['--local-user', fingerprint])
      const how = [...at(time), ...(armored ? ['--armor'] : []), ...options]
      gpg([...how, ...keys, '--output', `${home}/signed`, kind, `${home}/file`])
      return readFileSync(`${home}/signed`)
    },
    /** The key as its owner has revoked it. */
    revoked({ fingerprint }: TestKey): TestKey {
      const certificate = readFileSync(`${home}/openpgp-revocs.d/${fingerprint}.rev`, 'utf8')
      writeFileSync(`${home}/revocation`, certificate.replace(/^:-----BEGIN/m, '-----BEGIN'))
      gpg(['--import', `${home}/revocation`])
      return { fingerprint, armored: armoredOf(fingerprint) }
    },
    remove() {
      Bun.spawnSync(['gpgconf', '--homedir', home, '--kill', 'all'])
      rmSync(home, { recursive: true, force: true })
    },
  }
}
