// Files for a machine that joins: install.sh, and the program for its processor.
import { existsSync, statSync } from 'node:fs'
import installer from '../../../install.sh' with { type: 'file' }

const kinds = ['x64', 'aarch64'] as const
const ownKind = process.arch === 'arm64' ? 'aarch64' : 'x64'

export class Programs {
  /** SHA-256 in base64 of a file as it was, by path, size and time of change. */
  private digests = new Map<string, Promise<string>>()

  /** `dir`: where the programs lie (PANEL_AGENT_DIR). */
  constructor(private dir: string) {}

  /** The script of this version. It holds nothing secret, so everybody may fetch it. */
  installer = () => this.response(installer, 'text/x-shellscript; charset=utf-8')

  /** The program for a kind of processor; undefined where there is none for it. */
  async program(kind: string): Promise<Response | undefined> {
    const file = this.fileFor(kind)
    return file === undefined ? undefined : this.response(file, 'application/octet-stream')
  }

  /** `berth-aarch64`, or for this machine's own kind of processor `berth`. */
  private fileFor(kind: string): string | undefined {
    if (!kinds.some((known) => known === kind)) return undefined
    return [`berth-${kind}`, ...(kind === ownKind ? ['berth'] : [])]
      .map((name) => `${this.dir}/${name}`)
      .find((path) => existsSync(path))
  }

  /** Repr-Digest (RFC 9530) lets the machine see that the file arrived whole before it runs it. */
  private async response(path: string, type: string): Promise<Response> {
    const digest = await this.digestOf(path)
    return new Response(Bun.file(path), { headers: { 'Content-Type': type, 'Repr-Digest': `sha-256=:${digest}:` } })
  }

  private digestOf(path: string): Promise<string> {
    const { size, mtimeMs } = statSync(path)
    const key = `${path} ${size} ${mtimeMs}`
    const known = this.digests.get(key)
    if (known) return known
    const digest = hashed(path)
    this.digests.set(key, digest)
    // A failed read is tried again at the next call.
    digest.catch(() => this.digests.delete(key))
    return digest
  }
}

/** In parts, so that other requests are answered between them: the program has over 100 MB. */
async function hashed(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const part of Bun.file(path).stream()) hasher.update(part)
  return hasher.digest('base64')
}
